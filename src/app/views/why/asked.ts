// A turn that waits for a person: a turn of the person's own, an agent's question, or a permission.
import { noteKey } from '../../../kernel/cast/notes.ts';
import { socketOf } from '../../../kernel/cast/rules.ts';
import type { OpenQuestion, Turn } from '../../../kernel/cast/state.ts';
import { firstEdge } from '../../../kernel/graph/route.ts';
import { counted } from '../../../kernel/text.ts';
import { unknownIn } from '../approval-outcomes.ts';
import { socketName } from '../socket-names.ts';
import { type Explanation, moment, type Situation, said, sentence, turnName, wayToTurn } from './situation.ts';

export function askedFor(situation: Situation, turn: Turn): Explanation {
  const { cast, baton } = situation;
  if (turn.asks)
    return turn.asks.what === 'approval'
      ? permission(situation, turn, turn.asks)
      : question(situation, turn, turn.asks);
  const again = turn.refusal ? ` The last answer was refused: ${sentence(turn.refusal.verdict.reason)}` : '';
  return {
    code: 'ANSWER_NEEDED',
    sentences: [`${turnName(cast, turn)} is a step that a person does.${again}`],
    commands: [
      { does: 'read its brief and answer', command: `${baton} answer ${cast.id} --turn ${turn.id}` },
      wayToTurn(situation, turn.id),
    ],
  };
}

/** An edge that was taken as often as it may be. */
export function spentAt(situation: Situation, turn: Turn): Explanation {
  const { cast, baton } = situation;
  const found = turn.handoff && firstEdge(socketOf(cast, turn.socket), turn.handoff);
  const rounds = counted(found?.edge.maxTraversals ?? 0, 'more round');
  const to = found?.edge.to ?? '';
  const notes = cast.rework[noteKey(to, turn.item?.key ?? null)] ?? [];
  const last = notes.at(-1);
  const why = last ? ` The last rejection: ${sentence(last.reason)}` : '';
  return {
    code: 'EDGE_BUDGET_EXHAUSTED',
    sentences: [
      `${turnName(cast, turn)} was accepted, but it may not go back to ${socketName(cast.rules, to)} again.${why}`,
    ],
    commands: [
      { does: `allow ${rounds}`, command: `${baton} continue ${cast.id}` },
      { does: 'stop the cast', command: `${baton} abort ${cast.id}` },
      wayToTurn(situation, turn.id),
    ],
  };
}

function question(situation: Situation, turn: Turn, asks: OpenQuestion): Explanation {
  const { cast, now, baton } = situation;
  const where = turnName(cast, turn);
  return {
    code: 'ANSWER_NEEDED',
    sentences: [`${where} asks since ${moment(asks.since, now)}: ${sentence(asks.question)}`],
    commands: [
      { does: 'answer', command: `${baton} answer ${cast.id} --turn ${turn.id} "…"` },
      { does: 'let the agent go on without an answer', command: `${baton} decide ${cast.id}:${turn.id} rerun` },
      { does: 'give the agent up', command: `${baton} decide ${cast.id}:${turn.id} fail` },
      wayToTurn(situation, turn.id),
    ],
  };
}

function permission(situation: Situation, turn: Turn, asks: OpenQuestion): Explanation {
  const { question: wish, since, approval, until } = asks;
  const { cast, now, baton } = situation;
  const where = turnName(cast, turn);
  const named = approval === null ? '' : ` ${approval}`;
  if (until !== undefined && now >= until) {
    const over = `It expired at ${moment(until, now)} before anybody decided; the agent has to ask again.`;
    return {
      code: 'APPROVAL_EXPIRED',
      sentences: [`${where} asked for permission${named} at ${moment(since, now)}: \`${said(wish)}\`. ${over}`],
      commands: [
        { does: 'tell the agent and let it go on', command: `${baton} continue ${cast.id}` },
        { does: 'give the agent up', command: `${baton} decide ${cast.id}:${turn.id} fail` },
        wayToTurn(situation, turn.id),
      ],
    };
  }
  if (approval !== null && unknownIn(situation.view.commands).has(approval)) {
    const wait = `waits for a person since ${moment(since, now)}: may this run once more? \`${said(wish)}\`.`;
    return {
      code: 'OUTCOME_UNKNOWN',
      sentences: [`${where} ${wait}`],
      commands: [
        { does: 'see what is known about it', command: `${baton} approvals` },
        {
          does: 'leave it, and tell the agent why',
          command: `${baton} reject ${approval} --reason "it ran"`,
        },
        wayToTurn(situation, turn.id),
      ],
    };
  }
  const decisions =
    approval === null
      ? []
      : [
          // Nobody is led to agree to what is not shown to the end.
          ...(said(wish).endsWith('…') ? [] : [{ does: 'allow it once', command: `${baton} approve ${approval}` }]),
          {
            does: 'refuse it, and tell the agent why',
            command: `${baton} reject ${approval} --reason "not now"`,
          },
        ];
  return {
    code: 'APPROVAL_NEEDED',
    sentences: [`${where} asks for permission${named} since ${moment(since, now)}: \`${said(wish)}\`.`],
    commands: [
      { does: 'see what waits for a decision', command: `${baton} approvals` },
      ...decisions,
      wayToTurn(situation, turn.id),
    ],
  };
}
