// What the engine needs from the outside, in its own words. Adapters live in `src/log` and `src/agents`.
import type { Fault, Touched } from '../kernel/cast/fact.ts';
import type { Packet, Watch } from '../kernel/cast/packet.ts';
import type { AgentNote, CastStatus, ParkedWork, Usage } from '../kernel/cast/state.ts';
import type { CastSummary } from '../kernel/cast/summary.ts';
import type { Code } from '../kernel/codes.ts';
import type { Entry, Fact } from '../kernel/fact.ts';
import type { Seen } from '../kernel/gate/changes.ts';
import type { MergeEnd } from '../kernel/input.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { Links } from '../kernel/ledger/path.ts';
import type { Sighting } from '../kernel/trust/state.ts';
import type { TrustWatch } from '../kernel/trust/watch.ts';

/** A fact to append. The log adds its number and its hashes. */
export type Append = {
  readonly fact: Fact;
  readonly by: string;
  readonly at: number;
  /** The time of the clock, if the log is far ahead of it. */
  readonly clock?: number;
  /** How long the cast of the fact ran since its time was counted last. */
  readonly ranMs?: number;
  /** Ids that no other fact of the log may use. They stay in the chain forever, so they must be ids and never texts. */
  readonly once?: readonly string[];
  /** Changes of leases in the same commit. */
  readonly leases?: readonly LeaseChange[];
};

/**
 * The links on the way of these paths below a root; each leads to another path below the root, or to an absolute one. All
 * names of a file with several names lead to the same one. `known` are the links that were found before.
 */
export type FindLinks = (root: string, paths: readonly string[], known: Links) => Links;

/** A new value in the register of leases; null takes it away. */
export type LeaseChange = { readonly name: string; readonly value: string | null };

/** The values of leases by name, while a decision is made; null for a lease that does not exist. */
export type LeaseValues = (name: string) => string | null;

/** The rows that a decision may look up: keys that are used once, and leases. */
export type RowNames = { readonly once: readonly string[]; readonly leases: readonly string[] };

/** The rows that were fetched for a decision. It throws `NotFetched` for any other name. */
export type FoundRows = {
  /** The number of the entry that used a key up, or null. */
  readonly once: (key: string) => number | null;
  readonly lease: LeaseValues;
};

/** A decision looks up a row that it did not name before. */
export class NotFetched extends Error {
  readonly names: RowNames;

  constructor(kind: keyof RowNames, name: string) {
    super(`${name} was not fetched: name it in \`wanted\` first`);
    this.names = { once: [], leases: [], [kind]: [name] };
  }
}

/** What a commit asks, in this order. Both are synchronous and pure, and both see the entries after the one it names. */
export type Commit = {
  /** The rows that `decide` may look up. Without it, none are fetched. */
  readonly wanted?: (tail: readonly Entry[]) => RowNames;
  readonly decide: (tail: readonly Entry[], found: FoundRows) => readonly Append[];
};

export type LogHead = { readonly seq: number; readonly hash: string };

/** `body` is its root. What it names in turn is read by digest. */
export type Snapshot = { readonly through: number; readonly digest: string; readonly body: string };

/** A part of a snapshot, and the digests of those it names. */
export type Part = { readonly body: string; readonly children: readonly string[] };

/** The parts below a root. Those that an older snapshot has already need not be there. */
export type SnapshotParts = { readonly children: readonly string[]; readonly parts: ReadonlyMap<string, Part> };

/** A small value outside the chain. */
export type Lease = { readonly name: string; readonly value: string };

/** Reading: entries after a sequence number, in order, at most `limit`; only those that fit everything that is named. */
export type Query = {
  readonly after: number;
  readonly limit?: number;
  /** A cast, or a run of the ledger: a cast's run has its name. */
  readonly cast?: string;
  /** The fact's own `task`. Tasks of several runs may have the same id. */
  readonly task?: string;
  /** How the kind begins. `cast.` alone is found without looking at the others. */
  readonly kindPrefix?: string;
  /**
   * `digest`: a long brief of an attempt comes as `{ digest, seq, bytes, preview }` in the place of its text. Briefs are most
   * of a long cast, and nothing is decided by them any more.
   */
  readonly briefs?: 'digest';
  /** `digest`: every text that is stored by its digest comes in that form, for a reader that fetches texts when they are opened. */
  readonly texts?: 'digest';
};

