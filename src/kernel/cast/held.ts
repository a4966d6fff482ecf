// Starts that were put off: a lock was held, a task was not done, a person held the workspace. They are tried again in the
// decision that lifts what stood in their way, in the order in which tasks are owed their turn.
import type { Fact } from '../fact.ts';
import { heldBy } from '../gate/dispatch.ts';
import { isWorthNoting, refusalOfClaim } from '../ledger/claim.ts';
import { refuseTask } from '../ledger/fact.ts';
import { compareRank } from '../ledger/rank.ts';
import type { Task } from '../ledger/state.ts';
import type { Cast, Turn } from '../state.ts';
import { startReady } from './dispatch.ts';
import { fillAllLanes, fillLanes, refusalOfPlace } from './lanes.ts';
import type { Pen } from './pen.ts';
import { ownerOf, taskOfTurn } from './task.ts';

/** Tries everything again that was put off, if something has changed that it may have waited for. */
export function startHeld(pen: Pen, facts: readonly Fact[]): void {
  if (!facts.some(lifts)) return;
  for (const { cast, turn } of heldTurns(pen)) {
    if (cast.status === 'running') tryAgain(pen, cast, turn);
  }
  for (const cast of Object.values(pen.state.casts)) {
    fillAllLanes(pen, cast);
    if (cast.status === 'running') startReady(pen, cast);
  }
}

function lifts(fact: Fact): boolean {
  return (fact.kind === 'task.moved' && fact.releases) || fact.kind === 'ledger.unheld';
}

/** Tries what a cast put off once more, because its time has come. */
export function startDue(pen: Pen, cast: Cast): void {
  for (const turn of Object.values(cast.turns)) if (turn.phase === 'held') tryAgain(pen, cast, turn);
  fillAllLanes(pen, cast);
}

function heldTurns(pen: Pen): readonly { readonly cast: Cast; readonly turn: Turn }[] {
  const held = Object.values(pen.state.casts).flatMap((cast) =>
    Object.values(cast.turns)
      .filter(({ phase }) => phase === 'held')
      .map((turn) => ({ cast, turn, task: taskOfTurn(pen.state, cast, turn) })),
  );
  return held.sort((a, b) => rank(a.task, b.task, pen.at));
}

function rank(a: Task | null, b: Task | null, at: number): number {
  if (!a || !b) return Number(a !== null) - Number(b !== null);
  return compareRank(a, b, at);
}

/** A lock may be given back before the time at which a turn that waits for it is tried again at the latest. */
function isTooEarly({ held }: Turn, at: number): boolean {
  return held !== null && held.code !== 'LOCK_CONFLICT' && (held.until ?? 0) > at;
}

/** A turn of a loop was put off and takes no place any more: one that waits for a place, or the next item, may have it. */
export function refillPlaces(pen: Pen, cast: Cast, lane: string): void {
  for (const turn of Object.values(cast.turns)) {
    if (turn.lane === lane && turn.held?.code === 'NOT_ALLOWED_NOW') tryAgain(pen, cast, turn);
  }
  fillLanes(pen, cast, lane);
}

function tryAgain(pen: Pen, cast: Cast, turn: Turn): void {
  if (pen.ledger.hold || isTooEarly(turn, pen.due) || refusalOfPlace(cast, turn)) return;
  const task = taskOfTurn(pen.state, cast, turn);
  const refusal = task?.status === 'todo' ? refusalOfClaim(pen.ledger, task, ownerOf(cast, turn.socket), pen.at) : null;
  const common = { cast: cast.id, turn: turn.id };
  if (!refusal || !task) return pen.write({ kind: 'turn.freed', ...common });
  if (refusal.code === 'LOCK_CONFLICT' && isWorthNoting(task, pen.at)) refuseTask(pen, 'claim', task, refusal);
  const held = heldBy(refusal);
  if (held.until !== turn.held?.until) pen.write({ kind: 'turn.held', ...common, ...held });
}
