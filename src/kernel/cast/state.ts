// A cast and its turns, as the facts made them. The state is plain JSON, so a snapshot is its canonical text.
import type { CommandOutcomes, Undelivered } from '../approval/state.ts';
import type { Code } from '../codes.ts';
import type { Handoff } from '../dialect.ts';
import type { Condition, Rules, Script } from '../graph/config.ts';
import type { Json, JsonObject } from '../json.ts';
import type { PlanStatus, Progress } from '../report/status.ts';
import type { Attestation } from '../trust/state.ts';
import type { Denied } from '../verdict.ts';

export type CastStatus = 'running' | 'waiting' | 'paused' | 'completed' | 'failed' | 'aborted';

export type Cast = {
  readonly id: string;
  /** The id by which packets and results name the run of this cast. */
  runId: string;
  readonly request: string;
  readonly loadout: string;
  readonly rules: Rules;
  readonly script: Script | null;
  /** The folder in which the cast works, where it is not the workspace itself: locks of two folders never meet. */
  readonly root?: string;
  /** The quest that it does. */
  readonly quest?: string;
  status: CastStatus;
  code: string | null;
  reason: string;
  /** Where a stopped cast goes on, when that is not simply one of its turns. */
  stand: ResumePoint | null;
  data: JsonObject;
  cursors: Record<string, number>;
  /** The tasks of the items a loop walks over, by its cursor and in the order of the list. */
  lists: Record<string, TaskList>;
  /** Loops whose items are in progress side by side, by loop: where each item begins. */
  lanes: Record<string, Lanes>;
  /** The end of the permission that it waits for. */
  until?: number;
  /** Since when nothing of it runs; absent while it is running. */
  since?: number;
  visits: Record<string, number>;
  /** Turns that are not over, by number; several may be in flight. */
  turns: Record<string, Turn>;
  /** What was done for its items, by task; absent where there is nothing to say of any. */
  work?: Record<string, ItemWork>;
  /** What became of the commands that its agents asked to run, as far as their approvals are over. */
  commands?: CommandOutcomes;
  /** Turns whose work waits to be merged into the cast's branch, in the order in which it was accepted. */
  merges?: number[];
  /** Items that are put off until a person decides, by task; absent where none ever was. */
  parked?: Record<string, Parked>;
  /** What is merged back before the next attempt for a task. */
  restores?: Record<string, ParkedWork>;
  /** By cursor, who advanced last in a loop whose items may be parked. */
  advancedBy?: Record<string, { readonly socket: string; readonly satisfied: boolean | null }>;
  /** The conversations of accepted turns, by socket and item: rework goes on in them; absent where there are none. */
  sessions?: Record<string, KeptSession>;
  /** How many events its outputs emitted; absent where none did. */
  events?: number;
  /** Words of a person that no agent has received yet; absent where there are none. */
  said?: readonly Said[];
  turnsStarted: number;
  turnsAccepted: number;
  traversals: Record<string, number>;
  /** What revivals have added to the budgets of edges, by the same keys. */
  extended: Record<string, number>;
  guard: Guard;
  rework: Record<string, ReworkNote[]>;
  /** The latest context notes for later turns, oldest first and bounded. */
  heard: readonly ContextNote[];
  lastOutput: string;
  /** The last payload that was JSON; an older one than the last output where that was text. */
  lastJson: Json;
  lastIsJson: boolean;
  /** The place of the item that the last output is about; null where it is about none. */
  lastAbout: string | null;
  /** The agent that was accepted last. */
  lastAgent: Speaker | null;
  /** What agents reported about the goal, the last word of each, in the order in which they spoke first. */
  reports: readonly ReportNote[];
  /** Recorded outcomes by script key: the index of the next scripted turn. */
  scripted: Record<string, number>;
  usage: Usage;
  /** Tokens of agents that did not say what they cost; they are missing in the cost. */
  unpriced: number;
  /** The attempts, as `turn.attempt`, that came to no outcome and whose use was counted; absent where there are none. */
  spent?: readonly string[];
  /** The largest settled usage of one attempt by socket: what a dispatch of it reserves. */
  peaks: Record<string, Reserved>;
  budget: { maxTokens: number | null; maxCost: number | null; maxDurationMs: number | null; warned: boolean };
  clock: { startedAt: number; runningSince: number | null; elapsedMs: number };
};

