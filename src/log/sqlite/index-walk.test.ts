// Whoever writes to the file beside the program can hide a fact from those who look for it, but not unnoticed.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Append } from '../../engine/ports.ts';
import type { Fact } from '../../kernel/fact.ts';
import { readStoredLine } from '../stored-line.ts';
import { BLOCK } from './cast-index.ts';
import { SqliteLog } from './log.ts';

const LONG_ID = 'T-'.repeat(300);

let folder = '';
let log: SqliteLog;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'baton-index-'));
  log = new SqliteLog(join(folder, 'log.sqlite'));
  await log.commit(0, {
    decide: () => [
      append({ kind: 'cast.paused', cast: 'a', reason: 'r' }),
      append({ kind: 'task.moved', run: 'r', task: 'T-1' }, 'k1', 'k2'),
      append({ kind: 'task.moved', run: `run ${LONG_ID}`, task: LONG_ID }),
      append({ kind: 'snapshot.taken', through: 1, digest: 'd' }, 'k3'),
      ...Array.from({ length: BLOCK }, (_, turn) => append({ kind: 'turn.dropped', cast: turn % 2 ? 'a' : 'b', turn })),
    ],
  });
});

afterEach(async () => {
  await log.close();
  rmSync(folder, { recursive: true, force: true });
});

function append(fact: object, ...once: string[]): Append {
  return { fact: fact as Fact, by: 'test', at: 0, once };
}

/** What the check of the indexes finds wrong, as `seq: reason`. */
async function faultsOf(of: SqliteLog): Promise<readonly string[]> {
  const evidence = await of.evidence();
  const faults: string[] = [];
  const check = evidence.checkIndexes(({ seq, reason }) => faults.push(`${seq}: ${reason}`));
  const rows = await evidence.rows({ after: 0 });
  const lines = rows.map(([, , , , line]) => readStoredLine(line));
  await check.take(rows, lines);
  await check.end(true);
  await evidence.close();
  return faults;
}

test('a log that only the program wrote has no faults', async () => {
  expect(await faultsOf(log)).toEqual([]);
});

test('nor has one that several wrote, and in which a commit that filled a block came to nothing', async () => {
  const other = new SqliteLog(join(folder, 'log.sqlite'));
  const some = (count: number) =>
    Array.from({ length: count }, (_, turn) => append({ kind: 'turn.dropped', cast: `c${turn % 3}`, turn }));
  for (let round = 0; round < 8; round++) {
    for (const each of [log, other]) {
      const { seq } = await each.head();
      await each.commit(seq, { decide: () => some(150) });
      const refused = each.commit(seq, { decide: () => [...some(BLOCK), append({ kind: 'turn.dropped' }, 'k1')] });
      await expect(refused).rejects.toThrow('the key k1 was used up by entry 2');
    }
  }
  expect((await log.head()).seq).toBe(BLOCK + 4 + 8 * 2 * 150);
  expect(await faultsOf(other)).toEqual([]);
  expect(await log.read({ after: 0, cast: 'c1' })).toHaveLength(8 * 2 * 50);
  await other.close();
});

test('an empty log has none', async () => {
  const empty = new SqliteLog(join(folder, 'empty.sqlite'));
  expect(await faultsOf(empty)).toEqual([]);
  await empty.close();
});

test.each<[string, string, string[]]>([
  [
    'another kind',
    `UPDATE facts SET kind = 'turn.dropped' WHERE seq = 1`,
    ['1: it is filed under the kind turn.dropped, its line says cast.paused'],
  ],
  [
    'another cast',
    `UPDATE facts SET cast_id = 'b' WHERE seq = 1026`,
    ['1026: it is filed under the cast b, its line says a'],
  ],
  [
    'another cast in the line',
    `UPDATE facts SET line = replace(line, '"cast":"a"', '"cast":"z"') WHERE seq = 1`,
    ['1: it is filed under the cast a, its line says z'],
  ],
  [
    'no cast',
    `UPDATE facts SET cast_id = NULL WHERE seq = 1026`,
    ['1026: it is filed under the cast null, its line says a'],
  ],
  [
    'another task',
    `UPDATE facts SET task_id = 'T-2' WHERE seq = 2`,
    ['2: it is filed under the task T-2, its line says T-1'],
  ],
  [
    'another task in place of one that is stored by its digest',
    `UPDATE facts SET task_id = 'T-2' WHERE seq = 3`,
    ['3: it is filed under the task T-2, its line says (another one)'],
  ],
  [
    'a task where there is none',
    `UPDATE facts SET task_id = 'T-1' WHERE seq = 4`,
    ['4: it is filed under the task T-1, its line says null'],
  ],
  [
    'a cast that is not filed',
    `DELETE FROM by_cast WHERE cast_id = 'a'; DELETE FROM facts WHERE seq BETWEEN 7 AND 1024 AND cast_id = 'a'`,
    ['1: the index of the cast a is not what the lines say'],
  ],
  [
    'a fact that is left out',
    `UPDATE by_cast SET seqs = replace(seqs, '1,6,', '1,') WHERE cast_id = 'a'`,
    ['6: the index of the cast a is not what the lines say'],
  ],
  [
    'a fact of somebody else',
    `UPDATE by_cast SET seqs = '2,' || seqs WHERE cast_id = 'a'`,
    ['2: the index of the cast a is not what the lines say'],
  ],
  ['a key that is forgotten', `DELETE FROM once WHERE key = 'k1'`, ['2: the key k1 it used up is not noted']],
  [
    'a key of another fact',
    `UPDATE once SET seq = 4 WHERE key = 'k1'`,
    ['2: the key k1 it used up is noted for entry 4'],
  ],
  [
    'a key of nobody',
    `INSERT INTO once VALUES ('k9', 99)`,
    ['99: the key k9 is noted for it, and its line does not use it up'],
  ],
])('%s is found', async (_, spoil, faults) => {
  const db = new DatabaseSync(join(folder, 'log.sqlite'));
  db.exec(spoil);
  db.close();
  expect(await faultsOf(log)).toEqual(faults);
});

const FALSE_ROWS: readonly [string, string, string][] = [
  ['another status', `UPDATE casts SET status = 'completed'`, '6: the list of casts says something else'],
  [
    'another request',
    `UPDATE casts SET body = replace(body, 'ask', 'act')`,
    '6: the list of casts says something else',
  ],
  ['a cast that is left out', 'DELETE FROM casts', '6: the list of casts says something else'],
  [
    'a cast that never was',
    `INSERT INTO casts SELECT 'z', started, changed, status, body FROM casts`,
    '5: the list of casts says something else of the cast z than its facts',
  ],
];

test.each(FALSE_ROWS)('in the list of casts %s is found', async (_, spoil, found) => {
  const own = new SqliteLog(join(folder, 'casts.sqlite'));
  await own.commit(0, {
    decide: () => [
      ...Array.from({ length: 4 }, (_, turn) => append({ kind: 'turn.dropped', cast: 's', turn })),
      append({ kind: 'cast.started', cast: 's', loadout: 'L', request: 'ask', rules: {}, script: null, data: {} }),
      append({ kind: 'cast.failed', cast: 's', code: 'AGENT_FAILED', reason: 'r' }),
    ],
  });
  expect(await faultsOf(own)).toEqual([]);
  const db = new DatabaseSync(join(folder, 'casts.sqlite'));
  db.exec(spoil);
  db.close();
  expect(await faultsOf(own)).toEqual([expect.stringContaining(found)]);
  await own.close();
});
