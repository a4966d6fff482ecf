// Verifies a whole log from its storage alone: lines, chain, texts, indexes, snapshots, the tables, and the tree against every known
// checkpoint. It never writes.
import { hash } from 'node:crypto';
import { type Evidence, StorageError, type StoredRow, type StoredText, TEXTS_PER_FACT } from '../engine/ports.ts';
import type { Json } from '../kernel/json.ts';
import { allow, type Verdict } from '../kernel/verdict.ts';
import { readStoredLine, type StoredLine } from '../log/stored-line.ts';
import { ChainWalk, type DecisionKey, DecisionWalk } from './check-lines.ts';
import { type KeptNotes, missingOutside, RootCheck, signedCheckpoints } from './checkpoints.ts';
import { type AuditFault, FAULTS_MAX, placeOfErased, sortedFaults, tampered } from './fault.ts';
import { EMPTY_ROOT, Frontier } from './merkle.ts';
import type { PublicKey } from './note.ts';

const FACTS_AT_ONCE = 1_024;
/** A text may have a megabyte. */
const TEXTS_AT_ONCE = 32;

/** Receives every leaf, for callers that build the tree. */
export type OnLeaf = (seq: number, leaf: string, line: string) => void;

/** `decisionKey` is null if the user has none. Undefined skips the check of decisions. */
type VerifyLogOptions = { readonly onLeaf?: OnLeaf; readonly decisionKey?: DecisionKey | null };

