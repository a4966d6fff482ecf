// What the commands of the ledger share: opening it, naming a run, answering with a verdict.
import { isAbsolute, relative, resolve } from 'node:path';
import type { Door } from '../engine/door.ts';
import type { Log } from '../engine/ports.ts';
import { type Beat, heardAt } from '../kernel/ledger/beat.ts';
import { type Ledger, MAIN_ROOT, type Run, type Task, tasksOf, workRuns } from '../kernel/ledger/state.ts';
import type { Heartbeats } from '../kernel/ledger/wire.ts';
import { type Denied, deny, type Verdict } from '../kernel/verdict.ts';
import { logFileIn, SqliteLog } from '../log/sqlite.ts';
import type { Workspace } from '../workspace/locate.ts';
import { realPlace } from '../workspace/real-place.ts';
import { again, type Call, exitOf, outJson, Refused, text, UsageError } from './command.ts';
import { workspaceOf } from './find-workspace.ts';
import { nameCast } from './looking.ts';
import { LookingDoor } from './looking-door.ts';
import { asDamage, hasLog, makeStateFolder } from './state-folder.ts';

export type LedgerSession = {
  readonly call: Call;
  readonly workspace: Workspace;
  readonly log: Log;
  readonly door: Door;
};

/** Runs `work` on the ledger of the workspace. Where there is none, one is made only for a command that begins it. */
export async function withLedger<T>(
  call: Call,
  work: (session: LedgerSession) => Promise<T>,
  { begins = false } = {},
): Promise<T> {
  const workspace = workspaceOf(call);
  if (!hasLog(workspace) && !begins) throw new Refused(noLedger(call, workspace));
  if (begins) makeStateFolder(workspace);
  try {
    const log = new SqliteLog(logFileIn(workspace.stateDir));
    const door = new LookingDoor(log, workspace.dir);
    try {
      return await work({ call, workspace, log, door });
    } finally {
      await door.close();
    }
  } catch (error) {
    throw asDamage(error, workspace);
  }
}

function noLedger(call: Call, { dir }: Workspace): Denied {
  const reason = `There is no ledger in ${dir} yet; begin one with \`${again(call)} task create FILE\`.`;
  return deny('LEDGER_INCONSISTENT', reason, { workspace: dir, empty: true });
}

/** Prints the verdict, which is all that goes to standard output, and answers its exit code. */
export function answer(verdict: Verdict): number {
  outJson(verdict);
  return exitOf(verdict);
}

/** Answers with the refusals that end a command early, too. */
export async function answering(work: () => Promise<Verdict>): Promise<number> {
  try {
    return answer(await work());
  } catch (error) {
    if (error instanceof Refused) return answer(error.verdict);
    throw error;
  }
}

/**
 * The run that `--run` names: its id, the id by which its payloads call it, or a beginning of either that only one run has;
 * `latest` is the newest cast. A word that fits nothing is taken as it is.
 */
export async function runWanted({ call, door, log }: LedgerSession): Promise<string | undefined> {
  const word = text(call.values, 'run');
  if (word === undefined || word === '') return word;
  if (word === 'latest') return (await nameCast(door, 'latest')).cast;
  const ledger = await door.ledger();
  const known = runCalled(ledger, word, call.env) ?? onlyFitting(word, Object.values(ledger.runs));
  if (known !== undefined) return known;
  // What is over is not kept at hand, and is known by its whole id; for anything less the facts are searched.
  if (Object.values((await door.ledger(word)).runs).some(({ id }) => id === word)) return word;
  return onlyFitting(word, await pastRuns(door, log)) ?? word;
}

type RunName = Pick<Run, 'id' | 'runId'>;

function onlyFitting(word: string, runs: readonly RunName[]): string | undefined {
  const fitting = new Set(
    runs.filter((run) => run.id.startsWith(word) || run.runId.startsWith(word)).map(({ id }) => id),
  );
  if (fitting.size <= 1) return [...fitting][0];
  throw new UsageError(`${word} fits ${fitting.size} runs: ${[...fitting].slice(0, 10).join(', ')}`);
}