/** Selects casts of a log, oldest first. All named conditions must hold. */
export type CastQuery = {
  /** At most so many, the newest ones. */
  readonly limit?: number;
  readonly cast?: string;
  /** How the id begins. */
  readonly prefix?: string;
  /** Whether the cast may still go on by itself or after a decision; one that completed, failed or was aborted is not open. */
  readonly isOpen?: boolean;
  readonly status?: CastStatus;
  /** Only those that began before this cast. */
  readonly before?: string;
};

export interface Log {
  /**
   * Reads the entries after `after`, calls `wanted` once, fetches exactly the rows it names, calls `decide` once, and
   * appends its facts: all or nothing, on disk when the promise resolves. Everything happens in one transaction, so other
   * writers wait. A throw in `wanted` or `decide` leaves the log as it was and is passed on; a fault of the storage is a
   * `StorageError`.
   *
   * `found` shows the log with the tail, and not what the same decision is about to append: a caller that decides several
   * inputs in one commit remembers the keys of the first ones. Appending a used key is a bug; it throws, and the log stays
   * as it was. A `blob.erased` takes the text it names out of the entries it names; they read `[erased]` from then on.
   */
  commit(after: number, commit: Commit): Promise<readonly Entry[]>;
  read(query: Query): Promise<readonly Entry[]>;
  /** The casts in short, from an index that is kept in the commits of their facts. */
  casts(query: CastQuery): Promise<readonly CastSummary[]>;
  castCount(): Promise<number>;
  head(): Promise<LogHead>;
  /** The stored text of entries, exactly as it was hashed. */
  lines(after: number, limit: number): Promise<readonly { readonly seq: number; readonly line: string }[]>;
  /** Calls back when another process may have appended. Own appends may call back too. */
  watch(changed: () => void): () => void;
  /** The newest snapshot, or null. A cache: it may be deleted at any time. */
  snapshot(): Promise<Snapshot | null>;
  /**
   * A part of the newest snapshot by its digest, or null. It answers at once, because rules read it while they decide; an
   * adapter that cannot do so fetches all parts together with the snapshot.
   */
  snapshotPart(digest: string): string | null;
  /** Replaces the snapshot. It throws where a part that is not given is not there either. */
  saveSnapshot(snapshot: Snapshot, below?: SnapshotParts): Promise<void>;
  /** Liveness, outside the chain: a small value by name. `change` sees the present one and returns the new one, in one step. */
  lease(name: string, change: (value: string | null) => string | null): Promise<string | null>;
  /** The same for several values in one step. `change` sees the named ones and returns those that change. */
  changeLeases(names: readonly string[], change: (held: LeaseValues) => readonly LeaseChange[]): Promise<void>;
  /** All such values whose names begin so, in the order of their names. */
  leases(prefix: string): Promise<readonly Lease[]>;
  /** The number of the first fact that is missing since the newest snapshot, or null. */
  firstGap(): Promise<number | null>;
  /** The stored data, for an audit. It is only read. */
  evidence(): Promise<Evidence>;
  /** Runs `work` while no other process appends. `work` reads through the given log and appends nothing. */
  alone<T>(work: (log: Log) => Promise<T>): Promise<T>;
  /** Removes the copies of erased texts that the storage still holds, for example in free space. */
  overwriteErased(): Promise<void>;
  close(): Promise<void>;
}

/** The id of a text is the number of its entry times this, plus its position among the texts of the entry. */
export const TEXTS_PER_FACT = 2 ** 20;

export type StoredRow = readonly [seq: number, kind: string, cast: string | null, task: string | null, line: string];
export type StoredText = readonly [id: number, digest: string, text: string];

/** Where a text is stored: which one, how long it is, and the entry it belongs to. `at` is empty for an entry of a cast. */
export type TextPlace = readonly [
  id: number,
  digest: string,
  bytes: number,
  cast: string | null,
  kind: string,
  at: string,
];

