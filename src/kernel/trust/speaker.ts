// Who handed a turn its work: the last agent before it on its way. Utilities are passed through, because they are people's
// own commands and speak for nobody.
import { type Cast, type Speaker, type Turn, walkOf } from '../cast/state.ts';

export function speakerBefore(cast: Cast, turn: Pick<Turn, 'lane' | 'item'>): Speaker | null {
  if (turn.lane === null) return cast.lastAgent;
  return walkOf(cast, turn)?.agent ?? cast.lanes[turn.lane]?.from ?? null;
}

/** Notes that the agent of a turn has spoken: whoever comes next was handed to by it. */
export function noteSpeaker(cast: Cast, turn: Turn): void {
  const { rules } = cast;
  if (rules.materia[rules.graph.sockets[turn.socket]?.materia ?? '']?.type !== 'agent') return;
  const after = speakerBefore(cast, turn)?.socket ?? null;
  const speaker = { socket: turn.socket, after, handoff: turn.handoffId };
  const walk = walkOf(cast, turn);
  if (walk) walk.agent = speaker;
  cast.lastAgent = speaker;
}