async function pastRuns(door: Door, log: Pick<Log, 'read'>): Promise<readonly RunName[]> {
  const casts = (await door.lifecycle()).flatMap(({ fact }) =>
    fact.kind === 'cast.started' ? [{ id: fact.cast, runId: fact.runId ?? fact.cast }] : [],
  );
  const named = (await log.read({ after: 0, kindPrefix: 'run.named' })).flatMap(({ fact }) =>
    fact.kind === 'run.named' ? [{ id: fact.cast, runId: fact.runId }] : [],
  );
  const byHand = (await log.read({ after: 0, kindPrefix: 'task.created' })).flatMap(({ fact }) =>
    fact.kind === 'task.created' ? [{ id: fact.run, runId: fact.run }] : [],
  );
  return [...casts, ...named, ...byHand];
}

/**
 * The run with this id: its own, or the one by which its payloads call it. Several casts may be called the same by their
 * planners: then an agent means the one it works for, and anybody else the newest that is open.
 */
export function runCalled(ledger: Ledger, id: string, env: Call['env'] = {}): string | undefined {
  const runs = Object.values(ledger.runs);
  const named = runs.filter((run) => run.runId === id);
  const own = named.find((run) => run.id === env.BATON_CAST) ?? runs.find((run) => run.id === id);
  if (own) return own.id;
  const open = named.filter((run) => run.open > 0);
  const age = (run: Run) => Math.max(0, ...tasksOf(ledger, run.id).map(({ order }) => order));
  return (open.length > 0 ? open : named).toSorted((a, b) => age(b) - age(a))[0]?.id;
}

/** The ledger, with the run that `--run` names loaded. */
export async function ledgerFor(session: LedgerSession): Promise<{ ledger: Ledger; run: string | undefined }> {
  const { door } = session;
  const [ledger, run] = [await door.ledger(), await runWanted(session)];
  if (run === undefined || Object.values(ledger.runs).some(({ id }) => id === run)) return { ledger, run };
  return { ledger: await door.ledger(run), run };
}

/** The run that is meant where none is named: the only one that is open, or the only one there is. */
export function onlyRun(call: Call, ledger: Ledger, named: string | undefined): string {
  if (named !== undefined) {
    if (Object.values(ledger.runs).some(({ id }) => id === named)) return named;
    throw new UsageError(`there is no run ${named}; \`${again(call)} task list\` shows them`);
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

export function integer({ values }: Call, name: string): number | undefined {
  const given = text(values, name);
  if (given === undefined) return undefined;
  const value = Number(given);
  if (!/^[0-9]+$/.test(given) || !Number.isSafeInteger(value)) {
    throw new UsageError(`--${name} must be a whole number, 0 or above, not ${given}`);
  }
  return value;
}

export function needed(call: Call, name: string): string {
  const given = text(call.values, name);
  if (given !== undefined && given.trim() !== '') return given;
  throw new UsageError(`say --${name} … (\`${again(call)} ${call.command.name} --help\`)`);
}

export function neededInteger(call: Call, name: string): number {
  needed(call, name);
  return integer(call, name) ?? 0;
}

/** The name of the root that a folder is, with its links followed: the workspace itself, or the folder's path. */
export function rootNamed(call: Call, { dir }: Workspace, word: string | undefined): string {
  if (word === undefined || word === MAIN_ROOT) return MAIN_ROOT;
  const folder = realPlace(resolve(call.cwd, word));
  const below = relative(realPlace(dir), folder);
  if (below === '') return MAIN_ROOT;
  return below.startsWith('..') || isAbsolute(below) ? folder : below;
}

/** Where the paths of a task lie on disk. */
export function folderOf({ root }: Pick<Task, 'root'>, { dir }: Workspace): string {
  return root === MAIN_ROOT ? dir : resolve(dir, root);
}

/** When the tasks of a run were last heard of, by task id. */
export function heardIn(run: string, beats: ReadonlyMap<number, Beat>): Heartbeats {
  const own = [...beats.values()].filter((beat) => beat.run === run);
  return Object.fromEntries(own.map((beat) => [beat.task, heardAt(beat, Date.now())]));
}
