// A log on a read-only medium or a full disk is read like any other, and never called tampered with.
import { copyFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { agent, BATON, baton, CHECKOUT, flow, json, project, type Ran } from './baton.ts';
import { CANNOT_MOUNT, fullDisk, readOnly } from './mounted.ts';

const config = flow({ A: agent }, { 'Socket-1': { materia: 'A', parse: 'text' } });
const CAST = ['cast', '--file', 'good.json', '--agents', 'agents.json', 'x'];
const LOOKS = [['casts', '--json'], ['status', '--json'], ['show', 'latest'], ['log'], ['audit', 'verify']];
const VERIFIER = [process.execPath, join(CHECKOUT, 'verifier/verify.mjs'), '--log', '.baton/state/log.sqlite'];

async function withLog(): Promise<string> {
  const dir = project({ 'good.json': config, 'agents.json': { A: ['x', '$repeat'] } });
  expect((await baton(dir, CAST)).code).toBe(0);
  return dir;
}

function run(dir: string, where: readonly string[], args: readonly string[], TMPDIR = '/tmp'): Promise<Ran> {
  return baton(dir, args, { program: [...where, BATON], env: { TMPDIR } });
}

function verifier(dir: string, where: readonly string[], TMPDIR = '/tmp'): Promise<Ran> {
  const [program = '', ...args] = [...where, ...VERIFIER];
  return baton(dir, args, { program: [program], env: { TMPDIR } });
}

const FIRST_VERSION = 'DROP TABLE casts; PRAGMA user_version = 1';

test.skipIf(CANNOT_MOUNT).each<[string, typeof readOnly, string, [number, string]]>([
  ['a read-only medium', readOnly, '', [3, 'STORAGE_FAILED']],
  ['a read-only medium, with a log of the first version', readOnly, FIRST_VERSION, [3, 'STORAGE_FAILED']],
  ['a full disk', fullDisk, '', [1, 'PREFLIGHT_FAILED']],
])(
  'on %s everything that looks works, and both verifiers find nothing (needs the right to mount)',
  async (_, where, sql, refusal) => {
    const dir = await withLog();
    for (const args of LOOKS) {
      const db = new DatabaseSync(join(dir, '.baton/state/log.sqlite'));
      db.exec(sql);
      db.close();
      const [there, here] = [await run(dir, where(dir), args), await baton(dir, args)];
      expect([args, there.code, there.stdout]).toEqual([args, 0, here.stdout]);
    }
    const checked = await verifier(dir, where(dir));
    expect([checked.code, checked.stdout]).toEqual([0, expect.stringMatching(/^OK: /)]);
    const refused = await run(dir, where(dir), [...CAST, '--json']);
    expect([refused.code, json(refused).code]).toEqual(refusal);
  },
);

/** Entries that only the write-ahead file holds, as after a kill. */
async function withOpenWal(): Promise<{ dir: string; facts: number }> {
  const dir = await withLog();
  const file = join(dir, '.baton/state/log.sqlite');
  const db = new DatabaseSync(file);
  onTestFinished(() => db.close());
  db.exec('PRAGMA wal_autocheckpoint = 0; SELECT count(*) FROM facts;');
  expect((await baton(dir, CAST)).code).toBe(0);
  const { count } = db.prepare('SELECT count(*) AS count FROM facts').get() as { count: number };
  const copy = project({});
  for (const name of ['', '-wal']) {
    const to = join(copy, '.baton/state/log.sqlite');
    if (name === '') (await import('node:fs')).mkdirSync(join(copy, '.baton/state'));
    copyFileSync(`${file}${name}`, `${to}${name}`);
  }
  return { dir: copy, facts: count };
}

test.skipIf(CANNOT_MOUNT)(
  'what only the write-ahead file holds is read too, or it is said that it cannot be',
  async () => {
    const { dir, facts } = await withOpenWal();
    const scratch = project({});
    const before = readdirSync(scratch);
    const entries = json<unknown[]>(await run(dir, readOnly(dir), ['log', '--after', '0', '--json'], scratch));
    expect(entries).toHaveLength(facts);
    // No copy of the log stays behind.
    expect(readdirSync(scratch)).toEqual(before);
    expect(json(await run(dir, readOnly(dir), ['audit', 'verify', '--json']))).toMatchObject({
      allow: true,
      details: { facts },
    });
    const blind = await run(dir, readOnly(dir), ['log', '--json'], dir);
    expect([blind.code, blind.stderr]).toEqual([3, expect.stringContaining('-wal holds entries')]);
    const checked = await verifier(dir, readOnly(dir));
    expect([checked.code, checked.stdout, checked.stderr]).toEqual([
      2,
      '',
      expect.stringContaining('-wal may hold entries'),
    ]);
  },
);
