// What became of a merge: the item goes on as it was accepted, or, where others changed the same meanwhile, begins once more
// with the files named. An item that gets nowhere that way is blocked, and a person is asked.
import type { MergeEnd } from '../input.ts';
import { spokenPaths } from '../ledger/path.ts';
import { type Cast, type ReworkNote, type Turn, type Usage, walkOf } from '../state.ts';
import { allow, type Denied, deny, type Verdict } from '../verdict.ts';
import { giveUp } from './answer.ts';
import { NO_ROUNDS, tracked } from './guard.ts';
import { openTurn } from './open-turn.ts';
import { materiaOf, type Pen } from './pen.ts';
import { reasonIn } from './rework.ts';
import { route } from './route.ts';
import { claimFor } from './task.ts';

const FREE: Usage = { input: 0, output: 0, cost: 0 };
/** So many files are named to whoever has to mend them. */
const FILES_NAMED_MAX = 20;

export function takeMerge(pen: Pen, cast: Cast, turn: Turn, end: MergeEnd): Verdict {
  const common = { cast: cast.id, turn: turn.id, attempt: turn.attempt };
  if (!end.ok) return refuse(pen, cast, turn, end);
  pen.write({ kind: 'turn.merged', ...common, commit: end.commit });
  // What is merged is done, also where its claim ran out while it was merged.
  claimFor(pen, cast, turn);
  route(pen, cast, turn);
  return allow(`turn ${turn.id} merged`);
}

/** Whether a merge that was cut off simply goes on: its task has to be the cast's again for that. */
export function carriesOn(pen: Pen, cast: Cast, turn: Turn): boolean {
  return claimFor(pen, cast, turn) === null;
}

function refuse(pen: Pen, cast: Cast, turn: Turn, { reason, files }: Extract<MergeEnd, { ok: false }>): Verdict {
  const common = { cast: cast.id, turn: turn.id, attempt: turn.attempt };
  const refusal = deny('MERGE_CONFLICT', reason, { socket: turn.socket, files: [...files] });
  pen.write({ kind: 'merge.refused', ...common, reason, files });
  const entry = (turn.lane !== null && cast.lanes[turn.lane]?.entry) || turn.socket;
  if (isSpent(cast, turn, entry)) return block(pen, cast, turn, refusal);
  pen.write({ kind: 'rework.noted', cast: cast.id, note: noteFor(cast, turn, entry, files) });
  pen.write({ kind: 'turn.dropped', cast: cast.id, turn: turn.id });
  openTurn(pen, cast, entry, turn.item, false, turn.lane);
  return refusal;
}

/** Whether one more round is one too many. */
function isSpent(cast: Cast, turn: Turn, entry: string): boolean {
  const guard = walkOf(cast, turn)?.guard ?? NO_ROUNDS;
  return tracked(guard, turn.item?.key ?? '', entry, false).count > cast.rules.limits.maxNoAdvanceCycles;
}

function block(pen: Pen, cast: Cast, turn: Turn, refusal: Denied): Verdict {
  const { code, reason } = refusal;
  const common = { cast: cast.id, turn: turn.id, attempt: turn.attempt };
  pen.write({ kind: 'turn.blocked', ...common, output: '', usage: FREE, code, reason });
  return giveUp(pen, cast, turn, refusal, {});
}

function noteFor(cast: Cast, turn: Turn, target: string, files: readonly string[]): ReworkNote {
  return {
    from: turn.socket,
    label: materiaOf(cast, turn.socket).label,
    target,
    when: 'not_satisfied',
    item: turn.item?.key ?? null,
    itemLabel: turn.item?.label ?? null,
    reason: reasonIn(`${ASKED} The files: ${spokenPaths(files, FILES_NAMED_MAX)}.`),
  };
}

const ASKED = [
  'MERGE_CONFLICT: the work on this item cannot be joined with what others have finished since it began. The folder now',
  'holds both, and what clashes stands between lines of <<<<<<< and >>>>>>>. Mend it so that both hold, remove these',
  'lines, and report again.',
].join(' ');
