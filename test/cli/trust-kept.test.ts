// Trust does not switch off in silence: not without a registry, not with another state folder; and what was put back is released.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import { hashBytes } from '../../src/trust/registry-folder.ts';
import { agent, always, baton, cast, flow, json, project, put, read } from './baton.ts';

const LOCK = '.baton/versions/prompt-lock.json';
const MANIFEST = '.baton/versions/prompt-manifest.json';
const SOCKETS = { 'Socket-1': { materia: 'A', parse: 'text', edges: [always('end')] } };
const OTHER = 'f'.repeat(64);

/** A workspace with one agent in a registry that a person has locked, in which a cast was attested. */
async function governed(env: NodeJS.ProcessEnv = {}): Promise<string> {
  const config = flow({ A: { tools: 'none', identity: 'domain-01-plan', promptFile: 'prompts/plan.md' } }, SOCKETS);
  const dir = project({
    '.baton/config.json': config,
    '.baton/prompts/plan.md': 'Plan it.\n',
    [MANIFEST]: {
      version: '1.0.0',
      domains: {
        'domain-01-plan': { canonical_id: 'domain-01-plan', file: 'prompts/plan.md', version: '1.0.0', scopes: ['x'] },
      },
    },
    'agents.json': { A: ['x', '$repeat'] },
  });
  expect(await codeOf(dir, ['registry', 'lock', '--reason', 'first'], env)).toBe('OK');
  expect(await castIn(dir, env)).toMatchObject({ status: 'completed', trust: 'on' });
  return dir;
}

async function castIn(dir: string, env: NodeJS.ProcessEnv = {}): Promise<JsonObject> {
  return json(await baton(dir, ['cast', '--agents', 'agents.json', '--json', 'x'], { env }));
}

async function codeOf(dir: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<unknown> {
  return json(await baton(dir, [...args, '--json'], { env })).code;
}

const RELEASE = ['registry', 'release', 'domain-01-plan', '--reason', 'restored'];

test('an identity without a registry is refused by check, and nothing is cast', async () => {
  const dir = project();
  const config = flow({ A: { ...agent, identity: 'domain-01-plan' } }, SOCKETS);
  expect(await cast(dir, config, { A: ['x'] })).toMatchObject({
    cast: null,
    status: 'failed',
    code: 'REGISTRY_UNUSABLE',
  });
  const checked = json<{ code: string; details: { issues: readonly JsonObject[] } }>(
    await baton(dir, ['check', 'cast.json', '--json']),
  );
  expect(checked).toMatchObject({ code: 'REGISTRY_UNUSABLE', details: { issues: [{ level: 'error' }] } });
  put(dir, { 'cast.json': flow({ A: agent }, SOCKETS) });
  expect(await codeOf(dir, ['check', 'cast.json'])).toBe('OK');
});

test('a cast whose registry goes away before its agent is dispatched is refused, and does not run with trust off', async () => {
  const dir = await governed();
  for (const gone of ['.baton/versions', '.baton/state']) rmSync(join(dir, gone), { recursive: true });
  expect(await castIn(dir)).toMatchObject({ cast: null, code: 'REGISTRY_UNUSABLE' });
});

test('after the original bytes of lock and prompt are back, the agent is released', async () => {
  const dir = await governed();
  const original = read(dir, LOCK);
  const [, pinned = ''] = /"(?:hash|sha256)":\s*"([0-9a-f]{64})"/.exec(original) ?? [];
  expect(pinned).not.toBe('');
  put(dir, { [LOCK]: original.replaceAll(pinned, OTHER) });
  expect((await castIn(dir)).code).toBe('PROMPT_BYTES_MISMATCH');
  expect(await codeOf(dir, RELEASE)).toBe('PROMPT_BYTES_MISMATCH');
  put(dir, { [LOCK]: original });
  expect((await castIn(dir)).code).toBe('QUARANTINED');
  expect(await codeOf(dir, RELEASE)).toBe('OK');
  expect(await castIn(dir)).toMatchObject({ status: 'completed', trust: 'on' });
});

test.each([
  ['a state folder elsewhere', (dir: string) => ({ BATON_HOME: join(dir, 'elsewhere') })],
  [
    'another state folder and other checkpoints',
    (dir: string) => ({
      BATON_HOME: join(dir, 'elsewhere'),
      XDG_STATE_HOME: join(dir, 'state'),
      BATON_CHECKPOINTS: join(dir, 'checkpoints'),
    }),
  ],
  [
    'a state folder that was deleted',
    (dir: string) => {
      rmSync(join(dir, '.baton/state'), { recursive: true });
      return {};
    },
  ],
])('what is blocked stays blocked with %s, until a person releases it there', async (_, moved) => {
  const dir = await governed();
  put(dir, { '.baton/prompts/plan.md': 'Do evil.\n' });
  expect((await castIn(dir)).code).toBe('PROMPT_BYTES_MISMATCH');
  put(dir, { '.baton/prompts/plan.md': 'Plan it.\n' });
  const env = moved(dir);
  expect(json(await baton(dir, ['registry', 'quarantine', '--json'], { env }))).toMatchObject([
    {
      key: 'domain-01-plan',
      pin: { version: '1.0.0' },
      present: { version: '1.0.0', hash: hashBytes(Buffer.from('Plan it.\n')) },
    },
  ]);
  expect((await castIn(dir, env)).code).toBe('QUARANTINED');
  expect(await codeOf(dir, RELEASE, env)).toBe('OK');
  expect(await castIn(dir, env)).toMatchObject({ status: 'completed', trust: 'on' });
  expect(await castIn(dir, env)).toMatchObject({ status: 'completed' });
});