export async function verifyLog(
  evidence: Evidence,
  kept: readonly KeptNotes[],
  keys: readonly PublicKey[],
  { onLeaf, decisionKey }: VerifyLogOptions = {},
): Promise<Verdict> {
  const faults: AuditFault[] = [];
  const report = (fault: AuditFault) => {
    if (faults.length < FAULTS_MAX) faults.push(fault);
  };
  const checkpoints = signedCheckpoints(kept, keys, report);
  const roots = new RootCheck(checkpoints);
  const broken: number[] = [];
  const reportBroken = (fault: AuditFault) => {
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
    // A log that cannot be opened, or a full disk, says nothing about the content.
    if (error instanceof StorageError && !error.isDamage) throw error;
    report({
      kind: 'FILE_DAMAGED',
      seq: chain.seq + 1,
      reason: `the file cannot be read further: ${(error as Error).message}`,
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
  if (faults.length > 0) return tampered(sortedFaults(faults), details);
  return allow(wholeReason(frontier.size, signed, checkpoints.length), details);
}

function wholeReason(facts: number, signed: number, checkpoints: number): string {
  if (checkpoints === 0) return `${facts} facts are intact; no checkpoint confirms their number`;
  return `${facts} facts are intact, the first ${signed} as signed`;
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

async function compareSnapshots(evidence: Evidence, report: (fault: AuditFault) => void): Promise<void> {
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
      report({ kind: 'SNAPSHOT_MISMATCH', seq, reason: `it does not match the snapshot through ${through}` });
  }
}

// Compares the long texts with the digests in the lines. A text may be missing only if a later fact erased it.

type Erasure = { readonly seq: number; readonly digest: string; readonly by: number };

class TextWalk {
  readonly #report: (fault: AuditFault) => void;
  readonly #more: (after: number) => Promise<readonly StoredText[]>;
  /** Missing texts, by entry and digest, until a fact of erasure is found. */
  readonly #missing = new Set<string>();
  /** Erased texts, in the same form. */
  readonly #erased = new Set<string>();
  /** Texts that exist although an entry erased them. */
  readonly #back: Erasure[] = [];
  /** Erased texts that are missing at their place. */
  readonly #gone: Erasure[] = [];
  /** Texts that were read and not yet compared. */
  #rows: readonly StoredText[] = [];
  #index = 0;
  #last = Number.MIN_SAFE_INTEGER;
  #isEnd = false;
  #count = 0;

  /** `more` returns the next texts after an id, or none at the end. */
  constructor(more: (after: number) => Promise<readonly StoredText[]>, report: (fault: AuditFault) => void) {
    this.#more = more;
    this.#report = report;
  }

  get count(): number {
    return this.#count;
  }

  get erased(): number {
    return this.#erased.size;
  }

  /** Whether all texts of the entry were read. If not, `readOn` reads more. */
  reaches(seq: number): boolean {
    return this.#isEnd || this.#last >= (seq + 1) * TEXTS_PER_FACT;
  }

  async readOn(): Promise<void> {
    const rows = await this.#more(this.#last);
    this.#isEnd = rows.length === 0;
    this.#rows = [...this.#rows.slice(this.#index), ...rows];
    this.#index = 0;
    this.#last = rows.at(-1)?.[0] ?? this.#last;
  }

  take(seq: number, line: StoredLine | null): void {
    const first = seq * TEXTS_PER_FACT;
    this.#skipTo(first);
    for (const [index, digest] of (line?.texts ?? []).entries()) this.#compare(seq, first + index, digest);
    if (line) this.#skipTo(first + TEXTS_PER_FACT);
    // The texts of an unreadable line belong to no entry, but the line itself is the fault.
    else while ((this.#next?.[0] ?? Number.POSITIVE_INFINITY) < first + TEXTS_PER_FACT) this.#advance();
    if (line?.kind === 'blob.erased') this.#erase(seq, line.fact.digest as Json, line.fact.from as Json);
  }

  /** `broken` are changed or missing entries, in order; one may be an erasure. `isStored` finds a text of an entry at any place. */
  async end(broken: readonly number[], isStored: (seq: number, digest: string) => Promise<boolean>): Promise<void> {
    for (; !this.#isEnd; await this.readOn()) this.#skipTo(Number.POSITIVE_INFINITY);
    this.#skipTo(Number.POSITIVE_INFINITY);
    for (const erasure of this.#gone) {
      if (this.#back.length < FAULTS_MAX && (await isStored(erasure.seq, erasure.digest))) this.#back.push(erasure);
    }
    for (const { seq, digest, by } of this.#back) {
      const at = placeOfErased(seq, broken, by);
      this.#fault(at, `the text ${digest} of entry ${seq} exists, though entry ${by} erased it`);
    }
    for (const place of this.#missing) {
      const [seq = '', digest = ''] = place.split(' ');
      const at = placeOfErased(Number(seq), broken);
      this.#fault(at, `the text ${digest} of entry ${seq} is missing, and no entry says that it was erased`);
    }
  }

  #compare(seq: number, id: number, digest: string): void {
    this.#skipTo(id);
    const row = this.#next;
    if (row?.[0] !== id) {
      this.#missing.add(`${seq} ${digest}`);
      return;
    }
    this.#advance();
    if (row[1] !== digest) this.#fault(seq, `a text is filed under ${row[1]}, the line says ${digest}`);
    else if (`sha256:${hash('sha256', row[2], 'hex')}` !== digest) this.#fault(seq, `its text ${digest} was changed`);
  }

  #erase(by: number, digest: Json, from: Json): void {
    if (!Array.isArray(from) || typeof digest !== 'string') return;
    for (const seq of from.filter(Number.isSafeInteger)) {
      const place = `${seq} ${digest}`;
      if (this.#erased.has(place)) continue;
      this.#erased.add(place);
      const erasure = { seq: Number(seq), digest, by };
      if (this.#missing.delete(place)) this.#gone.push(erasure);
      else if (this.#back.length < FAULTS_MAX) this.#back.push(erasure);
    }
  }

  /** A text before the expected one belongs to no line. */
  #skipTo(id: number): void {
    for (let next = this.#next; next && next[0] < id; next = this.#next) {
      this.#fault(Math.floor(next[0] / TEXTS_PER_FACT), `its line does not name one of its texts`);
      this.#advance();
    }
  }

  get #next(): StoredText | undefined {
    return this.#rows[this.#index];
  }

  #advance(): void {
    this.#index += 1;
    this.#count += 1;
  }

  #fault(seq: number, reason: string): void {
    this.#report({ kind: 'BLOB_MISMATCH', seq, reason });
  }
}
