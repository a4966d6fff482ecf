// What the operations of the ledger share: the store, naming a run or a task, declared checkers, and worklog files.

import { isAbsolute, relative, resolve } from 'node:path';
import type { Actor } from '../access/actor.ts';
import type { Intake } from '../dialects/operator/read.ts';
import { driverWith } from '../engine/lease.ts';
import type { Log } from '../engine/ports.ts';
import type { Store, Submitter } from '../engine/store.ts';
import type { Entry } from '../kernel/fact.ts';
import { checkCheckers } from '../kernel/graph/check-config.ts';
import { checkerNames } from '../kernel/graph/config.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import type { RequestKind } from '../kernel/ledger/fact.ts';
import { MAIN_ROOT } from '../kernel/ledger/lock-tree.ts';
import { type Beat, type BeatProcess, lastSignAt } from '../kernel/ledger/move.ts';
import { findTask, type Ledger, type Run, runOf, type Task, tasksOf, workRuns } from '../kernel/ledger/state.ts';
import type { Heartbeats } from '../kernel/ledger/wire.ts';
import { deny, type Verdict } from '../kernel/verdict.ts';
import { realPath } from '../shell/dangerous.ts';
import { type LocatedWorkspace as Located, UsageError } from '../workspace/locate.ts';
import { type ConfigPlace, sectionObject } from '../workspace/sections.ts';
import { syncWorklog, type Written, worklogLines } from '../workspace/worklog-file.ts';
import { nameCast } from './name-cast.ts';
import type { Context } from './operation.ts';
import { Refused } from './refused.ts';
import type { WorkspaceStore } from './store.ts';
import type { Workspace } from './workspace.ts';

export type LedgerSession = {
  readonly workspace: Workspace;
  readonly store: WorkspaceStore;
  readonly actor: Actor;
  /** Says a line to people. */
  readonly note: (line: string) => void;
};

/** The ledger of the workspace, for the caller. One is begun only where `begins` says so. */
export function ledgerSession(
  workspace: Workspace,
  { actor, onEvent }: Pick<Context, 'actor' | 'onEvent'>,
  how: { readonly begins?: boolean } = {},
): LedgerSession {
  const note = (text: string) => onEvent({ kind: 'note', text });
  return { workspace, store: workspace.ledgerStore(how), actor, note };
}

/**
 * The run that a word names: its id, the id by which its payloads call it, or a beginning of either that only one run has;
 * `latest` is the newest cast. A word that fits nothing is taken as it is.
 */
export async function runWanted(
  { store, actor }: LedgerSession,
  word: string | undefined,
): Promise<string | undefined> {
  if (word === undefined || word === '') return word;
  if (word === 'latest') return (await nameCast(store, 'latest')).cast;
  const known = await store.look(
    (ledger) => runCalled(ledger, word, actor.attempt?.cast) ?? onlyFitting(word, Object.values(ledger.runs)),
  );
  if (known !== undefined) return known;
  // A run that is over is found by its whole id; for a beginning of it the facts are searched.
  if (await store.look((ledger) => runOf(ledger, word) !== undefined, word)) return word;
  return onlyFitting(word, await pastRuns(store)) ?? word;
}

type RunName = Pick<Run, 'id' | 'runId'>;

function onlyFitting(word: string, runs: readonly RunName[]): string | undefined {
  const fitting = new Set(
    runs.filter((run) => run.id.startsWith(word) || run.runId.startsWith(word)).map(({ id }) => id),
  );
  if (fitting.size <= 1) return [...fitting][0];
  throw new UsageError(`${word} fits ${fitting.size} runs: ${[...fitting].slice(0, 10).join(', ')}`);
}

async function pastRuns(store: Pick<WorkspaceStore, 'read'>): Promise<readonly RunName[]> {
  const casts = (await store.read({ after: 0, kindPrefix: 'cast.' })).flatMap(({ fact }) =>
    fact.kind === 'cast.started' ? [{ id: fact.cast, runId: fact.runId ?? fact.cast }] : [],
  );
  const named = (await store.read({ after: 0, kindPrefix: 'run.named' })).flatMap(({ fact }) =>
    fact.kind === 'run.named' ? [{ id: fact.cast, runId: fact.runId }] : [],
  );
  const byHand = (await store.read({ after: 0, kindPrefix: 'task.created' })).flatMap(({ fact }) =>
    fact.kind === 'task.created' ? [{ id: fact.run, runId: fact.run }] : [],
  );
  return [...casts, ...named, ...byHand];
}

