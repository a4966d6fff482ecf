// The end of approvals that nobody waits for any more: what an agent asked for is over with its turn and its cast, and what
// waits for a person is given up by a report that does not name it. What began to run and is not settled stays: a person has
// to look into that whatever became of the turn.
import type { Pen } from '../cast/pen.ts';
import type { Fact } from '../fact.ts';
import { type Cast, isOver } from '../state.ts';
import { type Approval, isUnsettled, turnOf } from './state.ts';

/** Which approvals a fact ends, and why. */
type Ended = { readonly of: (approval: Approval) => boolean; readonly reason: string };

export function withdrawOver(pen: Pen, news: readonly Fact[]): void {
  for (const fact of news) {
    const ended = endedBy(fact);
    if (!ended) continue;
    for (const approval of Object.values(pen.state.approvals)) {
      const { id, from, grant } = approval;
      if (!ended.of(approval) || isUnsettled(approval)) continue;
      const what = grant ? 'grant' : 'request';
      pen.write({ kind: 'approval.withdrawn', id, ...turnOf(from), what, reason: ended.reason });
    }
  }
}

/** Whether the turn that asked is over: of a list that stays for what began, nothing else begins from then on. */
export function isTurnOver(cast: Cast | null | undefined, { from }: Pick<Approval, 'from'>): boolean {
  if (!cast || !from) return false;
  const phase = cast.turns[from.turn]?.phase;
  return isOver(cast.status) || phase === undefined || phase === 'accepted' || phase === 'merging';
}

function endedBy(fact: Fact): Ended | null {
  switch (fact.kind) {
    case 'cast.completed':
    case 'cast.failed':
    case 'cast.aborted':
      return { of: ofCast(fact.cast), reason: `its cast is ${fact.kind.slice('cast.'.length)}` };
    case 'turn.accepted':
      return { of: ofTurn(fact), reason: 'its turn was accepted' };
    case 'turn.dropped':
      return { of: ofTurn(fact), reason: 'its turn was dropped' };
    case 'turn.decided':
      return { of: waiting(ofTurn(fact)), reason: `a person decided about its turn: ${fact.choice}` };
    case 'turn.blocked':
      return { of: waiting(ofTurn(fact)), reason: 'its agent reported that it cannot go on' };
    case 'turn.reported': {
      const isOther = ({ id }: Approval) => id !== fact.approval;
      return { of: (one) => waiting(ofTurn(fact))(one) && isOther(one), reason: 'its agent reported without it' };
    }
    default:
      return null;
  }
}

type Test = Ended['of'];

function ofCast(cast: string): Test {
  return ({ from }) => from?.cast === cast;
}

function ofTurn({ cast, turn }: { readonly cast: string; readonly turn: number }): Test {
  return ({ from }) => from?.cast === cast && from.turn === turn;
}

/** What a person has said yes to stays good while the turn goes on. */
function waiting(isIts: Test): Test {
  return (approval) => approval.grant === null && isIts(approval);
}