/** Rows after a number, in order, at most `limit`; only those that fit everything that is named. */
export type RowQuery = {
  readonly after: number;
  readonly limit?: number;
  readonly cast?: string;
  readonly kinds?: readonly string[];
  readonly kindPrefix?: string;
  /** What the line contains. */
  readonly holds?: string;
};

/** An index that differs from the lines, or damaged storage. `seq` is the entry it is about. */
export type StorageFault = {
  readonly kind: 'INDEX_MISMATCH' | 'ONCE_MISMATCH' | 'FILE_DAMAGED';
  readonly seq: number;
  readonly reason: string;
};

/** A line as it was read, with its long texts by digest. */
export type ReadLine = { readonly at: string; readonly fact: JsonObject; readonly once: readonly string[] };

/** Compares the indexes with the lines, page by page. */
export interface IndexCheck {
  /** `lines` are the lines of the rows as they were read; null for one that cannot be read. */
  take(rows: readonly StoredRow[], lines: readonly (ReadLine | null)[]): Promise<void>;
  /** No more lines. `isWhole` is false where a line is missing or changed. */
  end(isWhole: boolean): Promise<void>;
}

/**
 * A log as evidence: everything exactly as it is stored, at one moment, even if others append meanwhile. Damaged storage throws a
 * `StorageError` that says so.
 */
export interface Evidence {
  rows(query: RowQuery): Promise<readonly StoredRow[]>;
  /** Texts after an id, in order. */
  texts(after: number, limit: number): Promise<readonly StoredText[]>;
  /** The texts of one entry, by their digests. */
  textsOf(seq: number): Promise<ReadonlyMap<string, string>>;
  textPlaces(after: number, limit: number): Promise<readonly TextPlace[]>;
  snapshots(): Promise<readonly Snapshot[]>;
  /** Why the layout of the storage differs from that of this program, or null. */
  changedLayout(): Promise<string | null>;
  checkIndexes(report: (fault: StorageFault) => void): IndexCheck;
  /** What the storage finds wrong with itself. */
  faults(): Promise<readonly StorageFault[]>;
  close(): Promise<void>;
}

/** How an attempt ended. */
export type AttemptResult =
  | {
      readonly kind: 'output';
      readonly output: string;
      readonly usage?: Usage;
      readonly truncated?: boolean;
      /** The provider of its model ended the answer before it was whole. */
      readonly cutShort?: boolean;
      readonly agent?: AgentNote;
    }
  | {
      readonly kind: 'fault';
      readonly fault: Fault;
      readonly reason: string;
      readonly usage?: Usage;
      /** What went wrong, more exactly than the fault says. */
      readonly code?: Code;
      /** How long the provider asks to be left alone. */
      readonly retryAfterMs?: number;
      readonly agent?: AgentNote;
      /** The last words of the agent or of its program. */
      readonly said?: string;
      /** How often it asked its provider. Missing for once. */
      readonly tries?: number;
    }
  /** Cut off, by us or by a crash of ours; `mayHaveRun` is false when it certainly never began. */
  | {
      readonly kind: 'lost';
      readonly mayHaveRun: boolean;
      readonly reason: string;
      /** Its usage until then, as far as it was reported. */
      readonly usage?: Usage;
      readonly agent?: AgentNote;
    };

/** The reason of an abort after which the attempt belongs to another driver: it is left running. */
export const HANDED_OVER = 'the attempt is handed over';

/** The reason of an abort by a person who has something to say to the agent: the turn goes on. */
export const INTERRUPTED = 'the agent is interrupted';

/** Carries out dispatches of one kind. It never reads contracts. */
export interface Runner {
  run(packet: Packet, place: AttemptDirs, signal: AbortSignal): Promise<AttemptResult>;
  /** Called instead of `run` for an attempt that an earlier process had started. */
  recover(packet: Packet, place: AttemptDirs, signal: AbortSignal): Promise<AttemptResult>;
  /** The outcome is recorded: the folder of the attempt can go. */
  forget?(place: AttemptDirs): Promise<void>;
}

export type Runners = { runnerFor(packet: Packet): Runner };

