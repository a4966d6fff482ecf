// Why a cast that runs or waits is where it is: which turns are under way, what postponed ones wait for, and what a person has to answer,
// allow, find out or put right first.

import { isAnswerableWhenBlocked, reasonNow } from '../../../kernel/cast/asked.ts';
import { parkedIn, taskOfTurn } from '../../../kernel/cast/item.ts';
import { ownerOf } from '../../../kernel/cast/rules.ts';
import type { PostponedTurn, Turn } from '../../../kernel/cast/state.ts';
import { isObject, isString, type JsonObject } from '../../../kernel/json.ts';
import { refusalOfClaim } from '../../../kernel/ledger/claim.ts';
import { spokenPath } from '../../../kernel/ledger/path.ts';
import { runOf, taskOf } from '../../../kernel/ledger/state.ts';
import {
  askedFor,
  type Explanation,
  inShort,
  moment,
  namedIn,
  type Situation,
  sentence,
  spentAt,
  turnName,
  type Way,
  wayToTurn,
} from './situation.ts';

export function explainRunning(situation: Situation): Explanation {
  const { cast, baton, driver } = situation;
  const turns = Object.values(cast.turns).map((turn) => ofTurn(situation, turn));
  const lanes = Object.values(cast.lanes).flatMap(({ held }) =>
    held ? [postponed(situation, 'The next item', held)] : [],
  );
  const parts = [...turns, ...lanes];
  const code = parts.find((part) => part.code !== null)?.code ?? null;
  const sentences = parts.flatMap((part) => part.sentences);
  if (!driver) {
    const resume = { does: 'carry it on', command: `${baton} resume ${cast.id}` };
    const alone = 'No process runs it: the one that did has ended. Nothing that was accepted is lost.';
    return { code, sentences: [alone, ...sentences], commands: [resume, ...parts.flatMap((part) => part.commands)] };
  }
  const drives = `Process ${driver.pid} on ${driver.host} runs it.`;
  const watch = { does: 'follow it', command: `${baton} watch ${cast.id}` };
  const idle = parts.length === 0 ? ['It is between two turns.'] : [];
  return {
    code,
    sentences: [drives, ...idle, ...sentences],
    commands: [...parts.flatMap((part) => part.commands), watch],
  };
}

const NOTHING: Explanation = { code: null, sentences: [], commands: [] };

function ofTurn(situation: Situation, turn: Turn): Explanation {
  const { cast, now } = situation;
  const where = turnName(cast, turn);
  const tells = (text: string): Explanation => ({ ...NOTHING, sentences: [`${where} ${text}`] });
  switch (turn.phase) {
    case 'running':
      return tells(
        `has been at work on attempt ${turn.attempt} since ${moment(turn.startedAt, now)}.${lastSignText(situation, turn)}`,
      );
    case 'held':
      return turn.held ? postponed(situation, where, turn.held, turn) : NOTHING;
    case 'asked':
      return askedFor(situation, turn);
    case 'awaiting':
      return awaiting(situation, where, turn);
    case 'verifying':
      return tells('has answered; what it did is being checked.');
    case 'merging':
      return tells('was accepted; its work is being merged into the branch of the cast.');
    case 'spent':
      return spentAt(situation, turn);
    case 'blocked':
      return tells('is blocked, and the other items go on.');
    case 'unknown':
      return tells('may have run before it was cut off.');
    case 'owed':
      return tells('is about to start.');
    default:
      return NOTHING;
  }
}

/** What it waits for, until when, and how a person ends that. */
function awaiting({ cast, baton, now }: Situation, where: string, { id, awaits }: Turn): Explanation {
  if (!awaits) return NOTHING;
  const found = awaits.found === undefined ? '' : ` The last look found: ${sentence(awaits.found)}`;
  const bound = awaits.what === 'time' ? '' : `, for at most until ${moment(awaits.until, now)}`;
  const text = `${where} waits until ${awaits.words}${bound}. It began to wait at ${moment(awaits.since, now)}.${found}`;
  const decide = `${baton} decide ${cast.id}:${id}`;
  return {
    code: null,
    sentences: [text],
    commands: [
      { does: 'go on as if it were met', command: `${decide} accept` },
      { does: 'end it as not met', command: `${decide} fail` },
    ],
  };
}

