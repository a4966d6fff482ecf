// Verifies a whole log, from its file and nothing else: lines, chain, texts, everything facts are found by, snapshots, the
// tables themselves, and the tree against every checkpoint that is known. It reads; it never writes.
import { hash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { allow, type Verdict } from '../kernel/verdict.ts';
import { asStorageError, isDamage } from '../log/sqlite/fault.ts';
import { openDatabase } from '../log/sqlite/open.ts';
import { openForReading } from '../log/sqlite/open-to-read.ts';
import { readStoredLine } from '../log/stored-line.ts';
import { ChainWalk } from './chain-walk.ts';
import { type Kept, missingOutside, RootCheck, signedCheckpoints } from './checkpoint-check.ts';
import { type DecisionKey, DecisionWalk } from './decision-walk.ts';
import { FAULTS_MAX, type Fault, inOrder, tampered } from './fault.ts';
import { IndexWalk } from './index-walk.ts';
import { EMPTY_ROOT, Frontier } from './merkle.ts';
import type { PublicKey } from './note.ts';
import { factPortions, textRows } from './stored-rows.ts';
import { TEXTS_PER_FACT, TextWalk } from './text-walk.ts';

/** Called with every leaf on the way, for whoever needs the tree too. */
export type OnLeaf = (seq: number, leaf: string, line: string) => void;

/** `decisionKey` is null where the user has none; without it decisions are not looked at. */
export type Looks = { readonly onLeaf?: OnLeaf; readonly decisionKey?: DecisionKey | null };

export function verifyLog(
  file: string,
  kept: readonly Kept[],
  keys: readonly PublicKey[],
  { onLeaf, decisionKey }: Looks = {},
): Verdict {
  const faults: Fault[] = [];
  const report = (fault: Fault) => {
    if (faults.length < FAULTS_MAX) faults.push(fault);
  };
  const checkpoints = signedCheckpoints(kept, keys, report);
  const roots = new RootCheck(checkpoints);
  const broken: number[] = [];
  const reportBroken = (fault: Fault) => {
    if (broken.length < FAULTS_MAX) broken.push(fault.seq);
    report(fault);
  };
  const chain = new ChainWalk(reportBroken);
  const frontier = new Frontier();
  roots.take(0, EMPTY_ROOT);
  const decisions = decisionKey === undefined ? null : new DecisionWalk(decisionKey, report);
  let counts = { texts: 0, erased: 0 };
  let areRootsTold = false;
  const tellRoots = () => {
    if (!areRootsTold) for (const fault of roots.faults(chain.seq, chain.firstFault)) reportBroken(fault);
    areRootsTold = true;
  };
  let db: DatabaseSync | null = null;
  try {
    db = openForReading(file);
    // One transaction: what others append meanwhile is not seen in one table and missing in another.
    db.exec('BEGIN');
    if (changedTables(db, report)) return tampered(faults);
    const texts = textWalk(db, report);
    const index = new IndexWalk(db, report);
    for (const rows of factPortions(db)) {
      for (const [seq, kind, cast, task, text] of rows) {
        const { leaf, line } = chain.take(seq, text);
        texts.take(seq, line);
        index.take(seq, line, kind, cast, task);
        decisions?.take(seq, line);
        frontier.add(leaf);
        if (frontier.size >= roots.due) roots.take(frontier.size, frontier.root());
        onLeaf?.(seq, leaf, text);
      }
    }
    chain.end((size) => roots.vouchesFor(size));
    tellRoots();
    texts.end(broken.toSorted((a, b) => a - b));
    index.end(chain.firstFault === null);
    compareSnapshots(db, report);
    compareFile(db, report);
    counts = { texts: texts.count, erased: texts.erased };
  } catch (error) {
    // That a file cannot be opened, or not read for want of space, says nothing about what it holds.
    if (!isDamage(error)) throw asStorageError(error, file);
    report({
      kind: 'FILE_DAMAGED',
      seq: chain.seq + 1,
      reason: `the file cannot be read any further: ${(error as Error).message}`,
    });
  } finally {
    if (db?.isOpen) db.close();
  }
  tellRoots();
  const signed = Math.max(0, ...checkpoints.map(({ size }) => size));
  const details = {
    facts: frontier.size,
    head: chain.leaf,
    root: frontier.root(),
    ...counts,
    checkpoints: {
      inside: checkpoints.filter(({ where }) => where === 'inside').length,
      outside: checkpoints.filter(({ where }) => where === 'outside').length,
      signed,
      unsigned: Math.max(0, frontier.size - signed),
    },
    ...(decisions ? { decisions: { checked: decisions.checked } } : {}),
    warnings: [...missingOutside(kept).slice(0, FAULTS_MAX), ...(decisions?.warnings() ?? [])].map((warning) => ({
      ...warning,
    })),
  };
  if (faults.length > 0) return tampered(inOrder(faults), details);
  return allow(told(frontier.size, signed, checkpoints.length), details);
}

function told(facts: number, signed: number, checkpoints: number): string {
  if (checkpoints === 0) return `${facts} facts are whole; no checkpoint says how many there should be`;
  return `${facts} facts are whole, the first ${signed} of them as they were signed`;
}

function textWalk(db: DatabaseSync, report: (fault: Fault) => void): TextWalk {
  const stored = db.prepare('SELECT 1 FROM texts WHERE id BETWEEN ? AND ? AND digest = ?');
  const isStored = (seq: number, digest: string) =>
    stored.get(seq * TEXTS_PER_FACT, (seq + 1) * TEXTS_PER_FACT - 1, digest) !== undefined;
  return new TextWalk(textRows(db), isStored, report);
}

/** Another table, a view in the place of one or a trigger could show an auditor something else than everybody else sees. */
function changedTables(db: DatabaseSync, report: (fault: Fault) => void): boolean {
  const list = (from: DatabaseSync) =>
    from
      .prepare("SELECT type || ' ' || name || ' ' || coalesce(sql, '') AS what FROM sqlite_schema ORDER BY name")
      .all()
      .map(({ what }) => String(what).replace(/\s+/g, ' '));
  const ours = openDatabase(':memory:');
  const due = list(ours);
  ours.close();
  const found = list(db);
  const odd = found.find((what) => !due.includes(what)) ?? due.find((what) => !found.includes(what));
  if (odd === undefined) return false;
  const [type = '', name = ''] = odd.split(' ');
  report({ kind: 'SCHEMA_CHANGED', seq: 1, reason: `the ${type} ${name} is not as baton makes it` });
  return true;
}

function compareSnapshots(db: DatabaseSync, report: (fault: Fault) => void): void {
  const lineAt = db.prepare('SELECT line FROM facts WHERE seq = ?');
  for (const { through, digest, body } of db.prepare('SELECT through, digest, body FROM snapshots').iterate()) {
    const seq = Number(through) + 1;
    const fact = readStoredLine(String(lineAt.get(seq)?.line ?? ''))?.fact;
    const isVouchedFor =
      fact?.kind === 'snapshot.taken' &&
      fact.through === through &&
      fact.digest === digest &&
      hash('sha256', String(body), 'hex') === digest;
    if (!isVouchedFor)
      report({ kind: 'SNAPSHOT_MISMATCH', seq, reason: `it does not vouch for the snapshot through ${through}` });
  }
}

/** What SQLite itself keeps to find rows by. */
function compareFile(db: DatabaseSync, report: (fault: Fault) => void): void {
  for (const { integrity_check: found } of db.prepare('PRAGMA integrity_check(10)').iterate()) {
    if (found === 'ok') continue;
    const [, row] = /\brow (\d+)/.exec(String(found)) ?? [];
    const isIndex = row !== undefined && /facts_/.test(String(found));
    report({
      kind: isIndex ? 'INDEX_MISMATCH' : 'FILE_DAMAGED',
      seq: isIndex ? Number(row) : 1,
      reason: String(found),
    });
  }
}
