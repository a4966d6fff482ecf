// What `baton init` leaves behind can be used as it is: by editors, by `check`, and as a registry of pinned prompts.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import { baton, json, project, put, read } from './baton.ts';

type Lock = { readonly prompts: Readonly<Record<string, { readonly hash: string; readonly version: string }>> };

async function initialised(): Promise<string> {
  const dir = project();
  expect((await baton(dir, ['init'])).code).toBe(0);
  return dir;
}

test('the configuration names a schema that is there and that it fits, and has no issue at all', async () => {
  const dir = await initialised();
  const config = JSON.parse(read(dir, '.baton/config.json'));
  expect(Object.keys(config)[0]).toBe('$schema');
  const schema = JSON.parse(read(join(dir, '.baton'), config.$schema));
  expect(new Ajv2020({ strict: false }).validate(schema, config)).toBe(true);
  expect((await baton(dir, ['check', '--strict'])).stdout).toMatch(/^ok: no issues/);
});

const agent = (lock: Lock, id: string): JsonObject => {
  const { hash = '', version = '' } = lock.prompts[id] ?? {};
  return { agent_type: 'domain', agent_id: id, agent_version: version, prompt_hash: hash };
};

/** A handoff from one agent of the scaffold to another, as the lock has them. */
function handoff(dir: string, source: string, target: string): JsonObject {
  const lock: Lock = JSON.parse(read(dir, '.baton/versions/prompt-lock.json'));
  return {
    handoff_id: '550e8400-e29b-41d4-a716-446655440000',
    timestamp: `${new Date(Date.now() - 5_000).toISOString().slice(0, 19)}Z`,
    protocol_version: '1.0.0',
    source_agent: agent(lock, source),
    target_agent: agent(lock, target),
    context: {
      request: {
        type: 'analysis',
        description: 'Build the first item',
        input_data: { title: 'Greet' },
        constraints: [],
        expected_output: 'A script that greets',
      },
      state: { conversation_history: [], accumulated_context: {}, decisions_made: [] },
    },
    governance: {
      source_agent_verified: true,
      target_agent_verified: true,
      composition_valid: true,
      boundaries_respected: true,
      audit_trail: 'log-1',
    },
  };
}

async function validated(dir: string, source: string, target: string): Promise<string> {
  put(dir, { 'handoff.json': handoff(dir, source, target) });
  const args = ['validate', 'governed/handoff', '--registry', '.baton', 'handoff.json'];
  return json<{ code: string }>(await baton(dir, args)).code;
}

test('it is a registry: handoffs along the loadout pass, others do not, and a changed prompt is noticed', async () => {
  const dir = await initialised();
  expect(await validated(dir, 'domain-01-plan', 'domain-02-build')).toBe('OK');
  expect(await validated(dir, 'domain-03-evaluate', 'domain-02-build')).toBe('OK');
  expect(await validated(dir, 'domain-05-narrate', 'domain-02-build')).toBe('BOUNDARY_NOT_ALLOWED');
  put(dir, { '.baton/prompts/build.md': 'Do something else.\n' });
  expect(await validated(dir, 'domain-01-plan', 'domain-02-build')).toMatch(/^(?!OK)/);
});

test('pins are never set anew in passing, and prompts that were there are pinned as they are', async () => {
  const dir = project({ '.baton/prompts/build.md': 'My own words.\n' });
  await baton(dir, ['init']);
  expect(read(dir, '.baton/prompts/build.md')).toBe('My own words.\n');
  expect(await validated(dir, 'domain-01-plan', 'domain-02-build')).toBe('OK');
  const lock = read(dir, '.baton/versions/prompt-lock.json');
  put(dir, { '.baton/prompts/build.md': 'Other words.\n' });
  await baton(dir, ['init', '--force']);
  expect(read(dir, '.baton/versions/prompt-lock.json')).toBe(lock);
});

test('a manifest of one’s own is left alone, and nobody locks it unasked', async () => {
  const dir = project({ '.baton/versions/prompt-manifest.json': '{}' });
  await baton(dir, ['init']);
  expect(read(dir, '.baton/versions/prompt-manifest.json')).toBe('{}');
  expect(existsSync(join(dir, '.baton/versions/prompt-lock.json'))).toBe(false);
});