/** Its last sign of life, so that one can tell who is slow from who is stuck. */
function lastSignText({ signs, now }: Situation, { id }: Turn): string {
  const sign = signs?.get(id);
  if (!sign) return '';
  const call = sign.tool === null ? '' : `; its last tool call was ${inShort(sign.tool, 60)}`;
  return ` Its last sign of life was at ${moment(sign.at, now)}${call}.`;
}

/** A start that was postponed, and what lets it go on. */
function postponed(situation: Situation, what: string, held: PostponedTurn, turn?: Turn): Explanation {
  const { cast, baton, now, ledger } = situation;
  const { code, reason, until, gate } = held;
  const by = gate === undefined ? code : `${code}, by the check "${gate}"`;
  if (ledger?.hold) {
    const { by: who, reason: why } = ledger.hold;
    const sentences = [`${what} is postponed: ${who} paused the workspace (${inShort(why)}), and nothing new starts.`];
    return { code, sentences, commands: [{ does: 'let new work start again', command: `${baton} unhold` }] };
  }
  if (until !== null && code !== 'LOCK_CONFLICT') {
    const isPast = until <= now;
    const when = isPast ? 'and its time has come' : `and starts by itself at ${moment(until, now)}`;
    return {
      code,
      sentences: [`${what} is postponed (${by}), ${when}: ${sentence(namedIn(cast, reason))}`],
      commands: [],
    };
  }
  const sentences = [
    `${what} is postponed (${by}): ${sentence(namedIn(cast, reason))} It starts by itself once that is over.`,
  ];
  const holder = code === 'LOCK_CONFLICT' && turn ? holderFor(situation, turn) : null;
  return {
    code,
    sentences: [...sentences, ...(holder?.sentences ?? [])],
    commands: [
      ...(holder?.commands ?? []),
      ...(code === 'LOCK_CONFLICT' ? [{ does: 'see who holds what', command: `${baton} lock list` }] : []),
      ...(code === 'DEPENDENCY_NOT_MET' ? [{ does: 'see the tasks', command: `${baton} task list` }] : []),
    ],
  };
}

/** Whose lock it is now, and since when. */
function holderFor(
  { cast, ledger, now, baton }: Situation,
  turn: Turn,
): Pick<Explanation, 'sentences' | 'commands'> | null {
  const task = ledger ? taskOfTurn({ ledger }, cast, turn) : null;
  if (!ledger || !task) return null;
  const refusal = refusalOfClaim(ledger, task, ownerOf(cast, turn.socket), now);
  if (refusal === null) return { sentences: ['Its holder has released it.'], commands: [] };
  const { holder } = refusal.details;
  if (!isObject(holder) || !isString(holder.run) || !isString(holder.task)) return null;
  const rival = taskOf(ledger, holder.run, holder.task);
  const since = rival?.claimedAt ? ` since ${moment(rival.claimedAt, now)}` : '';
  const isCast = runOf(ledger, holder.run)?.cast === true;
  const whose = isCast ? `cast ${holder.run}` : `run ${holder.run}`;
  const path = isString(holder.path) ? ` holds ${spokenPath(holder.path)}` : ' is in the way';
  const sentences = [`${holder.task} of ${whose}, for ${ownerIn(holder)},${path}${since}.`];
  return { sentences, commands: [wayTo(holder.run, isCast, baton)] };
}

function ownerIn({ owner }: JsonObject): string {
  return isString(owner) && owner !== '' ? owner : 'an unnamed owner';
}

function wayTo(run: string, isCast: boolean, baton: string): Way {
  return isCast
    ? { does: 'see what the holder waits for', command: `${baton} why ${run}` }
    : { does: 'see the tasks of the holder', command: `${baton} task list --run ${run}` };
}

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
      return `${inShort(item.label, 60)} (${item.key}) is parked.${why}${where}`;
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

/** An item can be left out; a step of the graph cannot. */
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
