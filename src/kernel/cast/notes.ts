// What a cast remembers for the turns that follow: rework notes, lines of context, the exchange within a turn, and what was
// done for each item (files, diff, checks, usage). All of it is bounded, and a brief quotes it as data.
import type { Handoff } from '../dialect.ts';
import type { Edge, Materia, Socket } from '../graph/config.ts';
import { hasOwnPaths } from '../graph/route.ts';
import { isObject, isText, type Json } from '../json.ts';
import { spokenPaths } from '../ledger/path.ts';
import { isTerminal, type Ledger, type Task, taskKey, taskOf } from '../ledger/state.ts';
import { scrub } from '../secrets.ts';
import type { State } from '../state.ts';
import { collapse, firstBytes, lastChars, truncate } from '../text.ts';
import { asData, escaped } from '../trust/injection.ts';
import type { CastFact } from './fact.ts';
import { idsIn } from './item.ts';
import type {
  Cast,
  ContextNote,
  ExchangeLine,
  Item,
  ItemDiff,
  ItemWork,
  ReworkNote,
  Said,
  Turn,
  TurnCheck,
  Usage,
} from './state.ts';

export const REWORK_NOTES_MAX = 3;
const REASON_CHARS_MAX = 900;
const BLOCK_CHARS_MAX = 2400;
const LABEL_CHARS_MAX = 200;

export function noteFor(turn: Turn, socket: Socket, materia: Materia, edge: Edge, handoff: Handoff): ReworkNote {
  return {
    from: socket.id,
    label: materia.label,
    target: edge.to,
    when: 'not_satisfied',
    item: turn.item?.key ?? null,
    itemLabel: turn.item?.label ?? null,
    reason: reasonOf(handoff.payload, handoff.note),
  };
}

/** The notes a start of this socket has to be shown: those of its item, and those that belong to no item. */
export function notesFor(cast: Cast, socket: string, item: string | null): readonly ReworkNote[] {
  const general = cast.rework[noteKey(socket, null)] ?? [];
  return item === null ? general : [...general, ...(cast.rework[noteKey(socket, item)] ?? [])];
}

/** Oldest first. Where not all of them fit, the oldest stay away: the newest says what is wrong now. */
export function renderRework(notes: readonly ReworkNote[]): string {
  if (notes.length === 0) return '';
  let block = '';
  for (const note of notes.toReversed()) {
    const room = BLOCK_CHARS_MAX - HEAD.length - FRAME_CHARS - block.length - 1;
    const line = escaped(lineOf(note));
    if (line.length > room && block !== '') break;
    block = `\n${truncate(line, room)}${block}`;
  }
  return `${HEAD}\n${asData(block.slice(1))}`;
}

const FRAME_CHARS = asData('').length;
const HEAD = '## Follow-up\nThis turn is follow-up work on the current item. What has to be fixed:';

function lineOf({ from, label, itemLabel, reason }: ReworkNote): string {
  const item = itemLabel === null ? '' : ` for ${truncate(collapse(itemLabel), LABEL_CHARS_MAX)}`;
  return `- From ${from} ${label}${item}: ${reason}`;
}

/** Whether one of these notes holds what the payload says is wrong. */
export function isNoted(notes: readonly ReworkNote[], payload: Json): boolean {
  const reason = reasonOf(payload);
  return notes.some((note) => note.reason === reason);
}

function reasonOf(payload: Json, note?: string): string {
  if (isObject(payload) && isText(payload.context)) return reasonIn(payload.context);
  if (isText(note)) return reasonIn(note);
  if (isObject(payload)) {
    const { text: _text, parallelSchedule: _schedule, state: _state, ...rest } = payload;
    return `No context was given. The result was: ${truncate(JSON.stringify(rest), REASON_CHARS_MAX)}`;
  }
  if (isText(payload)) return `No context was given. The result was: ${truncate(collapse(payload), REASON_CHARS_MAX)}`;
  return 'No reason was given.';
}

/** The reason as it is kept: on one line, and bounded. */
export function reasonIn(context: string): string {
  return truncate(collapse(context), REASON_CHARS_MAX);
}

const LINE_CHARS_MAX = 4_000;
const HEARD_CHARS_MAX = 4_000;

export function withLine(context: readonly ContextNote[], item: Item | null, line: string): readonly ContextNote[] {
  const all = [...context, { about: aboutOf(item), line: truncate(line, LINE_CHARS_MAX) }];
  let room = HEARD_CHARS_MAX;
  const first = all.findLastIndex((each) => {
    room -= each.line.length;
    return room < 0;
  });
  return all.slice(first + 1);
}

/** A rejection reaches its target as a note, so the context does not repeat it. A settled one is not repeated at all. */
export function withoutNoted(context: readonly ContextNote[], notes: readonly ReworkNote[]): readonly ContextNote[] {
  if (notes.length === 0) return context;
  return context.filter(({ line }) => !notes.some((note) => isQuotedIn(note, line)));
}

function isQuotedIn({ from, label, reason }: ReworkNote, line: string): boolean {
  const prefix = `[${from} ${label}] `;
  return line.startsWith(prefix) && reasonIn(line.slice(prefix.length)) === reason;
}

/** A new list makes remarks about places in the old one meaningless. */
export function withoutList(context: readonly ContextNote[], cursorKey: string): readonly ContextNote[] {
  return context.filter(({ about }) => about === null || !about.startsWith(`${cursorKey}:`));
}