/**
 * The run with this id: its own, or the one by which its payloads call it. Several casts may be called the same by their
 * planners: then an agent means the one it works for, and anybody else the newest that is open.
 */
export function runCalled(ledger: Ledger, id: string, ownCast?: string): string | undefined {
  const runs = Object.values(ledger.runs);
  const named = runs.filter((run) => run.runId === id);
  const own = named.find((run) => run.id === ownCast) ?? runs.find((run) => run.id === id);
  if (own) return own.id;
  const open = named.filter((run) => run.open > 0);
  const age = (run: Run) => Math.max(0, ...tasksOf(ledger, run.id).map(({ order }) => order));
  return (open.length > 0 ? open : named).toSorted((a, b) => age(b) - age(a))[0]?.id;
}

/** A copy of the whole ledger, with the named run loaded. */
export async function ledgerFor(
  session: LedgerSession,
  word: string | undefined,
): Promise<{ ledger: Ledger; run: string | undefined }> {
  const run = await runWanted(session, word);
  return { ledger: await session.store.view('ledger', run), run };
}

/** The run that is meant where none is named: the only one that is open, or the only one there is. */
export function onlyRun({ program }: Workspace, ledger: Ledger, named: string | undefined): string {
  if (named !== undefined) {
    if (Object.values(ledger.runs).some(({ id }) => id === named)) return named;
    throw new UsageError(`there is no run ${named}; \`${program} task list\` shows them`);
  }
  const byHand = workRuns(ledger).filter(({ cast }) => !cast);
  // Where everything was done by casts, the newest of them with tasks is meant.
  const newest = workRuns(ledger).findLast(({ tasks }) => tasks.length > 0);
  const runs = byHand.length === 0 && newest ? [newest] : byHand;
  const open = runs.filter((run) => run.open > 0);
  const [one, another] = open.length > 0 ? open : runs;
  if (!one)
    throw new Refused(
      deny('LEDGER_INCONSISTENT', 'The ledger holds no run yet; create a task first.', { empty: true }),
    );
  if (!another) return one.id;
  const names = (open.length > 0 ? open : runs).map(({ id }) => id);
  throw new UsageError(
    `${names.length} runs come into question: ${names.slice(0, 10).join(', ')}; name one with --run`,
  );
}

/** The name of the root that a folder is, with its links followed: the workspace itself, or the folder's path. */
export function rootNamed({ dir, cwd }: Pick<Workspace, 'dir' | 'cwd'>, word: string | undefined): string {
  if (word === undefined || word === MAIN_ROOT) return MAIN_ROOT;
  const folder = realPath(resolve(cwd, word));
  const below = relative(realPath(dir), folder);
  if (below === '') return MAIN_ROOT;
  return below.startsWith('..') || isAbsolute(below) ? folder : below;
}

/** Where the paths of a task lie on disk. */
export function folderOf({ root }: Pick<Task, 'root'>, { dir }: Pick<Located, 'dir'>): string {
  return root === MAIN_ROOT ? dir : resolve(dir, root);
}

/** The last heartbeat of each task of a run, by task id. */
export function heardIn(run: string, beats: ReadonlyMap<number, Beat>): Heartbeats {
  const own = [...beats.values()].filter((beat) => beat.run === run);
  return Object.fromEntries(own.map((beat) => [beat.task, lastSignAt(beat, Date.now())]));
}

/** A JSON value as its text; a text is taken as it is. */
export function jsonText(given: unknown): string {
  return typeof given === 'string' ? given : JSON.stringify(given);
}

export async function taskNamed(
  session: LedgerSession,
  id: string,
  word: string | undefined,
): Promise<{ readonly task: Task; readonly runId: string }> {
  const run = await runWanted(session, word);
  return session.store.look((ledger) => {
    const found = findTask(ledger, { task: id, ...(run === undefined ? {} : { run }) });
    if (!found.ok) throw new Refused(found.refusal);
    return { task: { ...found.task }, runId: runOf(ledger, found.task.run)?.runId ?? found.task.run };
  }, run);
}

