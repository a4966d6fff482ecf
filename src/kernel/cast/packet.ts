// Everything a runner needs to carry out one dispatch, and nothing it has to ask back for.
import { dialectCan, type RunnerAbility, runnerCan } from '../capabilities.ts';
import { unfinished } from '../gate/before-accept.ts';
import {
  checkersAt,
  DEFAULTS,
  type MainCheckout,
  type Materia,
  type Price,
  type RunnerLimits,
  type WaitRules,
} from '../graph/config.ts';
import { hasOwnPaths } from '../graph/route.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';
import { realIn } from '../ledger/lock-tree.ts';
import type { Ledger, Task } from '../ledger/state.ts';
import type { State } from '../state.ts';
import { type TrustWatch, trustWatchOf, withPinnedPrompt } from '../trust/watch.ts';
import { timeoutOf } from './budget.ts';
import { cursorName, scopeOf } from './data.ts';
import { isWatched, restoreOf } from './dispatch.ts';
import { retriesLeft } from './fault.ts';
import { taskOfTurn } from './item.ts';
import { beginsOver, bystanderIn, isBound, isBoundToFolder, isPutBack, readsOnly, worksInPlace } from './lock-scope.ts';
import { notesFor, workBefore } from './notes.ts';
import { artifactsOf } from './report.ts';
import {
  agentIdOfTurn,
  choicesOf,
  chosenMateria,
  continuedSession,
  isScripted,
  materiaOf,
  offersTools,
  reportsStatus,
  scriptedTurn,
  socketOf,
  variablesOf,
} from './rules.ts';
import { type Cast, type Item, type ParkedWork, type Session, type Turn, walkOf } from './state.ts';
import { waitOf } from './wait.ts';

export type Packet = {
  readonly cast: string;
  readonly turn: number;
  readonly attempt: number;
  readonly socket: string;
  /** The worktree of its own in which the item of the turn walks; else it is the cast's. */
  readonly place?: number;
  /** With the runner and model that have the turn now, which may be a fallback's. */
  readonly materia: Materia;
  readonly brief: string;
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
  /** How often the attempt may ask its provider again by itself. */
  readonly retriesMax: number;
  /** How long a model that was asked may say nothing. */
  readonly modelSilenceMs: number;
  /** The conversation to continue. */
  readonly session: Session | null;
  /** The scripted turn to play; `{}` when the script has nothing (more) for this socket, null when it is not scripted. */
  readonly scripted: { readonly turn?: Json } | null;
  /** What a utility gets on its standard input. */
  readonly utility: UtilityInput | null;
  /** The runner of the turn, where people set limits for it. */
  readonly slot: Slot | null;
  /** Whether the agent may call our tools. The brief says so then. */
  readonly offersTools: boolean;
  /** Whether its commands that change state wait for an approval where the configuration does not say otherwise. */
  readonly holdsCommands: boolean;
  /** Prices that people wrote down, by the beginning of a model's name. */
  readonly prices?: Readonly<Record<string, Price>>;
  /** The task the turn works on, its claim, and how long its owner may be silent. */
  readonly task: {
    readonly id: string;
    readonly owner: string;
    readonly fence: number;
    readonly silentMs: number;
    readonly beatMs: number;
  } | null;
};

/** What is to be seen of a turn from outside, before it starts and after it has answered. */
export type Watch = {
  readonly cast: string;
  readonly turn: number;
  readonly attempt: number;
  readonly socket: string;
  /** The task it works on, where it has one. */
  readonly task: string | null;
  /** The worktree of its own in which its item walks; null where it is the cast's. */
  readonly place: number | null;
  /** What people know it by: its materia, and the title of its item. */
  readonly label: string;
  readonly title: string | null;
  /** Such as `WI-2`. */
  readonly itemKey: string | null;
  /**
   * `first` before its first attempt; `over` where what it did so far counts for nothing, because it was cut off or
   * refused for good; `on` where the next attempt goes on with what the last one left.
   */
  readonly begins: 'first' | 'over' | 'on';
  /** Its own paths while other turns run at the same time; null where it runs alone. */
  readonly beside: readonly string[] | null;
  /** Whether it may change no file, whatever paths its task has. */
  readonly readsOnly: boolean;
  /** Whether a refused attempt is put back: it has a shell, and the next one must not find what it left. */
  readonly putsBack: boolean;
  /** Whether the turn starts fresh; else what was seen before its first attempt still counts. */
  readonly isFresh: boolean;
  /** Whether anything besides its answer is inspected. */
  readonly looks: boolean;
  /** What has to be established about its agent; null where it is not attested. */
  readonly trust: TrustWatch | null;
  /** Whether the files that change are to be noted. */
  readonly files: boolean;
  /** Whether they are held against it as well, so that it cannot go on where they cannot be seen. */
  readonly compares: boolean;
  /** Whether changes of the main checkout are refused, or only reported; null where the turn is not held to its folder. */
  readonly mainCheckout: MainCheckout | null;
  /** By criterion, the name of the checker that verifies it; and the checkers by name. */
  readonly checks: Readonly<Record<string, string>>;
  readonly checkers: JsonObject;
  /** What is inspected where the turn changed files; null where it may change none or is not finished. */
  readonly work: WorkWatch | null;
  /** What its agent wants permission for; null where it wants none. */
  readonly approval: {
    readonly request: JsonObject;
    readonly requester: string;
    /** The variables that its materia lets through to it. */
    readonly env: readonly string[];
  } | null;
  /** The files that its report names as evidence. */
  readonly artifacts: readonly string[];
  /** The runner of the turn, where people set limits for it. */
  readonly slot: Slot | null;
  /** What was done for its item before it was parked, and is merged back before the attempt. */
  readonly restores: ParkedWork | null;
  /** What it waits for, where something has to be looked at for that. */
  readonly awaits: Probe | null;
};

