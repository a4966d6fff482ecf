// An erased text is gone from every byte on disk, wherever a copy of it lay.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import type { Fact } from '../../kernel/fact.ts';
import { textDigest } from '../line.ts';
import { SqliteLog } from './log.ts';

const MARK = 'erase-me ';
const TEXT = MARK.repeat(100);
const OTHER = 'keep-me '.repeat(100);
const snapshot = (through: number, text: string) => ({ through, digest: 'd', body: JSON.stringify({ text }) });

/** A log with two texts, of which the first is erased after `copy`; a second connection keeps its journal in place. */
async function erasedLog(copy: (log: SqliteLog) => Promise<void>) {
  const folder = mkdtempSync(join(tmpdir(), 'baton-erased-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'log.sqlite');
  const [log, reader] = [new SqliteLog(file), new SqliteLog(file)];
  const add = (...facts: object[]) =>
    log.commit(0, { decide: () => facts.map((fact) => ({ fact: fact as Fact, by: 'test', at: 0 })) });
  const bytes = () => Buffer.concat(readdirSync(folder).map((name) => readFileSync(join(folder, name))));
  await add({ kind: 'cast.paused', cast: 'c', reason: TEXT }, { kind: 'cast.paused', cast: 'c', reason: OTHER });
  await copy(log);
  expect(bytes().includes(MARK)).toBe(true);
  await add({ kind: 'blob.erased', digest: textDigest(TEXT), from: [1], reason: '' });
  await log.close();
  return { file, reader, bytes };
}

test.each<[string, (log: SqliteLog) => Promise<void>]>([
  ['the table of texts and the journal', async () => undefined],
  ['the newest snapshot', (log) => log.saveSnapshot(snapshot(1, TEXT))],
  [
    'the page of a snapshot that was replaced',
    async (log) => {
      await log.saveSnapshot(snapshot(1, TEXT.repeat(30)));
      await log.saveSnapshot(snapshot(2, OTHER));
    },
  ],
])('an erased text is in no byte of the file: %s', async (_where, copy) => {
  const { file, reader, bytes } = await erasedLog(copy);
  const erasing = new SqliteLog(file);
  await erasing.overwriteErased();
  await erasing.close();
  expect([bytes().includes(MARK), bytes().includes('keep-me')]).toEqual([false, true]);
  const reasons = (await reader.read({ after: 0 })).map(({ fact }) => 'reason' in fact && fact.reason);
  expect(reasons).toEqual(['[erased]', OTHER, '']);
  await reader.close();
});

test('the commit that erases overwrites the row itself, should the process end right after it', async () => {
  const { file, reader, bytes } = await erasedLog(async () => undefined);
  await reader.close();
  const db = new DatabaseSync(file);
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
  expect(bytes().includes(MARK)).toBe(false);
});
