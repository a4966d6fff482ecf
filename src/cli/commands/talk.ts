// `baton talk`: a prompt in the terminal, with the conversation so far. A script says one thing, or reads the conversation.
import { createInterface } from 'node:readline/promises';
import type { OperationName } from '../../app/operations/table.ts';
import type { Given } from '../../app/perform.ts';
import type { CastView } from '../../app/views/shown-cast.ts';
import { isString, type JsonObject } from '../../kernel/json.ts';
import { type Call, EXIT_CODE, note, out, outJson, Refused } from '../command.ts';
import { drive, driven, exitForStatus, showDriven } from '../drive-operation.ts';
import type { Giving } from '../operation-command.ts';
import { rowsIn } from '../show/form.ts';
import { allowed } from '../show-operation.ts';
import { safe } from '../terminal-text.ts';

export async function talkCommand(call: Call, giving: Giving): Promise<number> {
  const { text: _word, ...given } = await giving();
  const text = call.words.slice(1).join(' ');
  if (text !== '') return drive(call, 'cast.talk', { ...given, text });
  const conversation = await allowed(call, 'cast.talk', given);
  if (call.json) {
    outJson(conversation);
    return EXIT_CODE.ok;
  }
  for (const line of linesOf(conversation, 0)) out(line);
  return process.stdin.isTTY && process.stderr.isTTY ? prompt(call, given, conversation) : EXIT_CODE.ok;
}

const SPEAKERS: Readonly<Record<string, string>> = { person: 'you', runtime: 'baton' };

function linesOf(conversation: JsonObject, from: number): readonly string[] {
  const lines = rowsIn(conversation.lines).slice(from);
  return lines.map(
    ({ from, text }) => `${SPEAKERS[String(from)] ?? String(conversation.label)}: ${safe(String(text))}`,
  );
}

async function prompt(call: Call, given: Given, first: JsonObject): Promise<number> {
  const { cast } = first;
  let shown = rowsIn(first.lines).length;
  note('A line says something. /continue ends the conversation, /quit leaves it as it is.');
  // The arrow keys bring back what the person said before, the newest first.
  const questions = rowsIn(first.lines).flatMap(({ from, text }) => (from === 'person' ? [String(text)] : []));
  const history = questions.toReversed();
  for (;;) {
    const line = await nextLine(history);
    if (line === null || line === '/quit') return EXIT_CODE.ok;
    if (line === '') continue;
    // A misspelt command is not for the agent. A line such as `/etc/hosts is wrong` is.
    if (line !== '/continue' && /^\/[a-z]+$/.test(line)) {
      note(`There is no ${safe(line)} here: /continue ends the conversation, /quit leaves it as it is.`);
      continue;
    }
    history.unshift(line);
    if (line === '/continue') return drive(call, 'cast.continue', { cast: isString(cast) ? cast : 'latest' });
    const end = await carriedOn(call, 'cast.talk', { ...given, text: line });
    if (end !== null) return end;
    const conversation = await allowed(call, 'cast.talk', given);
    // Their own line is on the screen already.
    for (const line of linesOf(conversation, shown + 1)) out(line);
    shown = rowsIn(conversation.lines).length;
  }
}

/** Null while the agent talks on; else the exit code of a cast that stopped. */
async function carriedOn(call: Call, name: OperationName, given: Given): Promise<number | null> {
  const end = await driven(call, name, given);
  const view = end.verdict.details as unknown as CastView;
  if (view.cast === undefined && !end.verdict.allow) throw new Refused(end.verdict);
  if (view.status === 'waiting' || view.status === undefined) return null;
  await showDriven(call, end, given);
  return exitForStatus(view.status);
}

async function nextLine(history: readonly string[]): Promise<string | null> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr, history: [...history] });
  const closed = new Promise<null>((resolve) => terminal.once('close', () => resolve(null)));
  try {
    const line = await Promise.race([terminal.question('> '), closed]);
    return line === null ? null : line.trim();
  } finally {
    terminal.close();
  }
}
