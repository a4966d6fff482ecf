// The door before dispatch: every check that a turn passes before an attempt starts, in order. The first refusal counts. It
// keeps the turn owed where time can lift it, and ends the cast otherwise.
import { mayDispatch, mayDispatchToday } from '../cast/budget.ts';
import { refusalOfCrowd, taskOfTurn } from '../cast/item.ts';
import { chosenMateria, ownerOf } from '../cast/rules.ts';
import type { Cast, Turn } from '../cast/state.ts';
import type { Input } from '../input.ts';
import { CLAIM_CHECKS, type ClaimContext } from '../ledger/claim.ts';
import { soundnessOf } from '../ledger/run-index.ts';
import { isTerminal, type Task } from '../ledger/state.ts';
import type { State } from '../state.ts';
import { trustKeysNeeded } from '../trust/decide.ts';
import { refusedByTrust, remedyFor, withRegistry } from '../trust/quarantine.ts';
import type { Refusal } from '../trust/state.ts';
import { trustWatchOf } from '../trust/watch.ts';
import { type Denied, deny, type NamedCheck } from '../verdict.ts';
import { refusalOfAgentConfigIn } from './changes.ts';

/** What the checks look at. */
export type DispatchContext = {
  readonly state: State;
  readonly cast: Cast;
  readonly turn: Turn;
  /** The task of the turn; null where it has none. */
  readonly task: Task | null;
  readonly at: number;
  /** The moment up to which the cast ran, as its running time is counted. */
  readonly ranUntil: number;
  /** What was found out when the turn was prepared; null where nothing had to be. */
  readonly prepared: Extract<Input, { kind: 'turn.prepared' }> | null;
};

type DispatchCheck = NamedCheck<DispatchContext>;

/** What lets a turn have its task. A person's answer passes these alone when the claim was lost. */
export const BEFORE_CLAIM: readonly DispatchCheck[] = [
  {
    name: 'workspace hold',
    why: 'a person who pauses the workspace stops every start, also of turns without a task',
    check: ({ state: { ledger } }) =>
      ledger.hold
        ? deny('NOT_ALLOWED_NOW', `${ledger.hold.by} has paused the workspace: ${ledger.hold.reason}`, {
            hold: { ...ledger.hold },
          })
        : null,
  },
  {
    name: 'lane',
    why: 'a lane is free before a task is claimed, so that no lock waits for a lane',
    check: ({ state, cast, turn, task }) => (isClaimable(task) ? refusalOfCrowd(state.ledger, cast, turn) : null),
  },
  ...CLAIM_CHECKS.map(
    ({ name, why, check }): DispatchCheck => ({
      name: `claim: ${name}`,
      why,
      check: (context) => {
        const claim = claimIn(context);
        return claim && check(claim);
      },
    }),
  ),
];

export const BEFORE_DISPATCH: readonly DispatchCheck[] = [
  {
    name: 'handoff id',
    why: 'an id that was used before is cheap to see, and nothing else may be judged under it',
    check: ({ turn, prepared }) => {
      if (!prepared || !trustKeysNeeded(prepared).some((key) => prepared.used && Object.hasOwn(prepared.used, key)))
        return null;
      const reason = `the id of the handoff to ${turn.socket} was used before; prepare the turn again with a new one`;
      return deny('REPLAY', reason, { turn: turn.id });
    },
  },
  {
    name: 'inspectable',
    why: 'a turn with a lock scope does not start where its changes could not be seen',
    check: ({ turn, prepared }) => (prepared?.unseen === undefined ? null : uninspectable(turn, prepared.unseen)),
  },
  {
    name: 'agent configuration',
    why: 'what an earlier attempt of the turn changed would configure the program of the next one',
    check: ({ state, cast, turn, prepared }) => refusalOfAgentConfigIn(state, cast, turn, prepared?.orders ?? {}),
  },
  {
    name: 'budget of the cast',
    why: 'an exhausted budget ends the cast, so nothing is noted or claimed for it',
    check: ({ cast, ranUntil }) => mayDispatch(cast, ranUntil),
  },
  {
    name: 'budget of the day',
    why: 'the cap of the day lifts with time; a cast that is exhausted itself is refused for that first',
    check: ({ state, cast, at }) => mayDispatchToday(state.day, cast, at),
  },
  {
    name: 'trust',
    why: 'an agent that may not speak claims no task and takes no lock',
    check: (context) => refusalOfTrust(context)?.refusal ?? null,
  },
  ...BEFORE_CLAIM,
];

/** The refusal of the agent of a turn, and what is blocked because of it. */
export function refusalOfTrust({
  state,
  cast,
  turn,
  prepared,
}: DispatchContext): { readonly found: Refusal; readonly refusal: Denied } | null {
  const sighting = prepared?.trust;
  const trust = withRegistry(state.trust, sighting);
  const source = trustWatchOf(trust, cast, turn)?.source ?? null;
  const found = refusedByTrust(trust, cast.rules, chosenMateria(cast, turn), source, sighting);
  if (!found) return null;
  const { code, reason, details } = found.verdict;
  const refusal = deny(code, `${turn.socket}: ${reason}${remedyFor(found)}`, { ...details, socket: turn.socket });
  return { found, refusal };
}

/** Refuses a turn whose changes cannot be inspected. */
export function uninspectable({ id, socket }: Turn, why: string): Denied {
  const reason = `the changes of ${socket} cannot be inspected, and it has a lock scope to keep: ${why}`;
  return deny('MISSING_VALIDATOR', reason, { turn: id, socket });
}

/** Whether a dispatch has to claim the task: it has none otherwise, has it already, or it is over. */
export function isClaimable(task: Task | null): task is Task {
  return task !== null && task.status !== 'in_progress' && !isTerminal(task.status);
}

/** The claim that a dispatch makes. A blocked task is reopened by it. */
function claimIn({ state: { ledger }, cast, turn, task, at }: DispatchContext): ClaimContext | null {
  if (!isClaimable(task)) return null;
  const open = task.status === 'blocked' ? { ...task, status: 'todo' as const } : task;
  return { ledger, task: open, owner: ownerOf(cast, turn.socket), at, isSound: soundnessOf(ledger) };
}

export function dispatchContext(
  state: State,
  cast: Cast,
  turn: Turn,
  more: Pick<DispatchContext, 'at' | 'ranUntil'> & Partial<Pick<DispatchContext, 'prepared'>>,
): DispatchContext {
  return { state, cast, turn, task: taskOfTurn(state, cast, turn), prepared: null, ...more };
}

const LIFTED_BY_TIME = ['LOCK_CONFLICT', 'DEPENDENCY_NOT_MET', 'NOT_ALLOWED_NOW', 'DAILY_CAP_REACHED'];

/** Whether waiting can help against a refusal: then the turn stays owed. */
export function isLiftedByTime({ code }: Denied): boolean {
  return LIFTED_BY_TIME.includes(code);
}