export type Probe = Extract<WaitRules, { kind: 'command' }> | { readonly kind: 'cast'; readonly cast: string };

export type WorkWatch = {
  /** The names of the checkers that run after the turn. */
  readonly checkers: readonly string[];
  /** The files changed so far for its item, or by all turns without one. */
  readonly files: readonly string[];
  /** The commit before the first of these changes; null where there was none. */
  readonly base: string | null;
};

/** How many attempts a runner may have at once in the workspace, and how many may start within a minute. */
export type Slot = { readonly runner: string } & RunnerLimits;

export type UtilityInput = {
  readonly request: string;
  readonly state: JsonObject;
  readonly item: Json;
  readonly itemKey: string | null;
  readonly itemLabel: string | null;
  readonly cursor: { readonly name: string; readonly index: number } | null;
  readonly cursors: Readonly<Record<string, number>>;
  readonly rework: readonly { readonly from: string; readonly reason: string }[];
};

export function watchOf({ ledger, trust }: Pick<State, 'ledger' | 'trust'>, cast: Cast, turn: Turn): Watch {
  const task = taskOfTurn({ ledger }, cast, turn);
  const isDone = turn.answered?.handoff.outcome === 'done';
  const files = mayTouch(cast, turn, task);
  return {
    cast: cast.id,
    turn: turn.id,
    attempt: turn.attempt,
    socket: turn.socket,
    task: turn.task,
    place: walkOf(cast, turn)?.place ?? null,
    label: materiaOf(cast, turn.socket).label,
    title: turn.item?.label ?? null,
    itemKey: turn.item?.key ?? null,
    begins: turn.attempt === 0 ? 'first' : beginsOver(cast, turn) ? 'over' : 'on',
    beside: turn.lane === null ? null : (task?.lockScope ?? []).map(realIn(ledger.locks, task?.root ?? '')),
    readsOnly: readsOnly(cast, turn.socket) !== null,
    putsBack: isPutBack(cast, turn),
    isFresh: turn.seal === null,
    looks: isWatched({ ledger }, cast, turn),
    trust: trustWatchOf(trust, cast, turn, task),
    files,
    compares: bystanderIn(cast, turn) === null,
    mainCheckout: files && isBoundToFolder(cast, turn) ? (cast.rules.worktree?.mainCheckout ?? 'refuse') : null,
    checks: task && isDone && isChecked(cast, turn.socket) ? task.checkers : {},
    checkers: cast.rules.checkers,
    work: workWatchOf(cast, turn),
    approval: approvalOf(cast, turn),
    artifacts: turn.answered ? artifactsOf(cast, turn, turn.answered.handoff) : [],
    slot: slotOf(cast, turn),
    restores: restoreOf(cast, turn),
    awaits: probeOf(cast, turn),
  };
}

function probeOf(cast: Cast, { phase, socket, awaits }: Turn): Probe | null {
  if (phase !== 'awaiting' || !awaits) return null;
  if (awaits.other !== undefined) return { kind: 'cast', cast: awaits.other };
  const wait = waitOf(cast, socket);
  return wait?.kind === 'command' ? wait : null;
}

function workWatchOf(cast: Cast, turn: Turn): WorkWatch | null {
  const handoff = turn.answered?.handoff;
  if (!handoff || handoff.outcome === 'blocked' || unfinished(handoff)) return null;
  if (!hasOwnPaths(cast.rules, turn.socket)) return null;
  const before = workBefore(cast, turn);
  return {
    checkers: socketOf(cast, turn.socket).checkers ?? checkersAt(cast.rules.checkers, 'turn'),
    files: [...(before?.files ?? [])],
    base: before?.diff?.base ?? null,
  };
}

