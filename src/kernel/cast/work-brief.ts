// What a brief says of the work for an item, to those who judge it, and of all items, to those who come after their loop. All
// of it is agents' and programs' text, so that it is quoted.
import { hasOwnPaths } from '../graph/write-scope.ts';
import { isTerminal, type Ledger, type Task, taskOf } from '../ledger/state.ts';
import type { Cast, State, Turn } from '../state.ts';
import { asData } from '../trust/as-data.ts';
import { cut } from './cut.ts';
import { type ItemWork, type TurnCheck, workBefore, workOf } from './item-work.ts';
import { collapse } from './rework.ts';
import { idsIn } from './task-list.ts';

const FILES_CHARS_MAX = 4_000;
const CHECKS_CHARS_MAX = 8_000;
const ITEMS_CHARS_MAX = 8_000;
const TITLE_CHARS_MAX = 120;
const FILES_NAMED_MAX = 5;

/** Empty for a turn that writes before any file was changed, and where no turn before it writes. */
export function workText(cast: Cast, turn: Turn): string {
  const about = turn.item ? 'for this item' : 'so far';
  const work = workBefore(cast, turn);
  if (!work || work.files.length === 0) return followsWriters(cast, turn) ? `No file was changed ${about}.` : '';
  const parts = [
    `Files changed ${about}:\n${asData(cut(filesText(work, work.files.length), FILES_CHARS_MAX))}`,
    work.checks.length === 0
      ? ''
      : `What the project's checks found after the last change:\n${asData(cut(work.checks.map(checkText).join('\n'), CHECKS_CHARS_MAX))}`,
    work.diff ? `The diff:\n${asData(work.diff.text)}` : '',
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

/** Whether the turn writes nothing itself and others do: of its loop, or, without an item, those that ran outside of loops. */
function followsWriters({ rules, visits }: Cast, { item, socket }: Turn): boolean {
  if (hasOwnPaths(rules, socket)) return false;
  const { loops, sockets } = rules.graph;
  const writers = Object.keys(sockets).filter((each) => hasOwnPaths(rules, each));
  const loopsOf = (each: string) => loops.filter((loop) => loop.sockets.includes(each));
  if (item) return writers.some((each) => loopsOf(socket).some((loop) => loop.sockets.includes(each)));
  return writers.some((each) => loopsOf(each).length === 0 && (visits[each] ?? 0) > 0);
}

function filesText({ files, filesMore }: ItemWork, max: number): string {
  const more = filesMore + Math.max(0, files.length - max);
  return [...files.slice(0, max), ...(more > 0 ? [`… and ${more} more`] : [])].join('\n');
}

function checkText({ name, ok, found, output }: TurnCheck): string {
  const said = output === undefined || output === '' ? '' : `\n${output}`;
  return `${name}: ${ok ? 'passed' : 'FAILED'} (${found})${said}`;
}

/** The items of the lists that are over, for a turn outside of every loop; empty while an item is still open. */
export function itemsText({ ledger }: Pick<State, 'ledger'>, cast: Cast, turn: Turn): string {
  if (turn.item || cast.rules.graph.loops.some(({ sockets }) => sockets.includes(turn.socket))) return '';
  const tasks = Object.keys(cast.lists)
    .sort()
    .flatMap((cursor) => idsIn(cast.lists[cursor]).flatMap((id) => rowOf(ledger, cast, id)));
  if (tasks.length === 0) return isPlanEmpty(cast) ? 'Nothing was planned: the list of work items is empty.' : '';
  if (tasks.some(({ status }) => !isTerminal(status) && status !== 'blocked')) return '';
  const lines: string[] = [];
  let room = ITEMS_CHARS_MAX;
  for (const task of tasks) {
    const line = itemLine(task, workOf(cast, task.id));
    room -= line.length + 1;
    if (room < 0) break;
    lines.push(line);
  }
  const more = tasks.length - lines.length;
  return asData([...lines, ...(more > 0 ? [`… and ${more} more items`] : [])].join('\n'));
}

function isPlanEmpty({ rules, data: { workItems } }: Cast): boolean {
  return rules.graph.loops.length > 0 && Array.isArray(workItems) && workItems.length === 0;
}

function rowOf(ledger: Ledger, { id: run }: Cast, id: string): readonly Task[] {
  const task = taskOf(ledger, run, id);
  return task ? [task] : [];
}

function itemLine(task: Task, work: ItemWork | null): string {
  const parts = [
    `${task.id} ${cut(collapse(task.title), TITLE_CHARS_MAX)}: ${outcomeText(task, work)}`,
    ...(work && work.files.length > 0
      ? [`files: ${filesText(work, FILES_NAMED_MAX).replaceAll('\n', ', ')}`]
      : work?.endedBy === undefined
        ? []
        : ['no file changed']),
    ...(work && work.checks.length > 0
      ? [`checks: ${work.checks.map(({ name, ok }) => `${name} ${ok ? 'passed' : 'FAILED'}`).join(', ')}`]
      : []),
    ...(work ? costText(work) : []),
  ];
  return parts.join('; ');
}

function outcomeText({ status, code }: Task, work: ItemWork | null): string {
  if (status === 'done') return work?.skipped ? 'skipped' : 'done';
  if (code === 'LEFT_EARLY') return 'left early';
  return status === 'blocked' ? `blocked (${code ?? 'unknown'})` : 'left out';
}

function costText({ usage: { input, output, cost } }: ItemWork): readonly string[] {
  const tokens = input + output;
  if (tokens === 0 && cost === 0) return [];
  return [`${tokens} tokens${cost > 0 ? `, cost ${cost.toFixed(4)}` : ''}`];
}
