// A small log, harmed in one place each time, and held against a checkpoint that was kept elsewhere or against none.
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Append } from '../engine/ports.ts';
import type { Fact } from '../kernel/fact.ts';
import { leafHash, textDigest } from '../log/line.ts';
import { withEvidence } from '../log/sqlite/evidence.ts';
import { SqliteLog } from '../log/sqlite/log.ts';
import type { KeptNotes } from './checkpoints.ts';
import { Frontier, leafOf } from './merkle.ts';
import { readNotes, type Signer, signedNote, signerOf } from './note.ts';
import { verifyLog } from './verify-log.ts';

const HEAD = 20;
const LONG = `Something personal. ${'x'.repeat(300)}`;
const ours = signerOf(generateKeyPairSync('ed25519').privateKey);
const theirs = signerOf(generateKeyPairSync('ed25519').privateKey);

let root = '';
const file = () => join(root, 'log.sqlite');

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'baton-verify-log-'));
  await append(...Array.from({ length: HEAD }, (_, turn) => ({ kind: 'turn.dropped', cast: 'c', turn })));
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

async function append(...facts: readonly object[]): Promise<void> {
  const log = new SqliteLog(file());
  const at = Date.UTC(2026, 0, 1);
  await log.commit((await log.head()).seq, {
    decide: () => facts.map((fact): Append => ({ fact: fact as Fact, by: 'test', at })),
  });
  await log.close();
}

type Lines = Map<number, string>;

/** Changes the stored lines as they lie in the file. */
function change(how: (lines: Lines) => void): void {
  const db = new DatabaseSync(file());
  const lines: Lines = new Map(
    db
      .prepare('SELECT seq, line FROM facts')
      .all()
      .map(({ seq, line }) => [Number(seq), String(line)]),
  );
  how(lines);
  const update = db.prepare('UPDATE facts SET line = ? WHERE seq = ?');
  for (const [seq, line] of lines) update.run(line, seq);
  db.close();
}

function run(sql: string): void {
  const db = new DatabaseSync(file());
  db.exec(sql);
  db.close();
}

/** One value of one entry. */
function edit(lines: Lines, seq: number): void {
  lines.set(seq, (lines.get(seq) ?? '').replace(`"turn":${seq - 1}`, `"turn":9${seq - 1}`));
}

function rechain(lines: Lines, from: number): void {
  for (let seq = from; seq <= HEAD; seq++) {
    const before = leafHash(lines.get(seq - 1) ?? '');
    lines.set(seq, (lines.get(seq) ?? '').replace(/"prev":"[0-9a-f]{64}"/, `"prev":"${before}"`));
  }
}

function checkpointBy(signer: Signer): readonly KeptNotes[] {
  const db = new DatabaseSync(file());
  const tree = new Frontier();
  for (const { line } of db.prepare('SELECT line FROM facts ORDER BY seq').iterate()) tree.add(leafOf(String(line)));
  db.close();
  const note = signedNote({ origin: 'baton/x', size: tree.size, root: tree.root() }, signer);
  return [{ where: 'given', notes: readNotes(`${note}\n`) }];
}

async function verified(kept: readonly KeptNotes[]): Promise<readonly unknown[]> {
  const { code, details } = await withEvidence(file(), (evidence) => verifyLog(evidence, kept, [ours.publicKey]));
  return code === 'OK' ? [code] : [code, details.kind, details.seq];
}

const swap = (lines: Lines) => {
  const [three = '', four = ''] = [lines.get(3), lines.get(4)];
  lines.set(3, four).set(4, three);
};
const BROKEN = (kind: string, seq: number) => ['TAMPERED', kind, seq];

test.each<[string, () => void, readonly unknown[], readonly unknown[]]>([
  ['nothing', () => undefined, ['OK'], ['OK']],
  ['a value of entry 5', () => change((lines) => edit(lines, 5)), BROKEN('CHAIN_BROKEN', 5), BROKEN('CHAIN_BROKEN', 5)],
  [
    'a blank in entry 5',
    () => change((lines) => lines.set(5, (lines.get(5) ?? '').replace(':', ': '))),
    BROKEN('ENTRY_NOT_CANONICAL', 5),
    BROKEN('ENTRY_NOT_CANONICAL', 5),
  ],
  [
    'entry 5 and the chain after it',
    () =>
      change((lines) => {
        edit(lines, 5);
        rechain(lines, 6);
      }),
    ['OK'],
    BROKEN('FORKED', 1),
  ],
  ['the last 10 entries, cut off', () => run('DELETE FROM facts WHERE seq > 10'), ['OK'], BROKEN('TRUNCATED', 11)],
  ['entries 3 and 4, exchanged', () => change(swap), BROKEN('SEQ_GAP', 3), BROKEN('SEQ_GAP', 3)],
])('changed is %s: without a checkpoint %j, with one %j', async (_what, harm, without, withOne) => {
  const kept = checkpointBy(ours);
  harm();
  expect(await verified([])).toEqual(without);
  expect(await verified(kept)).toEqual(withOne);
});

test('a checkpoint that another key signed is none', async () => {
  expect(await verified(checkpointBy(theirs))).toEqual(BROKEN('CHECKPOINT_SIGNATURE', HEAD));
});

test('a text that was erased is missed by nobody, and one that is gone is', async () => {
  await append({ kind: 'cast.paused', cast: 'c', reason: LONG });
  expect(await verified(checkpointBy(ours))).toEqual(['OK']);
  run('DELETE FROM texts');
  expect(await verified([])).toEqual(BROKEN('BLOB_MISMATCH', HEAD + 1));
  await append({ kind: 'blob.erased', digest: textDigest(LONG), from: [HEAD + 1], reason: 'asked for' });
  expect(await verified(checkpointBy(ours))).toEqual(['OK']);
});
