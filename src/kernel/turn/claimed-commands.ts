// The commands that a report says were run, without the entries that say that nothing was, and without the results that are
// often written behind them.
import { isObject, isString, type Json, type JsonObject } from '../json.ts';
import { listAt, sectionAt } from './report-section.ts';

/** A number of skipped tests is a result, and the command was run. */
const SAYS_NOT_RUN = /\b(?:not run|not executed|(?<!\d )skipped|n\/a)\b/i;

export function claimedCommands(report: JsonObject): string[] {
  return listAt(sectionAt(report, 'evidence_report'), 'commands_run').flatMap((entry) => commandIn(entry) ?? []);
}

/** Null where the entry names no command, or one that was not run. */
function commandIn(entry: Json): string | null {
  const named = isObject(entry) ? (entry.command ?? entry.cmd) : entry;
  if (!isString(named)) return null;
  const { command, result } = isObject(entry) ? { command: named.trim(), result: '' } : parted(named.trim());
  if (command === '' || command.toLowerCase() === 'none') return null;
  return SAYS_NOT_RUN.test(command) || NOT_RUN.test(result) ? null : command;
}

/** So a result begins that says that there is none. */
const NOT_RUN = /^[\s(*_]*(?:not run|not executed|skipped|n\/a)\b/i;

type Parted = { readonly command: string; readonly result: string };

/** The command, and what came of it: `npm test -> ok`, `npm run build: exit 0`. */
function parted(text: string): Parted {
  const end = text.startsWith('`') ? text.indexOf('`', 1) : -1;
  const behind = end === -1 ? '' : text.slice(end + 1);
  const marked = /^\s*(?:->|=>|→|:|\()/.exec(behind);
  if (marked) return { command: text.slice(1, end).trim(), result: behind.slice(marked[0].length) };
  let quote = '';
  for (const { index, 0: found } of text.matchAll(QUOTE_OR_MARK)) {
    // Within quotes it is a part of the command.
    if (found === "'" || found === '"') quote = quote === '' ? found : quote === found ? '' : quote;
    else if (quote === '') return { command: text.slice(0, index).trim(), result: text.slice(index + found.length) };
  }
  return { command: text, result: '' };
}

const QUOTE_OR_MARK = /['"]| (?:->|=>|→) |: (?=(?:exit|ok|pass|fail|success)(?:\b|ed\b))/gi;
