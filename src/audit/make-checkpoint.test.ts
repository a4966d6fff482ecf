// A checkpoint is made of what came since the last one, kept inside and outside, and never of a log that does not extend it.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SqliteLog } from '../log/sqlite/log.ts';
import { checkpointFolders, keptFrontier } from './checkpoints.ts';
import { makeCheckpoint } from './make-checkpoint.ts';
import { EMPTY_ROOT, Frontier, leafOf } from './merkle.ts';

let root = '';
let place = { dir: '', stateDir: '' };
let env: NodeJS.ProcessEnv = {};

const file = () => join(place.stateDir, 'log.sqlite');
const sign = () => {
  const log = new SqliteLog(file());
  return makeCheckpoint(place, log, env).finally(() => log.close());
};

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'baton-checkpoint-'));
  place = { dir: join(root, 'project'), stateDir: join(root, 'project', 'state') };
  env = { BATON_CONFIG: join(root, 'config'), BATON_CHECKPOINTS: join(root, 'outside') };
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

async function append(count: number): Promise<void> {
  const log = new SqliteLog(file());
  const { seq } = await log.head();
  await log.commit(seq, {
    decide: () =>
      Array.from({ length: count }, (_, index) => ({
        fact: { kind: 'turn.dropped' as const, cast: 'c', turn: seq + index },
        by: 'test',
        at: seq + index,
      })),
  });
  await log.close();
}

function spoil(sql: string): void {
  const db = new DatabaseSync(file());
  db.exec(sql);
  db.close();
}

function rootNow(): string {
  const db = new DatabaseSync(file());
  const frontier = new Frontier();
  for (const { line } of db.prepare('SELECT line FROM facts ORDER BY seq').iterate())
    frontier.add(leafOf(String(line)));
  db.close();
  return frontier.root();
}

test('each is the root of all there is, kept inside and outside', async () => {
  const { inside, outside } = checkpointFolders(place, env);
  let notes = '';
  for (const count of [1, 6, 100]) {
    await append(count);
    const verdict = await sign();
    expect(verdict).toMatchObject({ allow: true, details: { root: rootNow() } });
    notes += `${verdict.details.note}\n`;
  }
  expect(readFileSync(join(inside, 'checkpoints.txt'), 'utf8')).toBe(notes);
  expect(readFileSync(join(outside, 'checkpoints.txt'), 'utf8')).toBe(notes);
  expect(keptFrontier(inside)?.size).toBe(107);
});

test('where nothing came, and where there is nothing, none is made', async () => {
  await append(0);
  expect(await sign()).toMatchObject({ allow: true, details: { size: 0 } });
  await append(3);
  await sign();
  expect((await sign()).details).toEqual({ size: 3 });
  expect(new Frontier().root()).toBe(EMPTY_ROOT);
});

test('what was appended before the last one is not read again', async () => {
  await append(5);
  await sign();
  // Only somebody who reads entry 2 again can notice; that is the business of the audit.
  spoil(`UPDATE facts SET line = 'x' WHERE seq = 2`);
  await append(1);
  expect((await sign()).allow).toBe(true);
});

test.each([
  ['is gone', () => rmSync(join(place.stateDir, 'checkpoints', 'frontier.json'))],
  ['is no JSON', () => writeFileSync(join(place.stateDir, 'checkpoints', 'frontier.json'), '{')],
  [
    'has too few peaks',
    () => writeFileSync(join(place.stateDir, 'checkpoints', 'frontier.json'), '{"size":5,"peaks":[]}'),
  ],
  [
    'leads to another root',
    () =>
      writeFileSync(
        join(place.stateDir, 'checkpoints', 'frontier.json'),
        JSON.stringify({ size: 5, peaks: ['00'.repeat(32), '11'.repeat(32)] }),
      ),
  ],
])('where what was kept of the tree %s, all is read', async (_, change) => {
  await append(5);
  await sign();
  change();
  await append(2);
  expect(await sign()).toMatchObject({ allow: true, details: { size: 7, root: rootNow() } });
});

test.each<[string, string, object]>([
  ['was cut', 'DELETE FROM facts WHERE seq > 3', { kind: 'TRUNCATED', seq: 4 }],
  ['has a gap after it', 'DELETE FROM facts WHERE seq = 6', { kind: 'SEQ_GAP', seq: 6 }],
  [
    'was changed after it',
    `UPDATE facts SET line = replace(line, '"by":"test"', '"by":"root"') WHERE seq = 6`,
    { kind: 'CHAIN_BROKEN', seq: 6 },
  ],
])('a log that %s is not signed', async (_, sql, found) => {
  await append(5);
  await sign();
  await append(3);
  spoil(sql);
  const verdict = await sign();
  expect(verdict.code).toBe('TAMPERED');
  expect(verdict.details).toMatchObject(found);
});

test('another log in the place of the one that was signed is not signed', async () => {
  await append(5);
  await sign();
  spoil('DELETE FROM facts; DELETE FROM by_cast');
  await append(9);
  rmSync(join(place.stateDir, 'checkpoints', 'frontier.json'));
  spoil(`UPDATE facts SET line = replace(line, '"by":"test"', '"by":"root"') WHERE seq = 9`);
  // The same facts at the same times make the same log; the last one differs, so what was signed is still there.
  expect((await sign()).allow).toBe(true);
  spoil(`UPDATE facts SET line = replace(line, '"turn":0', '"turn":9') WHERE seq = 1`);
  rmSync(join(place.stateDir, 'checkpoints', 'frontier.json'));
  await append(1);
  expect(await sign()).toMatchObject({ code: 'TAMPERED' });
});

test('checkpoints that were taken away beside the log stop the next one', async () => {
  await append(5);
  await sign();
  rmSync(join(place.stateDir, 'checkpoints'), { recursive: true });
  await append(5);
  expect(await sign()).toMatchObject({ code: 'TAMPERED', details: { kind: 'CHECKPOINT_MISSING', seq: 5 } });
});
