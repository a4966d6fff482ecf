// What reaches the kernel: a request of a person, an agent's answer, the passing of time. The caller brings the time, the
// identity and every new id.
import type { ApprovalRequest, SealedRequest } from './approval/request.ts';
import type { Capabilities } from './capabilities.ts';
import type { Fault, Touched } from './cast/fact.ts';
import type { AgentNote, ItemDiff, ParkedWork, TurnCheck, Usage } from './cast/state.ts';
import type { Code } from './codes.ts';
import type { SinkRequest } from './event.ts';
import type { Rules, Script } from './graph/config.ts';
import { isObject, isString, type JsonObject } from './json.ts';
import type { Artifacts } from './knowledge/entries.ts';
import type { KnowledgeRequest } from './knowledge/state.ts';
import type { Check, LedgerRequest } from './ledger/fact.ts';
import type { ForQuest } from './quest/decide.ts';
import type { QuestRequest } from './quest/state.ts';
import type { Sighting, TrustRequest } from './trust/state.ts';

export type Input = {
  readonly at: number;
  /** What the clock says, where the log is far ahead of it: then things are judged and dated by it. */
  readonly clock?: number;
  /** How long the cast ran since the last input of its driver that was recorded. Only a driver's inputs carry it. */
  readonly ranMs?: number;
  readonly by: string;
  /** Of the ids the request wants to use for the only time: those that are used, and the entries that used them. */
  readonly used?: Readonly<Record<string, number>>;
} & Request;

export type Request =
  | CastRequest
  | TrustRequest
  | ApprovalRequest
  | KnowledgeRequest
  | QuestRequest
  | SinkRequest
  | Unsigned<LedgerRequest>;

/** The requester, once for every request. */
type Unsigned<T> = T extends { readonly by: string } ? Omit<T, 'by'> : T;

