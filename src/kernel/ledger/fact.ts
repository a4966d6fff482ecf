// What can be asked of the ledger, what happened to it, and the pen that writes it down. Payloads are valid before they come here.
import type { Code } from '../codes.ts';
import { isObject, isString, type JsonObject } from '../json.ts';
import { type Denied, deny } from '../verdict.ts';
import type { Lock } from './lock-tree.ts';
import type { Links } from './path.ts';
import type { Ledger, Task, TaskSpec, TaskStatus } from './state.ts';

/** Who moves a task by hand. Without a word about it, a move with a fence is an agent's and one without a person's. */
export type Requester = 'person' | 'agent' | 'engine';

/** What a checker found out about one criterion. */
export type Check = { readonly pass: boolean; readonly found: string };

/** Says that an agent asks. The skin knows who acts and passes it along; a name says nothing about it. */
type FromAgent = { readonly isAgent?: boolean };

export type LedgerRequest =
  | (FromAgent & {
      readonly kind: 'task.create';
      readonly packet: JsonObject;
      /** Where the paths of the task lie; the workspace itself by default. */
      readonly root?: string;
      readonly retriesMax?: number;
      /** Paths that are forbidden whatever the packet says. */
      readonly forbidden?: readonly string[];
      /** Whether a task in todo or blocked may be assigned again. */
      readonly reassigns?: boolean;
    })
  | (FromAgent & {
      readonly kind: 'task.claim';
      readonly run?: string;
      readonly task: string;
      readonly owner: string;
      readonly expectedVersion?: number;
    })
  /** Finds the best task that can start now, and claims it. */
  | (FromAgent & { readonly kind: 'task.next'; readonly run?: string; readonly owner: string })
  | {
      readonly kind: 'task.finish';
      readonly run?: string;
      readonly task: string;
      readonly fence: number;
      readonly result: JsonObject;
      /** The paths that were changed indeed. */
      readonly changes?: readonly string[];
      /** By criterion. */
      readonly checks?: Readonly<Record<string, Check>>;
    }
  | {
      readonly kind: 'task.move';
      readonly run?: string;
      readonly task: string;
      readonly to: TaskStatus;
      readonly reason: string;
      readonly code?: Code;
      readonly expectedVersion?: number;
      readonly fence?: number;
      readonly actor?: Requester;
      /** Who the person is who moves it. */
      readonly by?: string;
      /** Whose task it is when it moves to `in_progress`. */
      readonly owner?: string;
    }
  /** The owner is silent, or is known to be gone. Times are in milliseconds. */
  | {
      readonly kind: 'task.expire';
      readonly run?: string;
      readonly task: string;
      /** The newest sign of life that the requester knows of. The keeper of the heartbeats may know a newer one. */
      readonly lastHeartbeatAt: number | null;
      readonly why: 'silent' | 'gone';
      /** The claim that was looked at; a task that was claimed again since is another matter. */
      readonly fence?: number;
      /** What was seen of the owner, in words: that its process is gone, or runs and does nothing. */
      readonly observed?: string;
    }
  /** A sign of life whose token is not the one that is kept for it. */
  | {
      readonly kind: 'task.heartbeat';
      readonly run?: string;
      readonly task: string;
      readonly owner: string;
      readonly fence: number;
    }
  /** A payload about a task was refused before it came to the ledger's rules; that it was is written down. */
  | {
      readonly kind: 'task.refuse';
      readonly run?: string;
      readonly task: string;
      readonly asked: RequestKind;
      readonly refusal: Denied;
    }
  | (FromAgent & {
      readonly kind: 'deltas.apply';
      readonly run: string;
      readonly stream: readonly JsonObject[];
      /** By task id, the version of the row from which the stream was computed. */
      readonly baseVersions?: Readonly<Record<string, number>>;
      /** The blockers that came with the stream; a task that it blocks has its code there. */
      readonly blockers?: readonly JsonObject[];
    })
  | {
      readonly kind: 'worklog.add';
      readonly run?: string;
      readonly task: string;
      readonly entry: JsonObject;
      readonly by: string;
      /** The claim under which the entry is written; it must not be over. */
      readonly fence?: number;
      /** Who writes, where it is known to be an agent: then a task in progress asks for the fence. */
      readonly actor?: Requester;
    }
  /** Whether paths that differ in capitals only are the same, as on the disks of most laptops. */
  | { readonly kind: 'ledger.configure'; readonly foldCase: boolean }
  /** The links below a root that were found on the way of claimed paths, all of them. */
  | { readonly kind: 'ledger.link'; readonly root: string; readonly links: Links }
  | { readonly kind: 'ledger.hold'; readonly by: string; readonly reason: string }
  | { readonly kind: 'ledger.unhold'; readonly by: string; readonly reason: string };

export type RequestOf<K extends LedgerRequest['kind']> = Extract<LedgerRequest, { kind: K }>;

/** What was asked for when a task was refused. */
export type RequestKind =
  | 'create'
  | 'claim'
  /** A search for a task; the one that came closest is named, if there was any. */
  | 'next'
  | 'finish'
  | 'move'
  | 'heartbeat'
  | 'expire'
  | 'worklog'
  | 'deltas'
  | 'write'
  /** Whether ledger, locks and events agree; about no task. */
  | 'reconcile';