/** Task ids in the order of a list: those that were numbered in a row need not be kept one by one. */
export type TaskList =
  | { readonly first: number; readonly count: number }
  /** `places` gives the index of each id. */
  | { readonly ids: readonly string[]; readonly places: Readonly<Record<string, number>> };

export type Lanes = {
  readonly entry: string;
  /** The agent that was accepted last before the lanes were opened. */
  readonly from: Speaker | null;
  /** What keeps the next item from starting, where nothing is in progress. */
  held: Postponed | null;
  /** Each item in progress walks on its own: its rounds, and its last output. */
  readonly walks: Record<string, Walk>;
};

/** `agent` is the last one on the way of this item; `place` the worktree of its own in which it walks, where it has one. */
export type Walk = { guard: Guard; said: LastOutput | null; agent: Speaker | null; readonly place?: number };

/** Why a start was put off. Time lifts it: a lock that is given back, a task that gets done, a moment that comes. */
export type Postponed = { readonly code: Code; readonly reason: string; readonly until: number | null };

/** `gate` names the check before dispatch that put it off. */
export type PostponedTurn = Postponed & { readonly gate?: string };

/** A start that this refusal put off. */
export function postponedBy({ code, reason, details }: Denied): Postponed {
  const { notBefore } = details;
  return { code, reason, until: typeof notBefore === 'number' ? notBefore : null };
}

/** The last output, and the last payload that was JSON. */
type LastOutput = { readonly output: string; readonly json: Json; readonly isJson: boolean };

export type Usage = {
  input: number;
  output: number;
  cost: number;
  /** The part of the input that came from the provider's cache, where it is known. */
  cached?: number;
  /** The cost, or a part of it, was calculated from a table of prices. */
  estimated?: true;
};

/** No usage was reported. */
export const FREE: Usage = { input: 0, output: 0, cost: 0 };

export type Reserved = { tokens: number; cost: number };

export type Item = {
  readonly key: string;
  readonly label: string;
  readonly index: number;
  readonly total: number;
  readonly items: string;
  readonly as: string;
  readonly cursorKey: string;
};

export type TurnPhase =
  | 'owed'
  | 'held'
  | 'running'
  /** A person has the turn. */
  | 'asked'
  /** It waits for a time, a command or another cast. */
  | 'awaiting'
  | 'verifying'
  | 'accepted'
  /** Accepted; what it did is being merged into the cast's branch. */
  | 'merging'
  /** Accepted; the edge that it would take is spent, and a person is asked. */
  | 'spent'
  /** Accepted; its item is parked as soon as what was done for it is taken out of the worktree. */
  | 'parking'
  | 'blocked'
  | 'unknown'
  | 'failed';

/** A conversation of an agent's program, by the program's own name for it. */
export type Session = {
  readonly runner: string;
  readonly id: string;
  /** What it had used so far, for programs that report the whole of it each time. */
  readonly usage?: Usage;
};