export type CastRequest =
  | {
      readonly kind: 'cast.start';
      readonly cast: string;
      readonly request: string;
      readonly loadout: string;
      readonly rules: Rules;
      readonly script: Script | null;
      readonly data?: JsonObject;
      /** The id by which packets and results name the run: a UUID. */
      readonly runId?: string;
      /** The folder in which the cast works, where it is not the workspace itself. */
      readonly root?: string;
      /** What dialects and runners can do, frozen into the cast. */
      readonly capabilities?: Capabilities;
      /** The quest that it does. */
      readonly quest?: ForQuest;
    }
  /** The bytes are read, the place is ready: the turn may be dispatched if the gates agree. */
  | {
      readonly kind: 'turn.prepared';
      readonly cast: string;
      readonly turn: number;
      readonly attempt: number;
      /** The seal of the workspace before the turn, where it is to be compared afterwards. */
      readonly seal?: string;
      /** What was established about its agent, where it is to be attested. */
      readonly trust?: Sighting;
      /** Where an attempt went before: what it changed of the files by which agent programs take orders. */
      readonly orders?: Touched;
      /** Why its changes cannot be inspected, where they have to be. */
      readonly unseen?: string;
      /** Files in which work that was merged back clashes with what others did since. */
      readonly clashes?: readonly string[];
    }
  | {
      readonly kind: 'attempt.output';
      readonly cast: string;
      readonly turn: number;
      readonly attempt: number;
      readonly output: string;
      readonly usage?: Usage;
      readonly truncated?: boolean;
      /** The provider of its model ended the answer before it was whole. */
      readonly cutShort?: boolean;
      readonly agent?: AgentNote;
    }
  | {
      readonly kind: 'attempt.failed';
      readonly cast: string;
      readonly turn: number;
      readonly attempt: number;
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
      /** How often it asked its provider; once where it is absent. */
      readonly tries?: number;
    }
  /** The attempt was cut off by a crash and left no answer. */
  | {
      readonly kind: 'attempt.lost';
      readonly cast: string;
      readonly turn: number;
      readonly attempt: number;
      readonly mayHaveRun: boolean;
      readonly reason: string;
      readonly usage?: Usage;
      readonly agent?: AgentNote;
    }
  /** The attempt was ended because a person has something to say to its agent. */
  | {
      readonly kind: 'attempt.interrupted';
      readonly cast: string;
      readonly turn: number;
      readonly attempt: number;
      readonly usage?: Usage;
      readonly agent?: AgentNote;
    }
  /** The attempt was stopped, or its outcome came too late to be taken: what it had used by then. */
  | {
      readonly kind: 'attempt.spent';
      readonly cast: string;
      readonly turn: number;
      readonly attempt: number;
      readonly usage: Usage;
      readonly agent?: AgentNote;
    }
  | {
      readonly kind: 'turn.verified';
      readonly cast: string;
      readonly turn: number;
      readonly attempt: number;
      readonly seal: string;
      /** What was changed while the turn ran: the digest of each path, null where it is gone. */
      readonly changes?: Readonly<Record<string, string | null>>;
      /** By path, why what was left there can be in no commit. */
      readonly unkept?: Readonly<Record<string, string>>;
      /** What was changed in the main checkout while the turn ran in a worktree. */
      readonly main?: MainChanges;
      /** What the checkers found out, by criterion. */
      readonly checks?: Readonly<Record<string, Check>>;
      /** What the checkers found that run after each turn that changes files, and the diff of its item. */
      readonly turnChecks?: readonly TurnCheck[];
      readonly diff?: ItemDiff;
      /** What the agent wants permission for, sealed. */
      readonly approval?: SealedRequest | null;
      /** The files that the report names as evidence, by their paths. */
      readonly artifacts?: Artifacts;
      readonly unseen?: string;
    }
  /** What was seen of what a turn waits for; `met` is null where that may still come. */
  | {
      readonly kind: 'wait.probed';
      readonly cast: string;
      readonly turn: number;
      readonly attempt: number;
      readonly met: boolean | null;
      readonly reason: string;
    }
  /** What became of the merge that was owed. */
  | {
      readonly kind: 'turn.merged';
      readonly cast: string;
      readonly turn: number;
      readonly attempt: number;
      readonly merge: MergeEnd;
    }
  /** What was done for the item of the turn is out of the worktree, and kept; null where nothing was done. */
  | {
      readonly kind: 'turn.parked';
      readonly cast: string;
      readonly turn: number;
      readonly attempt: number;
      readonly kept: ParkedWork | null;
    }
  | { readonly kind: 'item.retry'; readonly cast: string; readonly task: string; readonly note?: string }
  | {
      readonly kind: 'item.drop';
      readonly cast: string;
      readonly task: string;
      readonly reason: string;
      /** A person agreed to drop the tasks that depend on it as well. */
      readonly withDependents?: boolean;
    }
  | {
      readonly kind: 'turn.decide';
      readonly cast: string;
      readonly turn: number;
      readonly choice: 'rerun' | 'accept' | 'fail';
      readonly output?: string;
      readonly reason?: string;
    }
  /** What a person says in a turn of theirs; without a turn, in the only one that waits. */
  | { readonly kind: 'turn.answer'; readonly cast: string; readonly turn?: number; readonly output: string }
  /** A person says something to the agents of a cast, or to those who work on one item of it. */
  | {
      readonly kind: 'cast.say';
      readonly cast: string;
      readonly item: string | null;
      readonly text: string;
      /** The agents at work that it concerns are interrupted, where their runner can be. */
      readonly interrupt?: boolean;
    }
  /** A person ends the conversation with the agent of a turn: it is asked for its final answer. */
  | { readonly kind: 'turn.finish'; readonly cast: string; readonly turn?: number }
  /** `due` is the moment for which a timer was set and whose wait is over, whatever the clock says by now. */
  | { readonly kind: 'clock.rang'; readonly cast: string; readonly due?: number }
  | { readonly kind: 'cast.abort'; readonly cast: string; readonly reason: string }
  | { readonly kind: 'cast.pause'; readonly cast: string; readonly reason: string }
  | { readonly kind: 'cast.resume'; readonly cast: string; readonly reason: string }
  /** A process takes the cast over from one that is gone; what that one had in progress is judged first. */
  | {
      readonly kind: 'cast.recover';
      readonly cast: string;
      /** The process that is gone. */
      readonly driver: { readonly host: string; readonly pid: number };
      /** By task, the last sign of life of its owner, in milliseconds. The keeper of the heartbeats fills it in. */
      readonly heard?: Readonly<Record<string, number>>;
      /** By turn, what was found of the program that ran for it. */
      readonly seen?: Readonly<Record<number, 'running' | 'answered'>>;
    }
  | { readonly kind: 'cast.recast'; readonly cast: string }
  | { readonly kind: 'cast.revive'; readonly cast: string }
  | {
      readonly kind: 'budget.change';
      readonly cast: string;
      readonly maxTokens?: number;
      readonly maxCost?: number;
      readonly maxDurationMs?: number;
    };

/** How a merge ended: the branch's last commit, null where there was nothing to merge; or the files in conflict. */
export type MergeEnd =
  | { readonly ok: true; readonly commit: string | null }
  | { readonly ok: false; readonly reason: string; readonly files: readonly string[] };

/** The run that a request is about: that of its cast, the one it names, or the one its payload belongs to; null where it names none. */
export function runNamed(request: Request): string | null {
  if ('cast' in request) return request.cast;
  if ('run' in request && request.run !== undefined) return request.run;
  const payload = payloadOf(request);
  return isObject(payload) && isString(payload.run_id) ? payload.run_id : null;
}

function payloadOf(request: Exclude<Request, { cast: string }>): JsonObject | null {
  if (request.kind === 'task.create') return request.packet;
  if (request.kind === 'task.finish') return request.result;
  return request.kind === 'worklog.add' ? request.entry : null;
}

/** What changed in the main checkout while a turn ran in a worktree. */
export type MainChanges = {
  readonly dir: string;
  /** By path from `dir`, the digest; null where it is gone. */
  readonly changes: Readonly<Record<string, string | null>>;
};
