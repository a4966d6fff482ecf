// What `baton init` leaves behind can be used as it is: by editors, by `check`, and by a cast. Nothing of it is pinned.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { TEMPLATES } from '../../src/app/operations/project.ts';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import { baton, json, project, put, read } from './baton.ts';
import { repository } from './repository.ts';

const YES: Json = { satisfied: true };
const ITEMS: Json = { workItems: [{ title: 'Greet', context: 'Say hello.' }] };

/** What scripted agents say in the team of each template. */
const SCRIPTS: Readonly<Record<(typeof TEMPLATES)[number], JsonObject>> = {
  software: { plan: [ITEMS], build: ['Built.'], review: [YES], summary: ['Done.'] },
  bugfix: { collect: [ITEMS], triage: [YES], fix: ['Fixed.'], review: [YES], summary: ['Done.'] },
  feature: { plan: [ITEMS], build: ['Built.'], review: [YES], integrate: ['Joined.'], summary: ['Done.'] },
  review: { scope: [ITEMS], examine: ['Nothing found.'], confirm: [YES], report: ['Good.'] },
};

test.each(TEMPLATES)('the team %s checks, fits the schema, pins nothing, and is cast as it is', async (template) => {
  const dir = repository({ 'agents.json': SCRIPTS[template] });
  const told = json<{ template: string; written: string[] }>(
    await baton(dir, ['init', '--template', template, '--json']),
  );
  expect(told.template).toBe(template);
  expect(told.written.every((file) => existsSync(join(dir, file)))).toBe(true);
  const config = JSON.parse(read(dir, '.baton/config.json'));
  expect([Object.keys(config)[0], config.activeLoadout]).toEqual(['$schema', template]);
  const schema = JSON.parse(read(join(dir, '.baton'), config.$schema));
  expect(new Ajv2020({ strict: false }).validate(schema, config)).toBe(true);
  expect((await baton(dir, ['check', '--strict'])).stdout).toMatch(/^ok: no issues/);
  expect([existsSync(join(dir, '.baton/versions')), read(dir, `.baton/loadouts/${template}.yaml`)]).toEqual([
    false,
    expect.not.stringContaining('identity'),
  ]);
  put(dir, { '.baton/prompts/summary.md': 'My own words.\n' });
  const ran = await baton(dir, ['cast', '--agents', 'agents.json', '--json', 'Greet']);
  expect(json<JsonObject>(ran)).toMatchObject({ status: 'completed', loadout: template });
});

test('without a template it is the software team, and with --agent the agents run on that', async () => {
  const dir = project();
  expect((await baton(dir, ['init', '--agent', 'codex'])).code).toBe(0);
  expect(JSON.parse(read(dir, '.baton/config.json'))).toMatchObject({
    activeLoadout: 'software',
    defaults: { runner: 'codex' },
  });
});

test('what was there stays', async () => {
  const dir = project({ '.baton/prompts/build.md': 'My own words.\n', '.baton/versions/prompt-manifest.json': '{}' });
  await baton(dir, ['init']);
  expect(read(dir, '.baton/prompts/build.md')).toBe('My own words.\n');
  expect(read(dir, '.baton/versions/prompt-manifest.json')).toBe('{}');
  expect(existsSync(join(dir, '.baton/versions/prompt-lock.json'))).toBe(false);
});
