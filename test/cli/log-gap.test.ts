// A log from which a fact is missing: nobody tells of casts as if it were whole.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { agent, baton, flow, json, project } from './baton.ts';

const files = {
  'good.json': flow({ A: agent }, { 'Socket-1': { materia: 'A', parse: 'text' } }),
  'agents.json': { A: ['x', '$repeat'] },
};
const casting = ['cast', '--file', 'good.json', '--agents', 'agents.json', 'x'];

test.each([
  ['casts', ['casts']],
  ['show', ['show', 'latest']],
  ['status', ['status']],
])('`%s` says which one, and where to look', async (_, args) => {
  const dir = project(files);
  for (let count = 0; count < 2; count++) expect((await baton(dir, casting)).code).toBe(0);
  expect((await baton(dir, args)).code).toBe(0);
  const db = new DatabaseSync(join(dir, '.baton/state/log.sqlite'));
  // A fact of the first cast, which `show latest` does not read.
  db.exec('DELETE FROM facts WHERE seq = 2');
  db.close();
  const { code, stdout, stderr } = await baton(dir, args);
  expect([code, stdout]).toEqual([3, '']);
  expect(stderr).toContain('entry 2 of the log is missing: `baton audit verify` says what is wrong with it');
  expect(json<{ code: string }>(await baton(dir, [...args, '--json'])).code).toBe('STORAGE_FAILED');
  // What happened can still be read, by whoever wants to find out.
  expect((await baton(dir, ['log', '--after', '0'])).code).toBe(0);
  expect(json<{ code: string }>(await baton(dir, ['audit', 'verify', '--json'])).code).toBe('TAMPERED');
});
