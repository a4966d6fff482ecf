// Why a cast waits for a person: a question, a permission, an outcome that nobody knows, or something to be put right first.

import { isAnswerableWhenBlocked, reasonNow } from '../../../kernel/cast/asked.ts';
import { parkedIn } from '../../../kernel/cast/item.ts';
import type { Turn } from '../../../kernel/cast/state.ts';
import { askedFor, spentAt } from './asked.ts';
import {
  type Explanation,
  moment,
  namedIn,
  type Situation,
  said,
  sentence,
  turnName,
  type Way,
  wayToTurn,
} from './situation.ts';

export function explainWaiting(situation: Situation): Explanation {
  const { cast, now } = situation;
  const { code, reason } = reasonNow(cast.id, cast, now);
  const turns = Object.values(cast.turns);
  const parts = [
    ...turns.filter(({ phase }) => phase === 'unknown').map((turn) => unknown(situation, turn)),
    ...turns.filter(({ phase }) => phase === 'asked').map((turn) => askedFor(situation, turn)),
    ...turns.filter(({ phase }) => phase === 'spent').map((turn) => spentAt(situation, turn)),
    ...turns.filter(({ phase }) => phase === 'blocked').map((turn) => blocked(situation, turn)),
  ];
  if (code === 'ITEMS_PARKED') parts.push(parkedItems(situation));
  const isBlocked = turns.some(({ phase }) => phase === 'blocked');
  // Items that wait for a person's word are not blocked, and trying again would change nothing.
  const isAsked = turns.some(({ phase }) => phase === 'asked' || phase === 'spent');
  const isStuck = isBlocked || (code !== 'ITEMS_PARKED' && Object.keys(cast.lanes).length > 0 && !isAsked);
  const isAsking = parts.some((part) => part.code === code);
  return {
    code,
    // What no turn of it explains, the cast says itself.
    sentences: [...(isAsking ? [] : [sentence(namedIn(cast, reason))]), ...parts.flatMap((part) => part.sentences)],
    commands: [...parts.flatMap((part) => part.commands), ...(isStuck ? [goOn(situation)] : [])],
  };
}

/** Each parked item with its last rejection, where its work is kept, and both ways on. */
function parkedItems({ cast, ledger, baton }: Situation): Explanation {
  const parked = (ledger && parkedIn({ ledger }, cast)) ?? Object.values(cast.parked ?? {});
  const ways = parked.flatMap(({ item }): Way[] => {
    const name = `${cast.id}:${item.key}`;
    return [
      { does: `work on ${item.key} again`, command: `${baton} retry ${name} --note "…"` },
      { does: `leave ${item.key} out`, command: `${baton} drop ${name} --reason "…"` },
    ];
  });
  const isInPlace = cast.root === undefined;
  return {
    code: 'ITEMS_PARKED',
    sentences: parked.map(({ item, note, kept }) => {
      const why = note === '' ? '' : ` The last rejection: ${sentence(note)}`;
      const where = kept
        ? ` Its work is kept as ${kept.ref}.`
        : isInPlace
          ? ' Nothing of its work was taken back.'
          : '';
      return `${said(item.label, 60)} (${item.key}) is parked.${why}${where}`;
    }),
    commands: ways,
  };
}

function goOn({ baton, cast }: Situation): Way {
  return { does: 'retry what is blocked, once you have fixed the cause', command: `${baton} continue ${cast.id}` };
}

function unknown(situation: Situation, turn: Turn): Explanation {
  const { cast, baton } = situation;
  const decide = `${baton} decide ${cast.id}:${turn.id}`;
  return {
    code: 'OUTCOME_UNKNOWN',
    sentences: [
      `${turnName(cast, turn)} must not run twice, and may have run before it was cut off. Find out whether it did.`,
    ],
    commands: [
      { does: 'run it, because it did not happen or may happen twice', command: `${decide} rerun` },
      { does: 'go on, because it happened', command: `${decide} accept` },
      { does: 'fail the cast, because it went wrong', command: `${decide} fail` },
      wayToTurn(situation, turn.id),
    ],
  };
}

function blocked(situation: Situation, turn: Turn): Explanation {
  const { cast, view, now, baton } = situation;
  const found = view.turns.get(turn.id)?.blocked ?? null;
  const since = found ? ` since ${moment(Date.parse(found.at), now)}` : '';
  const why = found ? ` (${found.code}): ${sentence(namedIn(cast, found.reason))}` : '.';
  const more: Way[] = [];
  if (found?.code === 'MERGE_CONFLICT')
    more.push({ does: 'see what the cast changed', command: `${baton} diff ${cast.id}` });
  return {
    code: found?.code ?? null,
    sentences: [`${turnName(cast, turn)} is blocked${since}${why}`],
    commands: [
      ...more,
      ...spokenTo(situation, turn, found?.code),
      ...leaveOut(situation, turn),
      wayToTurn(situation, turn.id),
    ],
  };
}

/** An item can be left out; what is a step of the graph cannot. */
function leaveOut({ cast, baton }: Situation, { item, task }: Turn): readonly Way[] {
  if (item === null || task === null) return [];
  const command = `${baton} task move ${task} canceled --run ${cast.id} --reason "not needed"`;
  return [{ does: 'leave the item out', command }];
}

/** The ways on with an agent that stopped by its own report, or never got further than one. */
function spokenTo(situation: Situation, turn: Turn, code: string | undefined): readonly Way[] {
  const { cast, baton } = situation;
  const isOwn = code === 'AGENT_BLOCKED' || code === 'RETRY_LIMIT';
  if (!isOwn || !isAnswerableWhenBlocked(cast, turn)) return [];
  return [
    goOn(situation),
    { does: 'tell the agent what it lacks', command: `${baton} answer ${cast.id} --turn ${turn.id} "…"` },
    { does: 'give the agent up', command: `${baton} decide ${cast.id}:${turn.id} fail` },
    { does: 'stop the cast', command: `${baton} abort ${cast.id}` },
  ];
}
