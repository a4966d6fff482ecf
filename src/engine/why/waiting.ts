// Why a cast waits for a person: a question, a permission, an outcome that nobody knows, or something to be put right first.

import { hearsWhenBlocked } from '../../kernel/cast/blocked.ts';
import { saidNow } from '../../kernel/cast/expired.ts';
import type { Entry } from '../../kernel/fact.ts';
import type { Turn } from '../../kernel/state.ts';
import { askedFor } from './asked.ts';
import { lookAt, moment, nameOf, type Standing, sentence, type Told, type Way } from './standing.ts';

export function waiting(standing: Standing): Told {
  const { cast, now } = standing;
  const { code, reason } = saidNow(cast.id, cast, now);
  const turns = Object.values(cast.turns);
  const parts = [
    ...turns.filter(({ phase }) => phase === 'unknown').map((turn) => unknown(standing, turn)),
    ...turns.filter(({ phase }) => phase === 'asked').map((turn) => askedFor(standing, turn)),
    ...turns.filter(({ phase }) => phase === 'blocked').map((turn) => blocked(standing, turn)),
  ];
  const isBlocked = turns.some(({ phase }) => phase === 'blocked');
  // Items that wait for a person's word are not blocked, and trying again would change nothing.
  const isStuck = isBlocked || (Object.keys(cast.lanes).length > 0 && !turns.some(({ phase }) => phase === 'asked'));
  const isAsking = parts.some((part) => part.code === code);
  return {
    code,
    // What no turn of it explains, the cast says itself.
    sentences: [...(isAsking ? [] : [sentence(reason)]), ...parts.flatMap((part) => part.sentences)],
    commands: [...parts.flatMap((part) => part.commands), ...(isStuck ? [goOn(standing)] : [])],
  };
}

function goOn({ baton, cast }: Standing): Way {
  return { does: 'try again what is blocked, once that is put right', command: `${baton} continue ${cast.id}` };
}

function unknown(standing: Standing, turn: Turn): Told {
  const { cast, baton } = standing;
  const decide = `${baton} decide ${cast.id}:${turn.id}`;
  return {
    code: 'OUTCOME_UNKNOWN',
    sentences: [
      `Turn ${turn.id}, ${nameOf(cast, turn)}, must not run twice and may have run before it was cut off. Find out whether it did.`,
    ],
    commands: [
      { does: 'run it, because it did not happen or may happen twice', command: `${decide} rerun` },
      { does: 'go on, because it happened', command: `${decide} accept` },
      { does: 'fail the cast, because it went wrong', command: `${decide} fail` },
      lookAt(standing, turn.id),
    ],
  };
}

function blocked(standing: Standing, turn: Turn): Told {
  const { cast, entries, now, baton } = standing;
  const found = entries.findLast(isBlockOf(turn.id));
  const fact = found?.fact.kind === 'turn.blocked' ? found.fact : null;
  const since = found ? ` since ${moment(Date.parse(found.at), now)}` : '';
  const why = fact ? ` (${fact.code}): ${sentence(fact.reason)}` : '.';
  const more: Way[] = [];
  if (fact?.code === 'MERGE_CONFLICT')
    more.push({ does: 'see what the cast changed', command: `${baton} diff ${cast.id}` });
  return {
    code: fact?.code ?? null,
    sentences: [`Turn ${turn.id}, ${nameOf(cast, turn)}, is blocked${since}${why}`],
    commands: [
      ...more,
      ...spokenTo(standing, turn, fact?.code),
      ...leaveOut(standing, turn),
      lookAt(standing, turn.id),
    ],
  };
}

/** An item can be left out; what is a step of the graph cannot. */
function leaveOut({ cast, baton }: Standing, { item, task }: Turn): readonly Way[] {
  if (item === null || task === null) return [];
  const command = `${baton} task move ${task} canceled --run ${cast.id} --reason "not needed"`;
  return [{ does: 'leave the item out, before it goes on', command }];
}

/** The ways on with an agent that stopped by its own report, or never got further than one. */
function spokenTo(standing: Standing, turn: Turn, code: string | undefined): readonly Way[] {
  const { cast, baton } = standing;
  const isOwn = code === 'AGENT_BLOCKED' || code === 'RETRY_LIMIT';
  if (!isOwn || !hearsWhenBlocked(cast, turn)) return [];
  return [
    goOn(standing),
    { does: 'tell the agent what it lacks', command: `${baton} answer ${cast.id} --turn ${turn.id} "…"` },
    { does: 'give the agent up', command: `${baton} decide ${cast.id}:${turn.id} fail` },
    { does: 'stop the cast', command: `${baton} abort ${cast.id}` },
  ];
}

function isBlockOf(turn: number): (entry: Entry) => boolean {
  return ({ fact }) => fact.kind === 'turn.blocked' && fact.turn === turn;
}
