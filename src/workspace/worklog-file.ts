// The worklog of a task as a file: one JSON object on each line, chained by the hash of the line before it. The file is written
// from the facts of the log. Missing lines are appended in one write, half a line is completed, and a file with other lines is
// rewritten. Several runs may name the same file for a task of the same id. Each run appends its own chain of lines and leaves
// the others unchanged. A file that is no worklog of the task is not touched; the worklog is then in the state folder.
import { hash } from 'node:crypto';
import {
  closeSync,
  constants,
  copyFileSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Entry } from '../kernel/fact.ts';
import { isObject, isString, isText, type Json, type JsonObject } from '../kernel/json.ts';
import { withKnownMembers } from '../kernel/ledger/decide.ts';
import { normalPath } from '../kernel/ledger/path.ts';
import { isWorklogPath } from '../kernel/ledger/scope.ts';
import { contractCode } from '../kernel/ledger/wire.ts';
import { scrubJson } from '../kernel/secrets.ts';

/** The previous hash in the first line. */
export const NO_LINE = '0'.repeat(64);

export type WorklogPlace = {
  /** The folder in which the task works. */
  readonly root: string;
  /** The file in its assignment, relative to that folder. */
  readonly path: string;
  readonly stateDir: string;
  readonly run: string;
  readonly task: string;
};

export type Written = {
  readonly file: string;
  readonly outcome: 'same' | 'appended' | 'rewritten';
  /** The number of entries in the worklog. */
  readonly entries: number;
  /** The copy of the earlier file, if it was rewritten. */
  readonly found: string | null;
};

/** The lines of a task's worklog, from the facts about it in their order. */
export function worklogLines(entries: readonly Entry[], runId?: string): readonly string[] {
  const lines: string[] = [];
  let isClosed = false;
  let prev = NO_LINE;
  const add = (run: string, entry: JsonObject) => {
    const { x_cast: _, ...said } = scrubJson(withKnownMembers(entry)).value as JsonObject;
    // Casts of the same plan have the same run name. Only this member distinguishes their lines.
    const cast = runId === undefined || runId === run ? {} : { x_cast: run };
    const line = JSON.stringify({ ...said, ...cast, x_prev: prev });
    prev = hash('sha256', line, 'hex');
    lines.push(line);
  };
  for (const [index, { at, by, fact }] of entries.entries()) {
    if (fact.kind === 'task.claimed') isClosed = false;
    if (fact.kind === 'worklog.added') {
      add(fact.run, fact.entry);
      isClosed = isText(fact.entry.code) && isText(fact.entry.next_step);
    }
    if (fact.kind !== 'task.moved' || fact.replay || (fact.to !== 'blocked' && fact.to !== 'failed')) continue;
    if (!isClosed) {
      const next = nextStep(fact, isReturned(entries[index + 1], at));
      add(fact.run, { ...closing(at, by, fact, next), run_id: runId ?? fact.run });
    }
    isClosed = true;
  }
  return lines;
}

type Moved = Extract<Entry['fact'], { kind: 'task.moved' }>;

/** A silent task whose retries last goes back to todo in the same decision that blocks it. */
function isReturned(next: Entry | undefined, at: string): boolean {
  return next?.at === at && next.fact.kind === 'task.moved' && next.fact.to === 'todo';
}

function nextStep({ to }: Moved, isReturned: boolean): string {
  if (to !== 'blocked') return 'plan the work as a new task';
  return isReturned ? 'it is handed out again' : 'plan it again, then move it to todo or cancel it';
}

/** The last entry of an unfinished task without one from its owner: why, and what comes next. */
function closing(at: string, by: string, { task, to, code, reason }: Moved, next: string): JsonObject {
  return {
    timestamp: at,
    run_id: '',
    task_id: task,
    actor: by,
    action: `the task was moved to ${to}`,
    files_touched: [],
    decision: reason,
    result: to,
    next_step: next,
    ...contractCode(code ?? 'ABORTED'),
  };
}