export function workerNamed(pid: number | undefined): BeatProcess | undefined {
  if (pid === undefined) return undefined;
  const worker = driverWith(pid);
  if (worker === null) throw new UsageError(`there is no process ${pid}; --pid names the one that works on the task`);
  return worker;
}

/** Records the refusal of a payload that breaks its contract. The ledger's rules never see such a payload. */
export async function refusePayload(
  { store, actor }: Pick<LedgerSession, 'store' | 'actor'>,
  asked: RequestKind,
  { refusal, subject }: Extract<Intake<unknown>, { ok: false }>,
): Promise<Verdict> {
  const { run, task } = subject;
  return store.submit({ kind: 'task.refuse', ...(run === '' ? {} : { run }), task, asked, refusal }, actor);
}

// A worklog file is written while the log is locked: its lines are in the order of their facts and are never torn.
type Place = {
  /** The way to the log as it is stored. */
  readonly store: Pick<WorkspaceStore, 'asStored'>;
  readonly workspace: Workspace;
  readonly note: (line: string) => void;
};

/** Null where there is nothing to write yet. */
export async function writeWorklog(
  { store, workspace, note }: Place,
  task: Task,
  runId: string = task.run,
): Promise<Written | null> {
  return store.asStored((log) => write(log, { workspace, note }, task, runId));
}

async function write(
  log: Log,
  { workspace, note }: Pick<Place, 'workspace' | 'note'>,
  task: Task,
  runId: string,
): Promise<Written | null> {
  const { run, id, worklogPath: path } = task;
  const before = (await log.head()).seq;
  const entries = await factsOf(log, task);
  const after = Math.max(before, entries.at(-1)?.seq ?? 0);
  let written: Written | null = null;
  const decide = (tail: readonly Entry[]) => {
    const lines = worklogLines([...entries, ...tail.filter((entry) => isAbout(entry, task))], runId);
    const place = { root: folderOf(task, workspace), path, stateDir: workspace.stateDir, run, task: id };
    if (lines.length > 0) written = syncWorklog(place, lines);
    return [];
  };
  await log.commit(after, { decide });
  const result = written as Written | null;
  if (result?.found)
    note(`${result.file} was changed by somebody else; it was written again. What it held: ${result.found}`);
  return result;
}

/** The worklogs of the tasks that a cast was assigned, as far as there is anything in them. */
export async function writeWorklogsOf(
  cast: string,
  store: Store,
  workspace: Workspace,
  note: Place['note'],
): Promise<void> {
  const ledger = await store.view('ledger', cast);
  const runId = runOf(ledger, cast)?.runId ?? cast;
  const tasks = tasksOf(ledger, cast).filter(({ worklogPath }) => worklogPath !== '');
  if (tasks.length === 0) return;
  for (const task of tasks) await writeWorklog({ store: workspace.castStore(), workspace, note }, task, runId);
}

/** The facts about one task, oldest first. */
export async function factsOf(log: Pick<Log, 'read'>, task: Pick<Task, 'run' | 'id'>): Promise<readonly Entry[]> {
  return (await log.read({ after: 0, task: task.id })).filter((entry) => isAbout(entry, task));
}

function isAbout({ fact }: Entry, { run, id }: Pick<Task, 'run' | 'id'>): boolean {
  return 'run' in fact && 'task' in fact && fact.run === run && fact.task === id;
}

/** The checkers that the configuration of the workspace declares. The bundled configuration declares none. */
type Declared = { readonly names: readonly string[]; readonly checkers: JsonObject };

export function declaredCheckers(workspace: ConfigPlace): Declared {
  const { configFile } = workspace;
  const config = { checkers: sectionObject(workspace, 'checkers') };
  for (const { path, message } of checkCheckers(config.checkers ?? undefined)) {
    throw new UsageError(`${configFile}: ${path}: ${message}`, 'INVALID_CONFIG');
  }
  return { names: checkerNames(config), checkers: isObject(config.checkers) ? config.checkers : {} };
}

/** Tells the ledger whether names of files that differ only in case are the same here, where the configuration says so. */
export async function configureLocks(
  store: Pick<Store, 'submit'>,
  workspace: ConfigPlace,
  actor: Submitter,
): Promise<void> {
  const { caseInsensitive } = sectionObject(workspace, 'locks');
  if (typeof caseInsensitive === 'boolean')
    await store.submit({ kind: 'ledger.configure', foldCase: caseInsensitive }, actor);
}