/** The lines for a turn on this item, or on none. */
export function linesFor(context: readonly ContextNote[], item: Item | null): readonly string[] {
  return context.filter(({ about }) => concerns(about, item)).map(({ line }) => line);
}

/** A turn on an item gets the lines about all items or about that one; a turn on none gets every line. */
export function concerns(about: string | null, item: Item | null): boolean {
  return item === null || about === null || about === aboutOf(item);
}

/** A remark in a turn is about its item, known by its place in the list. */
export function aboutOf(item: Item | null): string | null {
  return item && `${item.cursorKey}:${item.index}`;
}

const LINES_MAX = 8;
const SPOKEN_CHARS_MAX = 4_000;
/** In a conversation with a person every line counts. */
const TALK_LINES_MAX = 60;
const TALK_CHARS_MAX = 16_000;

export function withSpoken(
  exchange: readonly ExchangeLine[],
  { from, text }: ExchangeLine,
  isTalk = false,
): readonly ExchangeLine[] {
  const line = { from, text: truncate(text, isTalk ? TALK_CHARS_MAX : SPOKEN_CHARS_MAX) };
  return [...exchange, line].slice(isTalk ? -TALK_LINES_MAX : -LINES_MAX);
}

/** Whether words about this item, or about no item, are for the agent of this turn. */
export function isSaidTo(item: string | null, turn: Pick<Turn, 'item' | 'lane'>): boolean {
  return isFor({ item, text: '', told: [] }, turn);
}

/** Words of a person that the agent of this turn has not received yet. */
export function saidFor({ said = [] }: Pick<Cast, 'said'>, turn: Pick<Turn, 'item' | 'lane'>): readonly Said[] {
  return said.filter((one) => isFor(one, turn));
}

function isFor({ item, told }: Said, turn: Pick<Turn, 'item' | 'lane'>): boolean {
  const key = turn.item?.key ?? null;
  if (item !== null) return item === key;
  return turn.lane === null || key === null || !told.includes(key);
}

/** The words still to be delivered: in a loop with lanes the agent of each item receives words for all. */
export function saidWithout({ said = [] }: Pick<Cast, 'said'>, turn: Pick<Turn, 'item' | 'lane'>): readonly Said[] {
  return said.flatMap((one) => {
    if (!isFor(one, turn)) return [one];
    const key = turn.item?.key;
    return one.item === null && turn.lane !== null && key ? [{ ...one, told: [...one.told, key] }] : [];
  });
}

const SPEAKERS: Readonly<Record<ExchangeLine['from'], string>> = {
  agent: 'You reported',
  person: 'A person answered',
  runtime: 'You are told',
};

/** The conversation as the agent is shown it; where it remembers its own part, only what is new. */
export function renderExchange(exchange: readonly ExchangeLine[], remembers: boolean): string {
  const last = exchange.findLastIndex(({ from }) => from === 'agent');
  const shown = remembers ? exchange.slice(last + 1) : exchange;
  return shown.map(({ from, text }) => `${SPEAKERS[from]}: ${text}`).join('\n');
}

/** The notes for a socket about one item, or about none. */
export function noteKey(target: string, item: string | null): string {
  return `${target}@${item ?? ''}`;
}

const CLASH_FILES_MAX = 20;

/** The instruction for an agent that has to merge two versions. */
export function clashNote(files: readonly string[]): string {
  return reasonIn(`${ASKED} The files: ${spokenPaths(files, CLASH_FILES_MAX)}.`);
}

const ASKED = [
  'MERGE_CONFLICT: the work on this item cannot be joined with what others have finished since it began. The folder now',
  'holds both, and conflicts are between lines of <<<<<<< and >>>>>>>. Resolve them so that both hold, remove these',
  'lines, and report again.',
].join(' ');

/** What is seen of a turn that changed files. */
export type SeenWork = { readonly turnChecks?: readonly TurnCheck[]; readonly diff?: ItemDiff };

const FILES_MAX = 200;
const FILES_KEPT_MAX = 20;
/** So many items that are over are remembered; what a cast remembers does not grow with its lists. */
export const ITEMS_KEPT_MAX = 100;
const CHECKS_MAX = 20;
const CHECK_OUTPUT_CHARS_MAX = 4_000;
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
    const printed = output === undefined ? {} : { output: lastChars(scrub(output).text, CHECK_OUTPUT_CHARS_MAX) };
    return { name, ok, found: scrub(found).text, ...printed };
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
    `Files changed ${about}:\n${asData(truncate(filesText(work, work.files.length), FILES_CHARS_MAX))}`,
    work.checks.length === 0
      ? ''
      : `What the project's checks found after the last change:\n${asData(truncate(work.checks.map(checkText).join('\n'), CHECKS_CHARS_MAX))}`,
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
  const printed = output === undefined || output === '' ? '' : `\n${output}`;
  return `${name}: ${ok ? 'passed' : 'FAILED'} (${found})${printed}`;
}

/** The items of the lists that are over, for a turn outside of every loop; empty while an item is still open. */
export function itemSummaries({ ledger }: Pick<State, 'ledger'>, cast: Cast, turn: Turn): string {
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
    `${task.id} ${truncate(collapse(task.title), TITLE_CHARS_MAX)}: ${outcomeText(task, work)}`,
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
