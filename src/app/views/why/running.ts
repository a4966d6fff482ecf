// Why a cast that runs is where it is: which turns are under way, and what postponed ones wait for.
import { taskOfTurn } from '../../../kernel/cast/item.ts';
import { ownerOf } from '../../../kernel/cast/rules.ts';
import type { PostponedTurn, Turn } from '../../../kernel/cast/state.ts';
import { isObject, isString, type JsonObject } from '../../../kernel/json.ts';
import { refusalOfClaim } from '../../../kernel/ledger/claim.ts';
import { spokenPath } from '../../../kernel/ledger/path.ts';
import { runOf, taskOf } from '../../../kernel/ledger/state.ts';
import { askedFor, spentAt } from './asked.ts';
import { type Explanation, moment, namedIn, type Situation, said, sentence, turnName, type Way } from './situation.ts';

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
        `has been at work on attempt ${turn.attempt} since ${moment(turn.startedAt, now)}.${heardOf(situation, turn)}`,
      );
    case 'held':
      return turn.held ? postponed(situation, where, turn.held, turn) : NOTHING;
    case 'asked':
      return askedFor(situation, turn);
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

/** Its last sign of life, so that one can tell who is slow from who is stuck. */
function heardOf({ signs, now }: Situation, { id }: Turn): string {
  const sign = signs?.get(id);
  if (!sign) return '';
  const call = sign.tool === null ? '' : `; its last tool call was ${said(sign.tool, 60)}`;
  return ` Its last sign of life was at ${moment(sign.at, now)}${call}.`;
}

/** A start that was postponed, and what lets it go on. */
function postponed(situation: Situation, what: string, held: PostponedTurn, turn?: Turn): Explanation {
  const { cast, baton, now, ledger } = situation;
  const { code, reason, until, gate } = held;
  const by = gate === undefined ? code : `${code}, by the check "${gate}"`;
  if (ledger?.hold) {
    const { by: who, reason: why } = ledger.hold;
    const sentences = [`${what} is postponed: ${who} paused the workspace (${said(why)}), and nothing new starts.`];
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
  return isString(owner) && owner !== '' ? owner : 'nobody in particular';
}

function wayTo(run: string, isCast: boolean, baton: string): Way {
  return isCast
    ? { does: 'see what the holder waits for', command: `${baton} why ${run}` }
    : { does: 'see the tasks of the holder', command: `${baton} task list --run ${run}` };
}
