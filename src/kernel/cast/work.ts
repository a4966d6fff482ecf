// What was done for an item so far: the files that its turns changed, the diff since its first change, what the checkers found,
// and what it cost. The turns that follow on the same item judge by it. When the item is over only a summary is kept. Turns
// without an item share one such record, so that a judge outside of a loop sees what was done before it.
import { hasOwnPaths } from '../graph/socket-rules.ts';
import { isTerminal, type Ledger, type Task, taskKey, taskOf } from '../ledger/state.ts';
import { scrub } from '../secrets.ts';
import type { State } from '../state.ts';
import { collapse, cut, firstBytes, newest } from '../text.ts';
import { asData } from '../trust/as-data.ts';
import type { CastFact } from './fact.ts';
import { idsIn } from './item.ts';
import type { Cast, ItemDiff, ItemWork, Turn, TurnCheck, Usage } from './state.ts';

/** What is seen of a turn that changed files. */
export type SeenWork = { readonly turnChecks?: readonly TurnCheck[]; readonly diff?: ItemDiff };

const FILES_MAX = 200;
const FILES_KEPT_MAX = 20;
/** So many items that are over are remembered; what a cast remembers does not grow with its lists. */
export const ITEMS_KEPT_MAX = 100;
export const CHECKS_MAX = 20;
export const CHECK_OUTPUT_CHARS_MAX = 4_000;
export const DIFF_BYTES_MAX = 24 * 1024;

export function workOf({ id, work }: Pick<Cast, 'id' | 'work'>, task: string | null): ItemWork | null {
  return (task !== null && work?.[taskKey(id, task)]) || null;
}

/** No task has this id: the record of all turns without an item. */
const WITHOUT_ITEM = '';

/** What was done for the item of the turn; for a turn without an item, by all such turns. */
export function workBefore(cast: Pick<Cast, 'id' | 'work'>, { item, task }: Pick<Turn, 'item' | 'task'>) {
  return item === null ? (cast.work?.[taskKey(cast.id, WITHOUT_ITEM)] ?? null) : workOf(cast, task);
}

/** Bounded and without secrets, as it is recorded with the turn. */
export function recordedWork({ turnChecks = [], diff }: SeenWork): { checks?: readonly TurnCheck[]; diff?: ItemDiff } {
  const checks = turnChecks.slice(0, CHECKS_MAX).map(({ name, ok, found, output }) => {
    const said = output === undefined ? {} : { output: newest(scrub(output).text, CHECK_OUTPUT_CHARS_MAX) };
    return { name, ok, found: scrub(found).text, ...said };
  });
  const { base } = diff ?? {};
  // The note about what was left out is the last line, so some room is left for it.
  const text = diff ? firstBytes(scrub(diff.text).text, DIFF_BYTES_MAX + 1_024) : '';
  return {
    ...(checks.length > 0 ? { checks } : {}),
    ...(diff ? { diff: { ...(base === undefined ? {} : { base }), text } } : {}),
  };
}

/** An accepted turn changed files. */
export function noteAccepted(cast: Cast, turn: Turn, fact: Extract<CastFact, { kind: 'turn.accepted' }>): void {
  const { touched = {}, checks, diff } = fact;
  const paths = Object.keys(touched);
  if (paths.length === 0 || !hasOwnPaths(cast.rules, turn.socket)) return;
  const work = openWork(cast, turn);
  if (!work) return;
  const known = new Set(work.files);
  for (const path of paths) {
    if (known.has(path)) continue;
    if (work.files.length < FILES_MAX) work.files.push(path);
    else work.filesMore += 1;
  }
  work.checks = checks ?? [];
  if (diff) work.diff = diff;
}

/** What an attempt for an item used, whatever became of it. */
export function noteUsage(cast: Cast, turn: Turn, { input, output, cost }: Usage): void {
  if (turn.item === null || (input === 0 && output === 0 && cost === 0)) return;
  const work = openWork(cast, turn);
  if (!work) return;
  work.usage = {
    input: work.usage.input + input,
    output: work.usage.output + output,
    cost: work.usage.cost + cost,
  };
}

/** The item of the turn is over. */
export function noteOver(cast: Cast, turn: Turn | undefined): void {
  if (!turn?.item) return;
  const isSkipped = cast.rules.graph.sockets[turn.socket]?.advance?.when === 'not_satisfied';
  const work = openWork(cast, turn);
  if (!work) return;
  if (isSkipped) work.skipped = true;
  delete work.diff;
  work.checks = work.checks.map(({ name, ok, found }) => ({ name, ok, found }));
  work.filesMore += Math.max(0, work.files.length - FILES_KEPT_MAX);
  work.files = work.files.slice(0, FILES_KEPT_MAX);
  work.endedBy = turn.id;
  forgetOldest(cast);
}

function forgetOldest({ work = {} }: Cast): void {
  const over = Object.entries(work).filter(([, { endedBy }]) => endedBy !== undefined);
  if (over.length <= ITEMS_KEPT_MAX) return;
  const [oldest] = over.sort(([, a], [, b]) => (a.endedBy ?? 0) - (b.endedBy ?? 0));
  if (oldest) delete work[oldest[0]];
}

function openWork(cast: Cast, { item, task }: Turn): ItemWork | null {
  const id = item === null ? WITHOUT_ITEM : task;
  if (id === null) return null;
  cast.work ??= {};
  const key = taskKey(cast.id, id);
  cast.work[key] ??= { files: [], filesMore: 0, checks: [], usage: { input: 0, output: 0, cost: 0 } };
  return cast.work[key] ?? null;
}

// What a brief says of the work for an item, to those who judge it, and of all items, to those who come after their loop. All
// of it is agents' and programs' text, so that it is quoted.
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