export type Turn = {
  readonly id: number;
  readonly socket: string;
  readonly visit: number;
  readonly item: Item | null;
  /** The loop in whose lanes the turn runs. */
  readonly lane: string | null;
  /** The task in the ledger that the turn works on, and the fence under which it was dispatched. */
  readonly task: string | null;
  fence: number | null;
  phase: TurnPhase;
  held: PostponedTurn | null;
  /** The number of the last attempt that was started; 0 before the first. */
  attempt: number;
  repairs: number;
  /** How often a COMPLETE was held because the agent's own loop was not finished; absent where never. */
  loops?: number;
  faults: number;
  /** How often its attempts asked a provider again by themselves; absent where never. */
  retries?: number;
  /** How often it was put off because a provider asked for patience. */
  waits: number;
  /** Which runner and model has the turn: 0 for the materia's own, then its fallbacks. */
  choice: number;
  /** The conversation that its next attempt continues. */
  session: Session | null;
  /** What its brief may measure, where the usual one was too long for the model. */
  briefBytesMax: number | null;
  /** The refusal a repair turn answers to. */
  refusal: { verdict: Denied; raw: string } | null;
  brief: string | null;
  script: { key: string; index: number } | null;
  reserved: number;
  /** When the last attempt was started; 0 before the first. */
  startedAt: number;
  /** How long the cast had run when the attempt started. */
  ranAtStart: number;
  /** The seal of the workspace when the turn began; null where nothing outside has to be verified. */
  seal: string | null;
  /** Who speaks in the last attempt that was started; null where trust is off. */
  attestation: Attestation | null;
  /** The id under which the work was handed to it. */
  handoffId: string | null;
  /** What other turns were seen to change since this one began, by path: no fault of this one. */
  excused: Record<string, string | null>;
  /** What it waits for, until when at the latest, and what was seen of it last; absent where it does not wait. */
  awaits?: Awaited;
  /** What was read and is being verified. */
  answered: Answered | null;
  /** What was accepted and is not routed yet. */
  handoff: Handoff | null;
  /** The progress of its agent by its own reports. */
  progress: Progress;
  /** The conversation in this turn so far, oldest first and bounded. */
  exchange: readonly ExchangeLine[];
  /** What a person has to decide before the agent can go on. */
  asks: OpenQuestion | null;
  /** A person interrupts its agent: the attempt is being ended, and the next one goes on. */
  interrupted?: true;
  /** The conversation with a person is over: its next answer is the final one. */
  finalizing?: true;
  /** The INPUT envelope its last attempt was started with, in dialects that have one. */
  input: JsonObject | null;
  /** Decisions made before its agent asked, and not delivered yet. */
  untold?: readonly Undelivered[];
  /** What its item did is part of the cast's branch. */
  merged?: true;
};

/** The conversation of an accepted turn. Only the same prompt and model go on in it. */
type KeptSession = {
  readonly session: Session;
  readonly model: string | null;
  /** The hash of the prompt, where it was attested; else the prompt is frozen with the cast. */
  readonly promptHash: string | null;
};

export type Awaited = {
  readonly what: 'time' | 'command' | 'cast';
  readonly words: string;
  readonly since: number;
  readonly until: number;
  readonly other?: string;
  readonly found?: string;
};

/** A line of the conversation in a turn. */
export type ExchangeLine = { readonly from: 'agent' | 'person' | 'runtime'; readonly text: string };

/** `told` are the items in lanes whose agents have received it. */
export type Said = { readonly item: string | null; readonly text: string; readonly told: readonly string[] };

export type OpenQuestion = {
  readonly what: 'answer' | 'approval';
  /** In the agent's words. */
  readonly question: string;
  readonly since: number;
  readonly approval: string | null;
  /** Until when the permission can be given. */
  readonly until?: number;
};

export type ResumePoint =
  /** An accepted turn whose cast ran out of budget before the cursor moved. */
  | { readonly at: 'route'; readonly turn: number }
  /** An edge whose budget was spent. */
  | { readonly at: 'edge'; readonly turn: number; readonly key: string; readonly limit: number; readonly to: string }
  /** A socket that the guard did not let start. */
  | { readonly at: 'start'; readonly socket: string };

export type Parked = {
  readonly item: Item;
  readonly task: string;
  /** The edge that was taken as often as it may be. */
  readonly edge: SpentEdge;
  readonly lane: string | null;
  /** The last rejection. */
  readonly note: string;
  /** Null where nothing was taken out of a worktree. */
  readonly kept: ParkedWork | null;
};

export type SpentEdge = { readonly from: string; readonly to: string; readonly key: string };

/** Work that was taken out of a worktree: its last commit, and the name under which git keeps it. */
export type ParkedWork = { readonly ref: string; readonly commit: string };

/** Watches for rounds in which no item gets finished. */
export type Guard = { readonly key: string; readonly count: number; readonly path: readonly string[] };

