// The work a cast is owed now. Derived from the state alone, so recovery after a crash is the ordinary path.
import { deadlineOf } from './cast/budget.ts';
import type { Cast } from './cast/state.ts';

export function pending(cast: Cast): readonly Effect[] {
  if (cast.status !== 'running') return [];
  const owed: Effect[] = [];
  for (const turn of Object.values(cast.turns)) {
    const common = { cast: cast.id, turn: turn.id };
    if (turn.phase === 'owed') owed.push({ kind: 'prepare', ...common, attempt: turn.attempt + 1 });
    else if (turn.phase === 'running') {
      owed.push({ kind: turn.interrupted ? 'interrupt' : 'dispatch', ...common, attempt: turn.attempt });
    } else if (turn.phase === 'verifying') owed.push({ kind: 'verify', ...common, attempt: turn.attempt });
    else if (turn.phase === 'awaiting') {
      if (turn.awaits?.what !== 'time') owed.push({ kind: 'probe', ...common, attempt: turn.attempt });
    } else if (turn.phase === 'parking') owed.push({ kind: 'park', ...common, attempt: turn.attempt });
    // One after the other: what was accepted first is merged first.
    else if (turn.phase === 'merging' && cast.merges?.[0] === turn.id) {
      owed.push({ kind: 'merge', ...common, attempt: turn.attempt });
    }
  }
  const deadline = deadlineOf(cast);
  if (deadline !== null && owed.length > 0) owed.push({ kind: 'timer', cast: cast.id, at: deadline });
  for (const at of wakeTimes(cast)) if (at !== deadline) owed.push({ kind: 'timer', cast: cast.id, at });
  return owed;
}

/** The moments at which something that was put off may be tried again, at which a permission is over, and until which a turn waits. */
function wakeTimes(cast: Cast): ReadonlySet<number> {
  const held = [
    ...Object.values(cast.turns).map((turn) => turn.held),
    ...Object.values(cast.lanes).map((each) => each.held),
  ];
  const asked = Object.values(cast.turns).flatMap(({ phase, asks }) => (phase === 'asked' ? (asks?.until ?? []) : []));
  const awaited = Object.values(cast.turns).flatMap(({ phase, awaits }) =>
    phase === 'awaiting' && awaits ? [awaits.until] : [],
  );
  return new Set([...held.flatMap((each) => each?.until ?? []), ...asked, ...awaited]);
}

/** Work that is owed to a cast. */
export type Effect =
  | { readonly kind: 'prepare'; readonly cast: string; readonly turn: number; readonly attempt: number }
  | { readonly kind: 'dispatch'; readonly cast: string; readonly turn: number; readonly attempt: number }
  /** The attempt is ended for what a person says to its agent. */
  | { readonly kind: 'interrupt'; readonly cast: string; readonly turn: number; readonly attempt: number }
  | { readonly kind: 'verify'; readonly cast: string; readonly turn: number; readonly attempt: number }
  | { readonly kind: 'merge'; readonly cast: string; readonly turn: number; readonly attempt: number }
  | { readonly kind: 'park'; readonly cast: string; readonly turn: number; readonly attempt: number }
  /** Looks at what a turn waits for, again and again. */
  | { readonly kind: 'probe'; readonly cast: string; readonly turn: number; readonly attempt: number }
  | { readonly kind: 'timer'; readonly cast: string; readonly at: number };

/** Names an effect, so that the same owed work is started once. */
export function effectKey(effect: Effect): string {
  return effect.kind === 'timer' ? `timer:${effect.at}` : `${effect.kind}:${effect.turn}.${effect.attempt}`;
}
