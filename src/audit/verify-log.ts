// Verifies a whole log, from what is stored and nothing else: lines, chain, texts, everything facts are found by, snapshots, the
// tables themselves, and the tree against every checkpoint that is known. It reads; it never writes.
import { hash } from 'node:crypto';
import type { Evidence, StoredRow } from '../engine/ports.ts';
import { StorageError } from '../engine/storage-error.ts';
import { allow, type Verdict } from '../kernel/verdict.ts';
import { readStoredLine } from '../log/stored-line.ts';
import { ChainWalk } from './chain-walk.ts';
import { type Kept, missingOutside, RootCheck, signedCheckpoints } from './checkpoint-check.ts';
import { type DecisionKey, DecisionWalk } from './decision-walk.ts';
import { FAULTS_MAX, type Fault, inOrder, tampered } from './fault.ts';
import { EMPTY_ROOT, Frontier } from './merkle.ts';
import type { PublicKey } from './note.ts';
import { TextWalk } from './text-walk.ts';

const FACTS_AT_ONCE = 1_024;
/** A text may be a megabyte. */
const TEXTS_AT_ONCE = 32;

/** Called with every leaf on the way, for whoever needs the tree too. */
export type OnLeaf = (seq: number, leaf: string, line: string) => void;

/** `decisionKey` is null where the user has none; without it decisions are not looked at. */
export type Looks = { readonly onLeaf?: OnLeaf; readonly decisionKey?: DecisionKey | null };

export async function verifyLog(
  evidence: Evidence,
  kept: readonly Kept[],
  keys: readonly PublicKey[],
  { onLeaf, decisionKey }: Looks = {},
): Promise<Verdict> {
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
  try {
    const odd = await evidence.changedLayout();
    if (odd !== null) return tampered([...faults, { kind: 'SCHEMA_CHANGED', seq: 1, reason: odd }]);
    const texts = new TextWalk((after) => evidence.texts(after, TEXTS_AT_ONCE), report);
    const index = evidence.checkIndexes(report);
    for await (const rows of pages(evidence)) {
      const lines: ReturnType<typeof readStoredLine>[] = [];
      for (const [seq, , , , text] of rows) {
        const { leaf, line } = chain.take(seq, text);
        while (!texts.reaches(seq)) await texts.readOn();
        texts.take(seq, line);
        lines.push(line);
        decisions?.take(seq, line);
        frontier.add(leaf);
        if (frontier.size >= roots.due) roots.take(frontier.size, frontier.root());
        onLeaf?.(seq, leaf, text);
      }
      await index.take(rows, lines);
    }
    chain.end((size) => roots.vouchesFor(size));
    tellRoots();
    const isStored = async (seq: number, digest: string) => (await evidence.textsOf(seq)).has(digest);
    await texts.end(
      broken.toSorted((a, b) => a - b),
      isStored,
    );
    await index.end(chain.firstFault === null);
    await compareSnapshots(evidence, report);
    for (const fault of await evidence.faults()) report(fault);
    counts = { texts: texts.count, erased: texts.erased };
  } catch (error) {
    // That a log cannot be opened, or not read for want of space, says nothing about what it holds.
    if (error instanceof StorageError && !error.isDamage) throw error;
    report({
      kind: 'FILE_DAMAGED',
      seq: chain.seq + 1,
      reason: `the file cannot be read any further: ${(error as Error).message}`,
    });
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

async function* pages(evidence: Evidence): AsyncGenerator<readonly StoredRow[]> {
  for (let after = Number.MIN_SAFE_INTEGER; ; ) {
    const rows = await evidence.rows({ after, limit: FACTS_AT_ONCE });
    yield rows;
    const last = rows.at(-1);
    if (!last || rows.length < FACTS_AT_ONCE) return;
    after = last[0];
  }
}

async function compareSnapshots(evidence: Evidence, report: (fault: Fault) => void): Promise<void> {
  for (const { through, digest, body } of await evidence.snapshots()) {
    const seq = through + 1;
    const [row] = await evidence.rows({ after: through, limit: 1 });
    const fact = row?.[0] === seq ? readStoredLine(row[4])?.fact : undefined;
    const isVouchedFor =
      fact?.kind === 'snapshot.taken' &&
      fact.through === through &&
      fact.digest === digest &&
      hash('sha256', body, 'hex') === digest;
    if (!isVouchedFor)
      report({ kind: 'SNAPSHOT_MISMATCH', seq, reason: `it does not vouch for the snapshot through ${through}` });
  }
}