/** Brings the file to these lines. The caller has exclusive access to the log, so no other process writes it. */
export function syncWorklog(place: WorklogPlace, lines: readonly string[]): Written {
  const own = fallbackOf(place);
  const named = usableFile(place, lines[0] ?? '');
  const file = named ?? own;
  const entries = lines.length;
  if (named === null) mkdirSync(dirname(own), { recursive: true, mode: 0o700 });
  const missing = missingFrom(readPresent(file), place, lines);
  if (missing === '') return { file, outcome: 'same', entries, found: null };
  if (missing !== null) {
    append(file, missing);
    return { file, outcome: 'appended', entries, found: null };
  }
  const found = own.replace(/\.jsonl$/, '.found.jsonl');
  mkdirSync(dirname(found), { recursive: true, mode: 0o700 });
  // An agent may have replaced either file with a link.
  for (const path of [found, `${file}.new`]) rmSync(path, { force: true });
  copyFileSync(file, found, constants.COPYFILE_EXCL);
  const kept = readPresent(file)
    .split('\n')
    .filter((line) => isOfAnotherRun(line, place));
  append(`${file}.new`, textOf([...kept, ...lines]));
  renameSync(`${file}.new`, file);
  return { file, outcome: 'rewritten', entries, found };
}

/** The text to append so that the file has these lines in order. Null if it has other lines. */
function missingFrom(present: string, place: WorklogPlace, lines: readonly string[]): string | null {
  const written = present.split('\n');
  const rest = written.pop() ?? '';
  let count = 0;
  for (const line of written) {
    if (line === lines[count]) count += 1;
    else if (!isOfAnotherRun(line, place)) return null;
  }
  const expected = textOf(lines.slice(count));
  if (expected.startsWith(rest)) return expected.slice(rest.length);
  // A complete line without a line end, as from an editor, still belongs to another run.
  return isOfAnotherRun(rest, place) ? `\n${expected}` : null;
}

function textOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}

function fallbackOf({ stateDir, run, task }: WorklogPlace): string {
  return join(stateDir, 'worklogs', encodeURIComponent(run), `${encodeURIComponent(task)}.jsonl`);
}

/** The named file, if a worklog may be there, no link leads to it, and it is new or a worklog of such a task. */
function usableFile(place: WorklogPlace, firstLine: string): string | null {
  const normal = normalPath(place.path);
  if (!normal.ok || !isWorklogPath(normal.path)) return null;
  const segments = normal.path.split('/');
  try {
    const folder = realFolder(place.root, segments.slice(0, -1));
    const file = folder === null ? null : join(folder, segments.at(-1) ?? '');
    return file !== null && isOurs(file, place, firstLine) ? file : null;
  } catch {
    return null; // A disk that does not let us write there is a reason to write elsewhere.
  }
}

/** The folder, made if missing. Null if a link or a file is in the way. */
function realFolder(root: string, segments: readonly string[]): string | null {
  let at = root;
  for (const segment of segments) {
    at = join(at, segment);
    const stat = lstatSync(at, { throwIfNoEntry: false });
    if (!stat) mkdirSync(at);
    else if (!stat.isDirectory()) return null;
  }
  return at;
}

/** One line of a task with this name makes a file a worklog that can be continued. */
function isOurs(file: string, { task }: WorklogPlace, firstLine: string): boolean {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (!stat) return true;
  if (!stat.isFile() || stat.nlink > 1) return false;
  const text = readPresent(file);
  const [first = '', ...rest] = text.split('\n');
  if (text === '' || firstLine.startsWith(first)) return true;
  return [first, ...rest].some((line) => entryIn(line, task) !== null);
}

/** A line of the same task in another run. A run by hand has its id in the line, a cast also its own id. */
function isOfAnotherRun(line: string, { run, task }: WorklogPlace): boolean {
  const entry = entryIn(line, task);
  return entry !== null && (entry.x_cast ?? entry.run_id) !== run;
}

/** The entry of a line that a worklog of the task may hold, or null. */
function entryIn(line: string, task: string): JsonObject | null {
  const entry = parsed(line);
  if (!isObject(entry) || entry.task_id !== task || !isText(entry.run_id) || !isChained(entry.x_prev)) return null;
  return entry.x_cast === undefined || isText(entry.x_cast) ? entry : null;
}

function isChained(prev: Json | undefined): boolean {
  return isString(prev) && /^[0-9a-f]{64}$/.test(prev);
}

function parsed(line: string): Json {
  try {
    return JSON.parse(line) as Json;
  } catch {
    return null;
  }
}

function readPresent(file: string): string {
  return lstatSync(file, { throwIfNoEntry: false }) ? readFileSync(file, 'utf8') : '';
}

/** In one write, so that a reader never sees mixed lines of two writers. */
function append(file: string, text: string): void {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW } = constants;
  const handle = openSync(file, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o644);
  try {
    const bytes = Buffer.from(text);
    for (let from = 0; from < bytes.length; ) from += writeSync(handle, bytes, from);
  } finally {
    closeSync(handle);
  }
}