export type ReworkNote = {
  readonly from: string;
  readonly label: string;
  readonly target: string;
  readonly when: Condition;
  readonly item: string | null;
  readonly itemLabel: string | null;
  readonly reason: string;
};

/** What is kept of an agent's report for those who work on the same goal, and for the closing words of the cast. */
export type ReportNote = {
  readonly socket: string;
  readonly agent: string;
  readonly agentId: string;
  readonly item: string | null;
  readonly status: PlanStatus;
  readonly ownership: string | null;
  readonly confirmed: readonly string[];
  readonly suspected: readonly string[];
  readonly conflicts: readonly string[];
  readonly openGaps: readonly string[];
  readonly nextBestAgent: string | null;
  /** Those that it names besides, in its order; absent where there are none. */
  readonly alsoBestAgents?: readonly string[];
  readonly keyOutputs: readonly string[];
  readonly crossLayerImpacts: readonly string[];
  readonly verification: string | null;
  readonly summary: string | null;
  readonly rollback: string | null;
  readonly contextConsumption: JsonObject | null;
};

/** A line of context, and the item it is about: null where it concerns the whole cast. */
export type ContextNote = { readonly about: string | null; readonly line: string };

/** As the attempts are called whose use was counted although they came to no outcome. */
export function attemptName(turn: number, attempt: number): string {
  return `${turn}.${attempt}`;
}

/** The walk of the item a turn works on, where it has one of its own. */
export function walkOf({ lanes }: Cast, { lane, item }: Pick<Turn, 'lane' | 'item'>): Walk | null {
  return (lane !== null && item && lanes[lane]?.walks[item.key]) || null;
}

export function isOver(status: CastStatus): boolean {
  return status === 'completed' || status === 'failed' || status === 'aborted';
}

/** What a checker found after a turn that changed files. */
export type TurnCheck = {
  readonly name: string;
  readonly ok: boolean;
  /** One line. */
  readonly found: string;
  /** The end of what its program printed, where it is red. */
  readonly output?: string;
};

/** What was changed for an item since its first change. */
export type ItemDiff = {
  /** The commit before the first change; absent where the item is not worked on in a worktree. */
  readonly base?: string;
  readonly text: string;
};

export type ItemWork = {
  files: string[];
  /** How many more files were changed than are named. */
  filesMore: number;
  checks: readonly TurnCheck[];
  usage: Usage;
  /** While the item is worked on. */
  diff?: ItemDiff;
  /** The turn with which the item was over. */
  endedBy?: number;
  /** It was passed over by `advance.when: "not_satisfied"`. */
  skipped?: true;
};

/** An output that was read, in the form in which it is stored. */
export type Answered = {
  readonly output: string;
  readonly handoff: Handoff;
  readonly usage: Usage;
  readonly truncated: boolean;
  /** The kinds of secrets that were taken out of it. */
  readonly scrubbed: readonly string[];
  readonly agent?: AgentNote;
};

/** What an agent's program reports about itself. */
export type AgentNote = {
  readonly runner?: string;
  /** The model that really answered. */
  readonly model?: string;
  /** It reported its tokens and not their cost. */
  readonly unpriced?: boolean;
  /** With which the next attempt can continue the conversation. */
  readonly session?: Session;
  /** The names of the tools it was refused. */
  readonly denials?: readonly string[];
  /** What was asked for and could not be had, in words for people. */
  readonly warnings?: readonly string[];
  /** The shell commands it ran; absent where its program does not tell. */
  readonly commands?: readonly string[];
  /** Those of them that change state and were not approved. */
  readonly unapproved?: readonly string[];
};

/** The turn of an agent that was accepted. */
export type Speaker = {
  readonly socket: string;
  /** The socket of the agent that had handed to it. */
  readonly after: string | null;
  /** The id under which that was done. */
  readonly handoff: string | null;
};

/** The turn that works on a task. */
export function turnOn(cast: Cast, task: string): Turn | null {
  return Object.values(cast.turns).find((turn) => turn.task === task) ?? null;
}
