// The store of a workspace, opened as far as it is needed. Reading goes straight to the log; the rules and dialects are loaded
// when something is decided or driven, so that a short command starts fast.

import type { LocalStore } from '../engine/local-store.ts';
import { type Log, missingEntry, type Query } from '../engine/ports.ts';
import type { StateAtHead } from '../engine/state-at-head.ts';
import {
  type CallsOf,
  type CastChange,
  type FollowQuery,
  followEntries,
  type Leases,
  type Store,
  type Submitter,
  type Views,
} from '../engine/store.ts';
import type { Cast } from '../kernel/cast/state.ts';
import type { Entry } from '../kernel/fact.ts';
import type { Request } from '../kernel/input.ts';
import type { Ledger } from '../kernel/ledger/state.ts';
import type { Quests } from '../kernel/quest/state.ts';
import type { Verdict } from '../kernel/verdict.ts';
import { SqliteLog } from '../log/sqlite/log.ts';
import { logFileIn } from '../log/sqlite/open.ts';

/** The store of the workspace in `dir`, whose log is this file. */
export function openStore(file: string, dir: string): WorkspaceStore {
  return new WorkspaceStore(SqliteLog.open(file), dir);
}

export class WorkspaceStore implements Store {
  readonly #log: Log;
  readonly #dir: string;
  readonly #views: CallsOf<Views>;
  readonly #closed = new AbortController();
  /** Streams look again after what was appended here. */
  readonly #streams = new Set<() => void>();
  #local: Promise<LocalStore> | null = null;
  #here: Promise<StateAtHead> | null = null;
  #isWhole = false;

  /** `dir` is the folder of the workspace. */
  constructor(log: Log, dir: string) {
    this.#log = log;
    this.#dir = dir;
    this.#views = {
      cast: (id) => this.#castOf(id),
      // A copy of all of it. Its cost grows with the ledger: `look` is for those who need little of it.
      ledger: (run) => this.look((ledger) => JSON.parse(JSON.stringify(ledger)) as Ledger, run),
      casts: (query) => this.#whole().then(() => log.casts(query)),
      castCount: () => log.castCount(),
      head: () => log.head(),
      driver: async (cast) => (await import('../engine/lease.ts')).drivingIn(log, cast, Date.now()),
      lost: async (cast) => (await this.#decides()).view('lost', cast),
      outages: async (now) => (await import('../engine/runner-register.ts')).outagesIn(log, now),
      beats: async () => (await import('../engine/heartbeat.ts')).beats(log),
      sinks: async () => (await import('../engine/sink-register.ts')).sinksIn(log),
      quests: () => this.#quests(),
      approvals: async () => (await import('../approvals/open-approvals.ts')).approvalsIn(log),
      knowledge: async () => (await import('./at-head.ts')).knowledgeIn(log),
      workspace: async () => (await import('./at-head.ts')).workspaceStatus(log),
    };
  }

  async submit(request: Request, actor: Submitter): Promise<Verdict> {
    const verdict = await (await this.#decides()).submit(request, actor);
    for (const wake of this.#streams) wake();
    return verdict;
  }

  read(query: Query): Promise<readonly Entry[]> {
    return this.#log.read(query);
  }

  async view<K extends keyof Views>(name: K, ...about: Parameters<Views[K]>): Promise<ReturnType<Views[K]>> {
    return this.#views[name](...about);
  }

  async lease<K extends keyof Leases>(act: K, ...about: Parameters<Leases[K]>): Promise<ReturnType<Leases[K]>> {
    return (await this.#decides()).lease(act, ...about);
  }

  /**
   * For what needs the log as it is stored: audit and checkpoints, erasure, texts by digest, files that are written in its order,
   * and signs of life, which no rule decides.
   */
  asStored<T>(work: (log: Log) => Promise<T>): Promise<T> {
    return work(this.#log);
  }

  follow(query: FollowQuery): AsyncGenerator<readonly Entry[], void, void> {
    return followEntries(this, this.#closed.signal, query);
  }

  async watchCast(cast: string, withEntries: boolean, listener: (change: CastChange) => void): Promise<() => void> {
    return (await this.#decides()).watchCast(cast, withEntries, listener);
  }

  /**
   * What `look` finds in the ledger at the head of the log. Only the tasks and runs that it asks for are read. It must not
   * keep or change anything of the ledger. A run in which nothing is open any more is there when it is named.
   */
  async look<T>(look: (ledger: Ledger) => T, run?: string): Promise<T> {
    if (this.#local) return (await this.#local).look(({ ledger }) => look(ledger), run);
    return (await this.#state()).look(({ ledger }) => look(ledger), run);
  }

  async #quests(): Promise<Quests> {
    if (this.#local) return (await this.#local).view('quests');
    return (await this.#state()).look(({ quests }) => structuredClone(quests));
  }

  async close(): Promise<void> {
    this.#closed.abort();
    if (this.#local) await (await this.#local).close();
    else await this.#log.close();
  }

  /** The cast as its own facts tell it. */
  async #castOf(id: string): Promise<Cast | null> {
    await this.#whole();
    const [{ apply }, { emptyState }] = await Promise.all([import('../kernel/apply.ts'), import('../kernel/state.ts')]);
    const state = emptyState();
    for (const entry of await this.read({ after: 0, cast: id })) apply(state, entry);
    return state.casts[id] ?? null;
  }

  watch(changed: () => void): () => void {
    const unwatch = this.#log.watch(changed);
    this.#streams.add(changed);
    return () => {
      this.#streams.delete(changed);
      unwatch();
    };
  }

  /** Facts are looked at one by one here. Where one is missing, the answer would be wrong, so none is given. */
  async #whole(): Promise<void> {
    if (this.#isWhole) return;
    const gap = await this.#log.firstGap();
    if (gap !== null) throw missingEntry(gap);
    this.#isWhole = true;
  }

  #decides(): Promise<LocalStore> {
    this.#local ??= this.#state().then((here) => openLocal(this.#log, this.#dir, here));
    return this.#local;
  }

  /** Kept for the next question: then only what was appended since is read. */
  #state(): Promise<StateAtHead> {
    this.#here ??= import('../engine/state-at-head.ts').then(({ StateAtHead }) => new StateAtHead(this.#log));
    return this.#here;
  }
}

/** The log in a state folder, for as long as `work` takes. */
export async function withLogIn<T>(stateDir: string, work: (log: Log) => Promise<T>): Promise<T> {
  const log = SqliteLog.open(logFileIn(stateDir));
  try {
    return await work(log);
  } finally {
    await log.close();
  }
}

async function openLocal(log: Log, dir: string, here: StateAtHead): Promise<LocalStore> {
  const [{ Decider }, { LocalStore }, { dialects }, { findLinksBelow }] = await Promise.all([
    import('../engine/decider.ts'),
    import('../engine/local-store.ts'),
    import('../dialects/index.ts'),
    import('../workspace/find-links.ts'),
  ]);
  const findLinks = findLinksBelow(dir);
  return new LocalStore(await Decider.open(log, dialects, { findLinks, here, isShared: true }));
}
