// The index of casts in files that have none, or one that is not current.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Append } from '../../engine/ports.ts';
import type { Fact } from '../../kernel/fact.ts';
import { SqliteEvidence } from './evidence.ts';
import { SqliteLog } from './log.ts';
import { openForReading } from './open.ts';

let folder = '';
const file = () => join(folder, 'log.sqlite');

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'baton-casts-'));
  const log = new SqliteLog(file());
  await log.commit(0, { decide: () => [started('a'), started('b'), append({ kind: 'cast.completed', cast: 'a' })] });
  await log.close();
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function append(fact: object): Append {
  return { fact: fact as Fact, by: 'test', at: 0 };
}

function started(cast: string): Append {
  return append({ kind: 'cast.started', cast, request: `do ${cast}`, loadout: 'L', rules: {}, script: null, data: {} });
}

function exec(sql: string): void {
  const db = new DatabaseSync(file());
  db.exec(sql);
  db.close();
}

async function listed(): Promise<readonly string[]> {
  const log = new SqliteLog(file());
  const casts = await log.casts({});
  await log.close();
  return casts.map(({ cast, status, request }) => `${cast} ${status} ${request}`);
}

const rows = () => {
  const db = new DatabaseSync(file());
  const [{ user_version } = {}] = db.prepare('PRAGMA user_version').all();
  const found = db.prepare('SELECT cast_id, changed FROM casts ORDER BY started').all();
  db.close();
  return [user_version, ...found.map(({ cast_id, changed }) => `${cast_id} ${changed}`)];
};

/** As the first version of the program made it. */
const AS_BEFORE = 'DROP TABLE casts; PRAGMA user_version = 1';

test.each([
  ['a log of the first version', AS_BEFORE],
  ['an index that was taken away', 'DROP TABLE casts'],
  ['an index that was emptied', 'DELETE FROM casts'],
  ['an index in which the newest change is missing', 'UPDATE casts SET changed = started'],
])('%s gets its index when it is opened', async (_, spoil) => {
  exec(spoil);
  expect(await listed()).toEqual(['a completed do a', 'b running do b']);
  expect(rows()).toEqual([2, 'a 3', 'b 2']);
});

test('a log of the first version is laid out as it should be', async () => {
  exec(AS_BEFORE);
  const evidence = new SqliteEvidence(file());
  expect(await evidence.changedLayout()).toBeNull();
  await evidence.close();
});

test('a fact that a program of the first version appended is in the index after the next opening', async () => {
  exec(`INSERT INTO facts SELECT 4, kind, 'b', task_id, replace(replace(line, '"seq":3', '"seq":4'), '"cast":"a"', '"cast":"b"')
    FROM facts WHERE seq = 3`);
  expect(await listed()).toEqual(['a completed do a', 'b completed do b']);
});

test('a program of the first version refuses the file', () => {
  const db = openForReading(file());
  // It refuses every number above the version of the facts it knows, which is 1.
  expect(Number(db.prepare('PRAGMA user_version').get()?.user_version)).toBeGreaterThan(1);
  db.close();
});

test('a cast that never started keeps nothing from being opened', async () => {
  const log = new SqliteLog(file());
  await log.commit(0, { decide: () => [append({ kind: 'cast.paused', cast: 'never', reason: '' })] });
  await log.close();
  expect(await listed()).toHaveLength(2);
});