export type LedgerFact =
  /** A row was made, or a row that a delta had made got its assignment. */
  | {
      readonly kind: 'task.created';
      readonly run: string;
      readonly task: string;
      readonly owner: string;
      readonly reason: string;
      readonly notBefore: number | null;
      readonly spec: TaskSpec;
      /** No task of the run was open before. A state that dropped the run has to read it again first. */
      readonly reopens?: true;
    }
  | {
      readonly kind: 'task.claimed';
      readonly run: string;
      readonly task: string;
      readonly owner: string;
      readonly fence: number;
      /** The token of an earlier claim that this one takes the place of. */
      readonly replaces?: number;
      readonly locks: readonly Lock[];
    }
  /** A replay says a final status again and changes nothing. The same open status again changes the other fields. */
  | {
      readonly kind: 'task.moved';
      readonly run: string;
      readonly task: string;
      readonly from: TaskStatus;
      readonly to: TaskStatus;
      readonly owner: string;
      readonly code: Code | null;
      readonly reason: string;
      readonly replay: boolean;
      readonly releases: boolean;
      /** The token of the claim that ends here. */
      readonly fence?: number;
      readonly retries: number;
      readonly notBefore: number | null;
      /** What the move rests on: a result with the checks of its claims, or the silence that was observed. */
      readonly evidence: JsonObject | null;
    }
  | {
      readonly kind: 'task.refused';
      readonly run: string;
      readonly task: string;
      readonly asked: RequestKind;
      readonly code: Code;
      readonly reason: string;
      readonly details: JsonObject;
    }
  | {
      readonly kind: 'worklog.added';
      readonly run: string;
      readonly task: string;
      readonly by: string;
      readonly entry: JsonObject;
    }
  | { readonly kind: 'deltas.applied'; readonly run: string; readonly deltas: readonly JsonObject[] }
  | { readonly kind: 'ledger.configured'; readonly foldCase: boolean }
  /** The links that lead elsewhere on the way of claimed paths; they replace those known of this root. */
  | { readonly kind: 'ledger.linked'; readonly root: string; readonly links: Links }
  | { readonly kind: 'ledger.held'; readonly by: string; readonly reason: string }
  | { readonly kind: 'ledger.unheld'; readonly by: string; readonly reason: string };

const LEDGER_FACT = /^(?:task|worklog|deltas|ledger)\./;

/** The first word of a kind says whose fact it is. */
export function isLedgerFact(fact: { readonly kind: string }): fact is LedgerFact {
  return LEDGER_FACT.test(fact.kind);
}

/** Whether a run holds together. */
export type Soundness = (run: string) => boolean;

export type LedgerPen = {
  readonly ledger: Ledger;
  readonly at: number;
  /** Which runs hold together, where the ledger at hand does not hold all of them. */
  readonly isSound?: Soundness;
  /** The cast whose run it is, where nothing of it runs; null for any other run. */
  stoppedRun?(run: string): StoppedRun | null;
  write(fact: LedgerFact): void;
};

/** Writes the refusal down, and answers with it. */
export function refuse(
  pen: LedgerPen,
  asked: RequestKind,
  name: { run?: string; task: string },
  given: Denied,
): Denied {
  const refusal = namingCast(given, (run) => pen.stoppedRun?.(run) ?? null);
  const { code, reason, details } = refusal;
  pen.write({ kind: 'task.refused', run: name.run ?? '', task: name.task, asked, code, reason, details });
  return refusal;
}

export function refuseTask(pen: LedgerPen, asked: RequestKind, { run, id }: Task, refusal: Denied): Denied {
  return refuse(pen, asked, { run, task: id }, refusal);
}

/** The status of a stopped cast, and since when, in milliseconds. */
export type StoppedRun = { readonly status: string; readonly since: number | null };

/** The command that gives back what a task of such a cast has claimed. */
export function freeing(run: string, task: string): string {
  return `baton task move ${task} blocked --run ${run} --reason "…"`;
}

/** The refusal with the cast of the holder, if that cast is stopped. */
export function namingCast(refusal: Denied, stopped: (run: string) => StoppedRun | null): Denied {
  const { holder } = refusal.details;
  if (refusal.code !== 'LOCK_CONFLICT' || !isObject(holder) || !isString(holder.run) || !isString(holder.task)) {
    return refusal;
  }
  const found = stopped(holder.run);
  if (!found || holder.cast !== undefined) return refusal;
  const { run, task } = holder;
  const free = freeing(run, task);
  const why = refusal.reason.replace(/(?:; wait until it is over)?\.$/, '');
  const reason = `${why}; cast ${run} is ${statusWords(found)}: carry it on with: baton continue ${run}, or free its paths with: ${free}`;
  const named = { ...holder, cast: run, status: found.status, since: stampOf(found), free };
  return deny(refusal.code, reason, { ...refusal.details, holder: named });
}

function statusWords(stopped: StoppedRun): string {
  const since = stampOf(stopped);
  return since === null ? stopped.status : `${stopped.status} since ${since}`;
}

function stampOf({ since }: StoppedRun): string | null {
  return since === null ? null : new Date(since).toISOString();
}
