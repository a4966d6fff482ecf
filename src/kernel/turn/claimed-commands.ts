// The commands that a report says were run, without the entries that say that nothing was.
import { isObject, isString, type Json, type JsonObject } from '../json.ts';
import { listAt, sectionAt } from './report-section.ts';

const SAYS_NOT_RUN = /\b(?:not run|not executed|skipped|n\/a)\b/i;

export function claimedCommands(report: JsonObject): string[] {
  return listAt(sectionAt(report, 'evidence_report'), 'commands_run')
    .map(commandIn)
    .filter((command) => command !== '' && !SAYS_NOT_RUN.test(command) && command.toLowerCase() !== 'none');
}

function commandIn(entry: Json): string {
  const command = isObject(entry) ? (entry.command ?? entry.cmd) : entry;
  return isString(command) ? command.trim() : '';
}
