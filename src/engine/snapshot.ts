// A snapshot is the state after a certain fact, so that a start need not read the whole log. It is a cache: the log
// holds a fact with its digest right after that place, and what does not fit this fact is not believed. Its parts are read
// when they are asked for (`snapshot-parts.ts`).
import { isOver } from '../kernel/cast/state.ts';
import type { Fact } from '../kernel/fact.ts';
import { closedRuns, keysOfRuns, nameKey } from '../kernel/ledger/state.ts';
import type { State } from '../kernel/state.ts';
import type { Log, Snapshot, SnapshotParts } from './ports.ts';
import { isUnread, openParts, PartGone, PartsWriter, readParts, type Shape } from './snapshot-parts.ts';

/** To be raised with every change of the shape of the state: a snapshot of another shape is ignored. */
const FORMAT = 17;

/** `digest` names the snapshot it was read from. */
type Restored = { readonly state: State; readonly through: number; readonly digest: string };

/** `bytes` counts what was written again; parts that were never read are not written. */
export type TakenSnapshot = { readonly snapshot: Snapshot; readonly below: SnapshotParts; readonly bytes: number };

/** Ended casts and closed runs are left out; they are read back from their facts on demand. */
export function takeSnapshot(state: State, through: number): TakenSnapshot {
  const { casts, ledger } = state;
  // A cast that was not read since the last snapshot was open there.
  const ended = Object.keys(casts).filter((id) => !isUnread(casts, id) && isOver(casts[id]?.status ?? 'running'));
  const left = [...ended, ...closedRuns(ledger)];
  const writer = new PartsWriter(sha256, keysOfRuns(ledger, left));
  const open = {
    casts: changed(casts, {}, ended),
    ledger: changed(ledger, { runs: changed(ledger.runs, {}, left.map(nameKey)) }),
  };
  const { body, children } = writer.root({ format: FORMAT, state: changed(state, open) }, ROOT);
  return {
    snapshot: { through, digest: sha256(body), body },
    below: { children, parts: writer.parts },
    bytes: writer.bytes,
  };
}

/** The fact that vouches for a snapshot. It must come right after the last fact the snapshot holds. */
export function factOf({ through, digest }: Snapshot): Fact {
  return { kind: 'snapshot.taken', through, digest };
}

type RestoreOptions = {
  /** Reads all parts at once. */
  readonly whole?: boolean;
  /** Snapshots of which a part was found to be gone. */
  readonly except?: ReadonlySet<string>;
};

/** The newest snapshot, if there is one and the log vouches for it. Its parts are read when they are asked for. */
export async function restore(log: Log, { whole = false, except }: RestoreOptions = {}): Promise<Restored | null> {
  const snapshot = await log.snapshot();
  if (!snapshot) return null;
  const { through, body } = snapshot;
  const [entry] = await log.read({ after: through, limit: 1 });
  if (entry?.seq !== through + 1 || entry.fact.kind !== 'snapshot.taken') return null;
  const { digest } = entry.fact;
  if (except?.has(digest) || sha256(body) !== digest) return null;
  const load = (part: string) => {
    const text = log.snapshotPart(part);
    if (text === null || sha256(text) !== part) throw new PartGone(digest);
    return text;
  };
  if (!body.startsWith(BEGINNING)) return null;
  const { state } = (whole ? readParts : openParts)(body, load) as { readonly state: State };
  return { state, through, digest };
}

/** What the newest snapshot says, and after which fact; null where there is none to believe. */
export async function restored<T>(
  log: Log,
  look: (state: State) => T,
  options: RestoreOptions = {},
): Promise<{ readonly found: T; readonly through: number } | null> {
  try {
    const snapshot = await restore(log, options);
    return snapshot && { found: look(snapshot.state), through: snapshot.through };
  } catch (error) {
    if (error instanceof PartGone) return null;
    throw error;
  }
}

const WHOLE: Shape = { kind: 'whole' };
const TREE: Shape = { kind: 'tree' };
const RECORD: Shape = { kind: 'record' };
const BY_TASK: Shape = { kind: 'record', byTask: true };
const EACH_TREE: Shape = { kind: 'each', of: TREE };

const INDEX: Shape = {
  kind: 'members',
  of: {
    ...{ open: TREE, atWork: TREE, startable: EACH_TREE, unmet: EACH_TREE, unassigned: TREE },
    ...{ dependents: RECORD, missing: RECORD, suspects: RECORD, files: RECORD },
  },
};
const RUN: Shape = { kind: 'members', of: { deltas: RECORD, pastDeltas: RECORD, index: INDEX } };
const LEDGER: Shape = {
  kind: 'members',
  of: {
    ...{ tasks: BY_TASK, ready: BY_TASK, waiting: BY_TASK, fences: RECORD, runs: { kind: 'each', of: RUN } },
    locks: { kind: 'members', of: { held: RECORD } },
  },
};
const STATE: Shape = { kind: 'members', of: { casts: { kind: 'each', of: WHOLE }, ledger: LEDGER } };
const ROOT: Shape = { kind: 'members', of: { state: STATE } };
/** The format comes first, so that a snapshot of another one need not be understood. */
const BEGINNING = `{"value":{"format":${FORMAT},`;

/** A copy with other members and without some. What was not read yet stays so. */
function changed(value: object, other: object, without: readonly string[] = []): object {
  const copy = Object.defineProperties({}, Object.getOwnPropertyDescriptors(value));
  for (const key of without) Reflect.deleteProperty(copy, key);
  for (const [key, member] of Object.entries(other))
    Object.defineProperty(copy, key, { value: member, writable: true, enumerable: true, configurable: true });
  return copy;
}

/** Loaded on first use: reading a log without a snapshot does not need it. */
function sha256(text: string): string {
  return process.getBuiltinModule('node:crypto').hash('sha256', text, 'hex');
}
