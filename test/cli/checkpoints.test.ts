// The log is signed while a cast runs, not only when it is over.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import { always, baton, flow, json, project, put, script, start, until } from './baton.ts';

const WAITS = `import { existsSync } from 'node:fs';
while (!existsSync('go')) await new Promise((resolve) => setTimeout(resolve, 20));
console.log('{}');`;
const config = flow(
  { U: script('u.mjs'), W: script('w.mjs') },
  {
    'Socket-1': { materia: 'U', edges: [always('Socket-2')] },
    'Socket-2': { materia: 'U', edges: [always('Socket-3')] },
    'Socket-3': { materia: 'W', edges: [always('end')] },
  },
);

/** The sizes that were signed in a folder of checkpoints. */
function sizesIn(folder: string): readonly number[] {
  const notes = globSync(join(folder, '**/checkpoints.txt')).flatMap((file) => [
    ...readFileSync(file, 'utf8').matchAll(/^baton\/\S+\n(\d+)\n/gm),
  ]);
  return notes.map(([, size]) => Number(size));
}

test('after so many facts a signed head lies outside, while the cast still runs', async () => {
  const dir = project({ '.baton/u.mjs': "console.log('{}');", '.baton/w.mjs': WAITS });
  put(dir, { '.baton/config.json': { ...config, checkpointEvery: { facts: 4 } } });
  const env = { BATON_CONFIG: join(dir, 'user'), BATON_CHECKPOINTS: join(dir, 'outside') };
  const { ended } = start(dir, ['cast', '--in-place', '--json', 'do it'], { env });
  const early = await until('a checkpoint', () => {
    const sizes = sizesIn(join(dir, 'outside'));
    return sizes.length > 0 && sizes;
  });
  expect(sizesIn(join(dir, '.baton/state/checkpoints'))).toEqual(expect.arrayContaining([...early]));
  put(dir, { go: '' });
  const { code, stderr } = await ended;
  expect([code, stderr]).toEqual([0, expect.not.stringContaining('not signed')]);
  const sizes = sizesIn(join(dir, 'outside'));
  expect(sizes.length).toBeGreaterThan(1);
  expect(sizes).toEqual(sizes.toSorted((a, b) => a - b));
  expect(json<JsonObject>(await baton(dir, ['audit', 'verify', '--json'], { env }))).toMatchObject({
    allow: true,
    details: { checkpoints: { outside: sizes.length, unsigned: 0 } },
  });
});

test('where the log cannot be signed the cast is told so once, and goes on', async () => {
  const dir = project({ '.baton/u.mjs': "console.log('{}');", '.baton/w.mjs': "console.log('{}');" });
  put(dir, { '.baton/config.json': { ...config, checkpointEvery: { facts: 1 } }, user: 'a file, not a folder' });
  const env = { BATON_CONFIG: join(dir, 'user') };
  const { code, stderr } = await baton(dir, ['cast', '--in-place', 'do it'], { env });
  expect(code).toBe(0);
  expect(stderr.match(/The log was not signed \(KEY_UNSAFE/g)?.length).toBeGreaterThanOrEqual(1);
  expect(stderr.match(/and it is tried again/g)?.length).toBe(1);
});

test.each([
  [{ minutes: 0 }, 'checkpointEvery.minutes'],
  [{ facts: '10' }, 'checkpointEvery.facts'],
  ['often', 'checkpointEvery'],
])('checkpointEvery %j is found wrong at %s', async (checkpointEvery, path) => {
  const dir = project({ '.baton/config.json': { ...config, checkpointEvery }, '.baton/u.mjs': '', '.baton/w.mjs': '' });
  const { details } = json<{ details: { issues: readonly JsonObject[] } }>(await baton(dir, ['check', '--json']));
  expect(details.issues).toEqual([expect.objectContaining({ code: 'INVALID_CONFIG', path })]);
});
