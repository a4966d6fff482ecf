// A cast whose texts were erased is not carried on with holes in it.
import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import { SqliteLog } from '../../src/log/sqlite/log.ts';
import { logFileIn } from '../../src/log/sqlite/open.ts';
import { agent, always, baton, flow, json, project, script } from './baton.ts';
import type { Answer } from './ledger-story.ts';

const LONG = `A prompt that is long enough to lie beside its entry. ${'x'.repeat(300)}`;
const SAID = `Not a handoff, and long. ${'y'.repeat(300)}`;

/** A workspace with one cast that failed at its second socket. */
async function failed(prompt = LONG): Promise<string> {
  const config = flow(
    { A: { ...agent, prompt }, B: { ...agent, prompt: 'Short.' } },
    {
      'Socket-1': { materia: 'A', parse: 'json', edges: [always('Socket-2')] },
      'Socket-2': { materia: 'B', parse: 'json', edges: [always('end')] },
    },
  );
  const agents = { A: [{ satisfied: true }], B: [SAID, SAID, { satisfied: true }] };
  const dir = project({ '.baton/config.json': config, 'agents.json': agents });
  expect((await baton(dir, ['cast', '--agents', 'agents.json', 'do it'])).code).toBe(1);
  return dir;
}

async function erase(dir: string, ...how: string[]): Promise<number> {
  const { details } = json<Answer>(await baton(dir, ['gc', '--json', ...how]));
  return Number(details.texts);
}

test.each(['recast', 'continue'])(
  '%s is refused, and says which text is gone, since when and through whom',
  async (verb) => {
    const dir = await failed();
    expect(await erase(dir, '--older-than', '0m', '--stopped')).toBeGreaterThan(0);
    const verdict = json<Answer>(await baton(dir, [verb, 'latest', '--json']));
    expect(verdict).toMatchObject({ allow: false, code: 'TEXT_ERASED' });
    expect(verdict.reason).toMatch(
      /rules\.materia\.A\.prompt of entry \d+ \(cast\.started, sha256:.*was erased at 20\S+Z by user:\S+.*; start a new cast/,
    );
    expect(verdict.details.texts).toContainEqual(
      expect.objectContaining({
        kind: 'cast.started',
        path: 'rules.materia.A.prompt',
        by: expect.stringMatching(/^user:/),
      }),
    );
  },
);

test('an erased text is in no byte of the log, also where an old snapshot held it', async () => {
  const dir = await failed();
  const stateDir = join(dir, '.baton/state');
  const bytes = () =>
    Buffer.concat(
      readdirSync(stateDir, { withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ name }) => readFileSync(join(stateDir, name))),
    );
  // The page of a snapshot that was replaced is free, and keeps its bytes.
  const log = new SqliteLog(logFileIn(stateDir));
  for (const text of [SAID.repeat(30), '']) await log.saveSnapshot({ through: 1, digest: 'd', body: `"${text}"` });
  await log.close();
  expect(bytes().includes(SAID)).toBe(true);
  expect(await erase(dir, '--older-than', '0m', '--stopped')).toBeGreaterThan(0);
  expect([bytes().includes(SAID), bytes().includes(LONG)]).toEqual([false, false]);
});

test('a cast that could be revived is refused likewise, and nothing is appended', async () => {
  const config = flow(
    { A: { ...agent, prompt: LONG } },
    {
      'Socket-1': {
        materia: 'A',
        parse: 'json',
        edges: [
          { when: 'satisfied', to: 'end' },
          { when: 'not_satisfied', to: 'Socket-1', maxTraversals: 1 },
        ],
      },
    },
  );
  const dir = project({ '.baton/config.json': config, 'agents.json': { A: [{ satisfied: false }, '$repeat'] } });
  await baton(dir, ['cast', '--agents', 'agents.json', 'do it']);
  await erase(dir, '--older-than', '0m', '--stopped');
  const before = (await baton(dir, ['log', '--after', '0', '--json'])).stdout;
  expect(json<Answer>(await baton(dir, ['revive', 'latest', '--json']))).toMatchObject({ code: 'TEXT_ERASED' });
  expect((await baton(dir, ['log', '--after', '0', '--json'])).stdout).toBe(before);
});

test('a text that only the history holds is not missed', async () => {
  const code = `import { existsSync, writeFileSync } from 'node:fs';
process.stdout.write(existsSync('again') ? '{}' : ${JSON.stringify(SAID)});
writeFileSync('again', '');`;
  const config = flow({ U: script('u.mjs') }, { 'Socket-1': { materia: 'U', parse: 'json', edges: [always('end')] } });
  const dir = project({ '.baton/config.json': config, '.baton/u.mjs': code });
  expect((await baton(dir, ['cast', '--in-place', 'do it'])).code).toBe(1);
  expect(await erase(dir, '--digest', `sha256:${hash('sha256', SAID, 'hex')}`)).toBe(1);
  expect(json<JsonObject>(await baton(dir, ['recast', 'latest', '--json']))).toMatchObject({ status: 'completed' });
});

test('nothing was erased, nothing is refused', async () => {
  const dir = await failed();
  expect(await erase(dir, '--older-than', '0m')).toBe(0);
  expect(json<JsonObject>(await baton(dir, ['recast', 'latest', '--json']))).toMatchObject({ status: 'completed' });
});
