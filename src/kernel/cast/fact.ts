// The facts of a cast. A kind keeps its meaning for ever once it is released.
import type { Capabilities } from '../capabilities.ts';
import type { Code } from '../codes.ts';
import type { Handoff } from '../dialect.ts';
import type { EdgeCondition, Rules, Script } from '../graph/config.ts';
import type { Json, JsonObject } from '../json.ts';
import type { TaskSpec } from '../ledger/state.ts';
import type { Progress, UnfinishedLoop } from '../report/status.ts';
import type { Attestation, EnvelopeNote } from '../trust/state.ts';
import type { Denied } from '../verdict.ts';
import type {
  AgentNote,
  Answered,
  Item,
  ItemDiff,
  ParkedWork,
  Postponed,
  PostponedTurn,
  ReportNote,
  ResumePoint,
  ReworkNote,
  Session,
  SpentEdge,
  TurnCheck,
  Usage,
} from './state.ts';

/** One change of the cast's data: the value at a dot path, or its removal where there is no value. A `key` is taken whole. */
export type DataChange =
  | { readonly path: string; readonly value?: Json }
  | { readonly key: string; readonly value: Json };

/** With the end of its running: how long the cast has run in all, where a driver measured it. */
type Stopped = { readonly elapsedMs?: number };

export type CastFact =
  | {
      readonly kind: 'cast.started';
      readonly cast: string;
      readonly request: string;
      readonly loadout: string;
      readonly rules: Rules;
      readonly script: Script | null;
      readonly data: JsonObject;
      /** The id by which packets and results name the run; else the cast's own. */
      readonly runId?: string;
      /** The folder in which the cast works, by its name in locks; else the workspace itself. */
      readonly root?: string;
      /** What dialects and runners can do in this cast; the tables of 0.1.0 where it is absent. */
      readonly capabilities?: Capabilities;
      /** The quest that it does. */
      readonly quest?: string;
    }
  /**
   * The items of a list are tasks from now on, or a turn without an item is one. Rows repeat of the common specification
   * only what differs; without a specification the tasks are in the ledger already.
   */
  | {
      readonly kind: 'items.planned';
      readonly cast: string;
      readonly cursor: string | null;
      readonly tasks: readonly string[];
      readonly spec: TaskSpec | null;
      readonly rows: readonly Partial<TaskSpec>[];
    }
  /** The orchestrator names the run otherwise in its packets; its agents will too. */
  | { readonly kind: 'run.named'; readonly cast: string; readonly runId: string }
  | { readonly kind: 'lanes.opened'; readonly cast: string; readonly loop: string; readonly entry: string }
  /** Nothing of the loop is in progress and nothing can start yet. */
  | ({ readonly kind: 'lanes.held'; readonly cast: string; readonly loop: string } & Postponed)
  | {
      readonly kind: 'turn.started';
      readonly cast: string;
      readonly turn: number;
      readonly socket: string;
      readonly visit: number;
      readonly item: Item | null;
      readonly budgeted: boolean;
      readonly lane?: string;
      /** The worktree of its own in which the item walks from now on. */
      readonly place?: number;
      readonly task?: string;
      /** The scripted turn it plays, set where several begin at once: their order must not depend on who is ready first. */
      readonly script?: { readonly key: string; readonly index: number };
    }
  /** A gate postponed the start. It is tried again when its cause has changed. */
  | ({ readonly kind: 'turn.held'; readonly cast: string; readonly turn: number } & PostponedTurn)
  | { readonly kind: 'turn.freed'; readonly cast: string; readonly turn: number }
  /** The agent kept its contract and reports that it cannot go on. Nothing is handed on. */
  | {
      readonly kind: 'turn.blocked';
      readonly cast: string;
      readonly turn: number;
      readonly attempt: number;
      readonly output: string;
      readonly usage: Usage;
      readonly code: Code;
      readonly reason: string;
      readonly touched?: Touched;
      readonly agent?: AgentNote;
      /** The task that was made for it, so that the ledger shows the gap. */
      readonly task?: string;
    }
  /** The agent kept its contract and is not finished: it goes on, asks a person, or wants permission. Nothing is handed on. */
  | ({
      readonly kind: 'turn.reported';
      readonly cast: string;
      readonly turn: number;
      readonly attempt: number;
      readonly outcome: 'continue' | 'ask' | 'approval';
      readonly output: string;
      readonly payload: Json;
      readonly note: string;
      readonly usage: Usage;
      readonly progress: Progress;
      /** The permission it waits for, and until when that can be given. */
      readonly approval?: string;
      readonly until?: number;
    } & OutputExtras)
  /** A person's answer, or a decision about a permission. The agent is set to work again. */
  | {
      readonly kind: 'turn.answered';
      readonly cast: string;
      readonly turn: number;
      readonly from: 'person' | 'runtime';
      readonly text: string;
      /** What the agent had reported, where it could not go on. */
      readonly to?: string;
      /** The script it was taken from. */
      readonly script?: string;
      /** It ends the conversation: the agent is asked for its final answer. */
      readonly finalizes?: true;
    }
  /** What a person says to a cast that goes on: the next brief of an agent holds it. */
  | {
      readonly kind: 'cast.said';
      readonly cast: string;
      readonly item: string | null;
      readonly text: string;
      /** The turns whose agents are interrupted for it. */
      readonly interrupts?: readonly number[];
    }
  /** What the report of an agent says about the goal as a whole. */
  | {
      readonly kind: 'report.noted';
      readonly cast: string;
      readonly turn: number;
      readonly note: ReportNote;
      /** Parts of the report that could not be taken as they were. */
      readonly warnings?: readonly string[];
    }
  /** The walk of one item through the lanes is over. */
  | { readonly kind: 'lane.ended'; readonly cast: string; readonly turn: number; readonly item: string | null }
  | {
      readonly kind: 'attempt.started';
      readonly cast: string;
      readonly turn: number;
      readonly attempt: number;
      readonly brief: string;
      readonly script: { readonly key: string; readonly index: number } | null;
      readonly reserved: number;
      /** The seal of the workspace when the turn began. */
      readonly seal?: string;
      /** The fence of the task's claim. */
      readonly fence?: number;
      /** Who speaks, as it was established. Absent where trust is off. */
      readonly attestation?: Attestation;
      /** What the agent before handed over; absent for the first one. */
      readonly envelope?: EnvelopeNote;
      /** The INPUT envelope, in dialects that have one. */
      readonly input?: JsonObject;
      /** Words of a person that came meanwhile and are in this brief. */
      readonly told?: readonly string[];
      /**
       * The conversation of an earlier turn that this one goes on with, because it is rework. Null where the turn leaves its
       * conversation: the files that it speaks of were put back.
       */
      readonly session?: Session | null;
    }
  | ({
      /** The output kept its contract. The changes of the turn are verified before it is accepted. */
      readonly kind: 'attempt.answered';
      readonly cast: string;
      readonly turn: number;
      readonly attempt: number;
    } & Answered)
  | {
      readonly kind: 'attempt.refused';
      readonly cast: string;
      readonly turn: number;
      readonly attempt: number;
      readonly output: string;
      readonly usage: Usage;
      readonly verdict: Denied;
      readonly repair: boolean;
      /** Only the loop of the agent is not finished: it goes on, and no repair is counted. */
      readonly loop?: UnfinishedLoop;
      readonly changes?: readonly DataChange[];
      readonly agent?: AgentNote;
      readonly touched?: Touched;
    }
  | {
      readonly kind: 'attempt.failed';
      readonly cast: string;
      readonly turn: number;
      readonly attempt: number;
      readonly fault: Fault;
      readonly code: string;
      readonly reason: string;
      readonly usage: Usage;
      readonly again: boolean;
      /** It is unknown whether it did its work, and it must not run twice: a person decides. */
      readonly isUnknown?: true;
      /** What went wrong, more exactly than the code by which the cast would fail. */
      readonly cause?: Code;
      readonly agent?: AgentNote;
      /** The next attempt goes to another choice of the materia's list, by its index. */
      readonly choice?: number;
      /** The next attempt gets a brief of at most so many bytes, because this one was too long. */
      readonly briefBytesMax?: number;
      /** The next attempt begins a new conversation. */
      readonly forgetsSession?: boolean;
      /** The next attempt is owed at this time and not before. */
      readonly until?: number;
      /** The last words of the agent or of its program, without secrets. */
      readonly said?: string;
      /** How often the attempt asked its provider, where it asked more than once. */
      readonly tries?: number;
    }
  /** The turn is a person's: it waits for `baton answer`. */
  | { readonly kind: 'turn.asked'; readonly cast: string; readonly turn: number; readonly attempt: number }
  /** The turn waits: for what, in words, and until when at the latest. `other` is the cast whose end it waits for. */
  | {
      readonly kind: 'wait.begun';
      readonly cast: string;
      readonly turn: number;
      readonly attempt: number;
      readonly what: 'time' | 'command' | 'cast';
      readonly words: string;
      readonly until: number;
      readonly other?: string;
    }
  /** What was looked at is not there yet, and looks different from before. */
  | {
      readonly kind: 'wait.seen';
      readonly cast: string;
      readonly turn: number;
      readonly attempt: number;
      readonly found: string;
    }
  /** `met` is null where a person lets it begin over. */
  | {
      readonly kind: 'wait.ended';
      readonly cast: string;
      readonly turn: number;
      readonly attempt: number;
      readonly met: boolean | null;
      readonly by: 'clock' | 'probe' | 'person';
      readonly reason: string;
    }
  | {
      readonly kind: 'attempt.lost';
      readonly cast: string;
      readonly turn: number;
      readonly attempt: number;
      readonly reason: string;
    }
  /** A person has interrupted the agent. It goes on with the work it has done, and with the words of the person. */
  | {
      readonly kind: 'attempt.interrupted';
      readonly cast: string;
      readonly turn: number;
      readonly attempt: number;
      readonly usage: Usage;
      readonly agent?: AgentNote;
    }
  /** The usage of an attempt that was stopped or cut off and so has no outcome. */
  | {
      readonly kind: 'attempt.spent';
      readonly cast: string;
      readonly turn: number;
      readonly attempt: number;
      readonly usage: Usage;
      readonly agent?: AgentNote;
    }
  | {
      readonly kind: 'turn.unknown';
      readonly cast: string;
      readonly turn: number;
      readonly attempt: number;
      readonly reason: string;
    }
  | {
      readonly kind: 'turn.decided';
      readonly cast: string;
      readonly turn: number;
      readonly choice: 'rerun' | 'accept' | 'fail';
      readonly reason: string;
    }
  | {
      readonly kind: 'turn.accepted';
      readonly cast: string;
      readonly turn: number;
      readonly attempt: number;
      /** Where it was, for those who read this fact alone. */
      readonly socket?: string;
      /** The key of its item. */
      readonly item?: string;
      readonly output: string;
      readonly handoff: Handoff;
      readonly usage: Usage;
      readonly truncated?: boolean;
      /** The kinds of secrets that were taken out of the output before it was stored. */
      readonly scrubbed?: readonly string[];
      readonly changes: readonly DataChange[];
      readonly context?: string;
      readonly touched?: Touched;
      readonly agent?: AgentNote;
      /** What the checkers of the configuration found, where the turn may write and changed files. */
      readonly checks?: readonly TurnCheck[];
      /** What was changed for its item so far. */
      readonly diff?: ItemDiff;
    }
  /** What an accepted output contained besides its handoff. */
  | {
      readonly kind: 'event.emitted';
      readonly cast: string;
      readonly turn: number;
      readonly socket: string;
      readonly item: string | null;
      /** Counts the events of the cast, from 1. */
      readonly sequence: number;
      readonly type: string;
      readonly severity: 'debug' | 'info' | 'warning' | 'error' | 'critical';
      readonly message?: string;
      readonly payload?: JsonObject;
      /** What else it held, such as its source. */
      readonly more?: JsonObject;
    }
  /** The work of the item is merged into the cast's branch before the item is over. */
  | { readonly kind: 'merge.awaited'; readonly cast: string; readonly turn: number }
  | {
      readonly kind: 'turn.merged';
      readonly cast: string;
      readonly turn: number;
      readonly attempt: number;
      /** The last commit of the cast's branch with it; null where there was nothing to merge. */
      readonly commit: string | null;
    }
  /** Others changed the same since the item began; nothing was merged. */
  | {
      readonly kind: 'merge.refused';
      readonly cast: string;
      readonly turn: number;
      readonly attempt: number;
      readonly reason: string;
      readonly files: readonly string[];
    }
  /** `sealed`: what was seen before its first attempt still counts, so that a stray change is not forgiven by trying again. */
  | { readonly kind: 'turn.reopened'; readonly cast: string; readonly turn: number; readonly sealed?: true }
  | { readonly kind: 'turn.dropped'; readonly cast: string; readonly turn: number }
  | {
      readonly kind: 'cursor.advanced';
      readonly cast: string;
      readonly turn: number;
      readonly cursor: string;
      readonly to: number;
      readonly item: string | null;
      readonly exhausted: boolean;
    }
  | { readonly kind: 'cursor.reset'; readonly cast: string; readonly cursor: string; readonly loop: string }
  | {
      readonly kind: 'edge.taken';
      readonly cast: string;
      readonly turn: number;
      readonly from: string;
      readonly to: string;
      readonly when: EdgeCondition;
      readonly item: string | null;
      readonly counts?: string;
      readonly settles?: string;
      /** The loop with lanes that is over, because the last item in it took this edge out of it. */
      readonly leaves?: string;
    }
  /** The edge was taken as often as it may be, and a person is asked. The turn keeps its handoff and stays before the edge. */
  | {
      readonly kind: 'edge.spent';
      readonly cast: string;
      readonly turn: number;
      readonly from: string;
      readonly to: string;
      readonly item: string | null;
      readonly key: string;
      readonly count: number;
      readonly limit: number;
      readonly reason: string;
    }
  /** A person lets a spent edge be taken so many times more. */
  | {
      readonly kind: 'edge.extended';
      readonly cast: string;
      readonly turn: number;
      readonly key: string;
      readonly more: number;
    }
  /** What was done for an item is taken out of the worktree before the item is parked. */
  | { readonly kind: 'park.awaited'; readonly cast: string; readonly turn: number }
  /** An item is put off until a person decides, because an edge was taken as often as it may be for it. */
  | {
      readonly kind: 'item.parked';
      readonly cast: string;
      readonly turn: number;
      readonly item: Item;
      readonly task: string;
      readonly lane: string | null;
      readonly edge: SpentEdge;
      readonly count: number;
      /** The last rejection. */
      readonly note: string;
      readonly kept?: ParkedWork;
    }
  /** The item is worked on again: the edge gets its traversals again, and the cursor returns to it. */
  | { readonly kind: 'item.retried'; readonly cast: string; readonly task: string }
  | { readonly kind: 'item.dropped'; readonly cast: string; readonly task: string; readonly reason: string }
  | {
      readonly kind: 'exit.taken';
      readonly cast: string;
      readonly turn: number | null;
      readonly loop: string | null;
      readonly route: string | null;
      readonly from: string;
      readonly to: string;
      readonly empty: boolean;
      readonly settles?: string;
      /** What the streams of the loop came to. */
      readonly changes?: readonly DataChange[];
    }
  | { readonly kind: 'rework.noted'; readonly cast: string; readonly note: ReworkNote }
  | { readonly kind: 'rework.cleared'; readonly cast: string; readonly from: string; readonly item: string | null }
  | { readonly kind: 'budget.warned'; readonly cast: string; readonly usage: Usage; readonly percent: number }
  | {
      readonly kind: 'budget.changed';
      readonly cast: string;
      readonly maxTokens: number | null;
      readonly maxCost: number | null;
      readonly maxDurationMs: number | null;
    }
  | ({ readonly kind: 'cast.completed'; readonly cast: string } & Stopped)
  | ({
      readonly kind: 'cast.failed';
      readonly cast: string;
      readonly code: string;
      readonly reason: string;
      readonly details: JsonObject;
      readonly turn: number | null;
      readonly stand: ResumePoint | null;
    } & Stopped)
  | ({
      readonly kind: 'cast.waiting';
      readonly cast: string;
      readonly code: string;
      readonly reason: string;
      /** The end of the permission it waits for. */
      readonly until?: number;
    } & Stopped)
  | ({ readonly kind: 'cast.aborted'; readonly cast: string; readonly reason: string } & Stopped)
  | ({ readonly kind: 'cast.paused'; readonly cast: string; readonly reason: string } & Stopped)
  | { readonly kind: 'cast.resumed'; readonly cast: string; readonly reason: string }
  /** The process that drove it is gone, and another has taken it over: what was in progress, and how it was judged. */
  | {
      readonly kind: 'cast.recovered';
      readonly cast: string;
      readonly driver: { readonly host: string; readonly pid: number };
      readonly tasks: readonly Judged[];
    }
  | {
      readonly kind: 'cast.recast';
      readonly cast: string;
      readonly extends?: { readonly key: string; readonly by: number };
    };

/** The files that were changed while a turn ran: the digest of each, null where it is gone. */
export type Touched = Readonly<Record<string, string | null>>;

/** What accompanies an answer. */
type OutputExtras = {
  readonly scrubbed?: readonly string[];
  readonly touched?: Touched;
  readonly agent?: AgentNote;
};

/** How an attempt can end without an answer. A `refused` one is not tried again as it is. */
export type Fault = 'crash' | 'timeout' | 'transport' | 'unscripted' | 'utility' | 'refused';

/** The judgement about a task that was in progress when its cast was taken over. Times are in milliseconds. */
export type Judged = {
  readonly task: string;
  readonly owner: string;
  readonly fence: number | null;
  /** The turn that works on it. */
  readonly turn: number | null;
  readonly lastHeartbeatAt: number;
  readonly timeoutS: number;
  readonly silentS: number;
  readonly judged: 'alive' | 'timed_out';
  readonly why: string;
};
