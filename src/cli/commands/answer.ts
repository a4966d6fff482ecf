// `baton answer`: what a person says in a turn of theirs, or to an agent that asks or is blocked; then the cast is carried on.

import { hasLog } from '../../app/state-folder.ts';
import { issuesBeyond } from '../../app/views/result.ts';
import type { Door } from '../../engine/door.ts';
import { answerable } from '../../kernel/cast/asked.ts';
import { isObject } from '../../kernel/json.ts';
import type { Turn } from '../../kernel/state.ts';
import { type Denied, deny, type Verdict } from '../../kernel/verdict.ts';
import { again, type Call, EXIT, note, out, outJson, Refused, text, UsageError } from '../command.ts';
import { driveAndShow, withDriver } from '../driving.ts';
import { workspaceOf } from '../find-workspace.ts';
import { nameCast, noCastYet } from '../looking.ts';
import { readInput } from '../read-input.ts';
import { requirePerson } from '../refuse-agents.ts';
import { safe } from '../safe-text.ts';
import { isNotTaken, sayingTo } from '../say-to-cast.ts';
import { person } from '../session.ts';

export async function run(call: Call): Promise<number> {
  const [castWord, ...words] = call.words;
  const file = text(call.values, 'file');
  if (file !== undefined && words.length > 0) throw new UsageError('give the answer as words or with --file, not both');
  const number = turnNumber(call);
  const workspace = workspaceOf(call);
  if (!hasLog(workspace)) throw noCastYet(workspace);
  return withDriver(workspace, async (door) => {
    const { cast } = await nameCast(door, castWord);
    requirePerson(call, cast);
    const turn = await askedTurn(door, cast, number);
    const output = words.length > 0 ? words.join(' ') : await given(call, file, turn);
    if (output.trim() === '')
      throw new UsageError(`the answer is empty; say it as words: ${again(call)} answer ${cast} --turn ${turn.id} "…"`);
    const answer = () => door.submit({ kind: 'turn.answer', cast, turn: turn.id, output }, person());
    // Whoever drives the cast goes on by itself as soon as the answer is in the log.
    if (await door.driverOf(cast)) return told(call, await answer());
    const saying = sayingTo(door, cast, isNotTaken);
    const begin = async (say: (line: string) => void) => {
      // A refusal of the answer itself is in the log, and the cast asks again; any other ends the command.
      const verdict = await saying.say(answer);
      if (!verdict.allow && !isNotTaken(verdict)) for (const line of issuesIn(verdict)) say(line);
    };
    return driveAndShow(call, workspace, door, cast, { begin, refused: saying.refused });
  });
}

function turnNumber(call: Call): number | null {
  const word = text(call.values, 'turn');
  if (word === undefined) return null;
  if (!/^[1-9]\d{0,9}$/.test(word)) throw new UsageError(`--turn must be the number of a turn, not ${word}`);
  return Number(word);
}

/** Nothing is driven, and nobody asked for text, before it is clear that an answer is wanted. */
async function askedTurn(door: Door, cast: string, number: number | null): Promise<Turn> {
  const state = await door.cast(cast);
  const turns = state ? answerable(state) : [];
  const wanted = number === null ? turns : turns.filter(({ id }) => id === number);
  const [turn, ...others] = wanted;
  if (turn && others.length === 0) return turn;
  const ids = turns.map(({ id }) => id);
  const reason = turn
    ? `turns ${ids.join(', ')} of cast ${cast} wait for an answer; name one with --turn`
    : number === null
      ? `no turn of cast ${cast} waits for an answer`
      : `turn ${number} of cast ${cast} does not wait for an answer`;
  throw new Refused(deny('NOT_ALLOWED_NOW', reason, { waiting: ids }));
}

async function given(call: Call, file: string | undefined, turn: Turn): Promise<string> {
  if (file !== undefined) return readInput(call, file);
  const asked = turn.asks ? safe(turn.asks.question) : (turn.brief ?? '');
  if (process.stdin.isTTY) note(`${asked}\n\nYour answer, ended with Ctrl-D on a line of its own:`);
  return readInput(call, '-');
}

function told(call: Call, verdict: Verdict): number {
  if (!verdict.allow) throw new Refused(verdict);
  if (call.json) outJson(verdict);
  else out(verdict.reason);
  return EXIT.ok;
}

function issuesIn({ reason, details }: Denied): string[] {
  const issues = Array.isArray(details.issues) ? details.issues.filter(isObject) : [];
  return [
    `refused: ${reason}`,
    ...issuesBeyond(reason, issues).map(({ path, message }) => `  ${String(path)}: ${String(message)}`),
  ];
}