/** Observes a turn from outside: what governs the agents, which files changed, what the checkers find. */
export interface Witness {
  /** `folder` is where the turn works. */
  before(watch: Watch, folder: string): Promise<string>;
  /** What a turn has changed so far in the files that configure agent programs. */
  orders?(watch: Watch, folder: string): Promise<Touched>;
  /** Establishes who the agent of a turn is, and what is handed to it under a new id. */
  attest?(watch: TrustWatch, handoffId: string, timestamp: string): Promise<Sighting>;
  /** The signal ends the checkers that still run. */
  after(watch: Watch, folder: string, signal?: AbortSignal): Promise<Seen & { readonly seal: string }>;
  /** The cast is over: records from before its turns can go. */
  forget(cast: string): Promise<void>;
}

/** The folders of a cast, and what happens to them before and after its turns. */
export interface WorkingTree {
  /**
   * Returns the folder once it is ready: that of the cast, or of an item in its own lane, by the number of the lane. The signal
   * ends the preparation.
   */
  ready(signal: AbortSignal, place: number | null): Promise<string>;
  /**
   * Brings the folder to the state in which an attempt of the turn begins. Returns the files in which merged work conflicts with
   * later work of others.
   */
  begin(watch: Watch): Promise<readonly string[]>;
  /** The turn was accepted, with its observed changes. */
  keep(watch: Watch, changes: Seen['changes']): Promise<void>;
  /** The turn was refused because it wrote outside its scope. */
  refuse(watch: Watch): Promise<void>;
  /** Merges the accepted work of a lane into the folder of the cast. Repeated calls do it once. */
  merge(watch: Watch): Promise<MergeEnd>;
  /** Moves the work of an item out of the folder and keeps it. Repeated calls do it once. Null if there is none. */
  park(watch: Watch): Promise<ParkedWork | null>;
  /** The cast does not run now. If it is completed, the folders of its lanes can go. */
  settle(isCompleted: boolean): Promise<void>;
}

/** Where an attempt works and where it may spool. */
export type AttemptDirs = {
  /** The folder in which the cast works: the project directory, or a worktree of it. */
  readonly cwd: string;
  /** The attempt's own folder in the state folder. */
  readonly attemptDir: string;
  /** The folder relative commands are resolved against. */
  readonly configDir: string;
  /** Receives what the agent does while it does it. Events may be missed; nothing may depend on them. */
  readonly onEvent?: (event: LiveEvent) => void;
};

/** Something an agent does right now: it speaks, calls a tool, is refused one, or waits before it tries again. */
export type LiveEvent =
  | { readonly kind: 'text'; readonly text: string }
  /** `detail` is what it is at: a file, a command, a pattern. */
  | { readonly kind: 'tool'; readonly name: string; readonly detail?: string }
  | { readonly kind: 'denied'; readonly name: string }
  | { readonly kind: 'waiting'; readonly forMs: number; readonly reason: string };

/** When an agent wrote something last, and the tool it called last, if it reported one. */
export type LastSign = { readonly at: number; readonly tool: string | null };

/** A fault of the storage. Its one line says what, where, and how a person repairs it. No input causes it. */
export class StorageError extends Error {
  readonly code: Code;
  /** What is stored is damaged. Otherwise it could not be reached, which says nothing about what it holds. */
  readonly isDamage: boolean;
  constructor(code: Code, message: string, options: { cause?: unknown; isDamage?: boolean } = {}) {
    super(message, options);
    this.code = code;
    this.isDamage = options.isDamage ?? false;
  }
}

/** An incomplete history is neither decided on nor shown. */
export function missingEntry(seq: number): StorageError {
  const how = '`baton audit verify` says what is wrong with it; put a copy of the state folder back';
  return new StorageError('STORAGE_FAILED', `entry ${seq} of the log is missing: ${how}`);
}

/** The changes of a turn cannot be inspected, although they must be. This ends the turn. */
export class Uninspectable extends Error {}

/** The variable with which an agent reaches its tools over HTTP; the secret of its attempt is the token. */
export const MCP_URL_VARIABLE = 'BATON_MCP_URL';