/**
 * Whether files may change by the turn: by a program always, whatever its tools are meant to be, unless it keeps its agent
 * from writing itself and works where people do: there the change of a person would be taken for the agent's. What an earlier
 * choice of the turn left counts for the one that answers.
 */
function mayTouch(cast: Cast, turn: Turn, task: Task | null): boolean {
  const hasPaths = task !== null && isBound(cast, turn.socket);
  if (isScripted(cast, turn.socket)) return hasPaths;
  const materia = materiaOf(cast, turn.socket);
  if (materia.type === 'utility') return true;
  const tried = choicesOf(cast.rules, materia).slice(0, turn.choice + 1);
  const isGuarded = (materia.tools === 'none' || materia.tools === 'readOnly') && worksInPlace(cast, turn);
  return tried.some(({ runner }) => {
    const can = (ability: RunnerAbility) => runnerCan(cast.rules, runner, ability);
    if (!can('mayWrite') || (isGuarded && !hasPaths && can('guardsTools'))) return false;
    return hasPaths || !can('writesByAgreement');
  });
}

function isChecked(cast: Cast, socket: string): boolean {
  return dialectCan(cast.rules, socketOf(cast, socket).contract, 'claimsCriteria');
}

/** What an agent that wants permission asks for, and the name under which it asks. */
function approvalOf(cast: Cast, turn: Turn): Watch['approval'] {
  const handoff = turn.answered?.handoff;
  if (handoff?.outcome !== 'approval' || !isObject(handoff.payload)) return null;
  const { approval_request: request } = handoff.payload;
  const env = variablesOf(chosenMateria(cast, turn));
  return { request: isObject(request) ? request : {}, requester: agentIdOfTurn(cast, turn), env };
}

function slotOf(cast: Cast, turn: Turn): Slot | null {
  const materia = chosenMateria(cast, turn);
  if (materia.type === 'utility' || runnerCan(cast.rules, materia.runner, 'isPerson') || isScripted(cast, turn.socket))
    return null;
  const limits = cast.rules.runners?.[materia.runner];
  return limits ? { runner: materia.runner, ...limits } : null;
}

export function packetOf(cast: Cast, turn: Turn, ledger?: Ledger): Packet {
  const { place } = walkOf(cast, turn) ?? {};
  const socket = socketOf(cast, turn.socket);
  const materia = withPinnedPrompt(cast, turn);
  return {
    cast: cast.id,
    turn: turn.id,
    attempt: turn.attempt,
    socket: turn.socket,
    ...(place === undefined ? {} : { place }),
    materia,
    brief: turn.brief ?? '',
    timeoutMs: timeoutOf(cast, turn, socket.limits.timeoutMs),
    maxOutputBytes: socket.limits.maxOutputBytes,
    retriesMax: retriesLeft(turn),
    modelSilenceMs: cast.rules.limits.modelSilenceMs ?? DEFAULTS.modelSilenceMs,
    session: continuedSession(cast, turn),
    scripted: scripted(cast, turn),
    utility: materia.type === 'utility' ? utilityInput(cast, turn.socket, turn.item) : null,
    slot: slotOf(cast, turn),
    offersTools: offersTools(cast, turn),
    // Where its agent can ask for an approval and be answered.
    holdsCommands: reportsStatus(cast, turn.socket),
    ...(cast.rules.prices ? { prices: cast.rules.prices } : {}),
    task: ledger ? claimOf(taskOfTurn({ ledger }, cast, turn)) : null,
  };
}

function claimOf(task: Task | null): Packet['task'] {
  if (task?.fence === undefined || task.fence === null) return null;
  return {
    id: task.id,
    owner: task.owner,
    fence: task.fence,
    silentMs: task.timeoutS * 1000,
    beatMs: task.heartbeatS * 1000,
  };
}

function scripted(cast: Cast, turn: Turn): Packet['scripted'] {
  if (!isScripted(cast, turn.socket)) return null;
  const script = turn.script ? scriptedTurn(cast, turn.script) : undefined;
  return script === undefined ? {} : { turn: script };
}

function utilityInput(cast: Cast, socket: string, item: Item | null): UtilityInput {
  const scope = scopeOf(cast, item);
  return {
    request: cast.request,
    state: { ...cast.data, ...scope.itemVars },
    item: scope.item ?? null,
    itemKey: item?.key ?? null,
    itemLabel: item?.label ?? null,
    cursor: item ? { name: cursorName(item.cursorKey), index: item.index } : null,
    cursors: scope.cursors,
    rework: notesFor(cast, socket, item?.key ?? null).map(({ from, reason }) => ({ from, reason })),
  };
}
