// Makes, finds and removes the worktree of a cast or lane. Making it may be interrupted anywhere: until its record says that it
// is ready it holds no work, and is made again from the beginning.
import { constants, cpSync, existsSync, mkdirSync, realpathSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { gitArguments, gitEnvironment, whyFailed } from '../../git/run-git.ts';
import { knownValues, withoutValues } from '../../kernel/credential.ts';
import type { WorktreeRules } from '../../kernel/graph/config.ts';
import { scrub } from '../../kernel/secrets.ts';
import { commitOf, git, tryGit, WorktreeError } from '../git.ts';
import { linkWorkspace } from '../locate.ts';
import { acceptedPart, branchTip, refuseGone, tipOf } from './accepted.ts';
import { ignoredIn, nestedStatesIn, refuseApart, unknownRepositoriesIn } from './nested-repositories.ts';
import {
  branchOf,
  isWorktreePlace,
  type LaneRecord,
  noteRecord,
  readLane,
  readRecord,
  type WorktreeRecord,
  worktreeName,
  writeRecord,
} from './record.ts';
import { packageFolders, type Repository, readRepository, sharePackages } from './repository.ts';

export type SetUpStep = {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** The program ends by itself, like git. */
  readonly isBrief?: true;
};
export type StepEnd = { readonly ok: true } | { readonly ok: false; readonly why: string };

/** Runs programs so that none survives this process. */
export type Steps = {
  run(step: SetUpStep): Promise<StepEnd>;
  /** Ends programs of an earlier process. */
  clear(): Promise<void>;
};

export type WorktreeRequest = {
  readonly dir: string;
  readonly stateDir: string;
  readonly cast: string;
  /** The workspace's folder in the cast's worktree, from the start of the cast. */
  readonly cwd: string;
  /** The set-up rules from the start of the cast, and the present ones of the workspace. */
  readonly rules: WorktreeRules | null;
  readonly now?: WorktreeRules | null;
  /** Receives warnings that do not stop the work. */
  readonly warn?: (line: string) => void;
  readonly steps: Steps;
  /** Serializes work, because several worktrees may be made at the same time. */
  readonly inTurn?: <T>(work: () => Promise<T>) => Promise<T>;
};

const ADD_TIMEOUT_MS = 600_000;
/** Ignored files beyond this limit are reported when the worktree is removed. */
const IGNORED_MAX = 5_000;

/** The worktree of a cast, ready for work. */
export async function readyWorktree(wanted: WorktreeRequest): Promise<WorktreeRecord> {
  const record = readRecord(wanted.stateDir, wanted.cast);
  if (record === null || record.state === 'making') {
    const look = await repositoryIn(wanted.dir);
    const base = (record && (await commitOf(look.top, record.base))) ?? look.head;
    return makeWorktree(wanted, look, wanted.cwd, base, record, {});
  }
  if (record.state === 'ready') return foundWorktree(wanted, record);
  const what = record.state === 'merged' ? 'merged' : 'taken back';
  throw new WorktreeError(`the work of cast ${record.cast} was ${what}, and its worktree is gone; start a new cast`);
}

/** The worktree of a lane, by its number. A new one begins at the present commit of the cast's branch. */
export async function readyLane(wanted: WorktreeRequest, own: WorktreeRecord, place: number): Promise<LaneRecord> {
  const record = readLane(wanted.stateDir, wanted.cast, place);
  if (record?.state === 'ready') return foundWorktree(wanted, record);
  const base = acceptedPart(own, await tipOf(own));
  const lane = { place, task: null, kept: null, conflicts: [] };
  const rules = own.mended ?? wanted.rules;
  const prefix = relative(own.folder, own.cwd);
  const cwd = join(dirname(own.folder), worktreeName(wanted.cast, place), prefix);
  return makeWorktree({ ...wanted, rules }, { top: own.top, prefix }, cwd, base, record, { lane });
}

async function repositoryIn(dir: string): Promise<Repository> {
  const look = await readRepository(dir, false);
  if (look.ok) return look.repository;
  throw new WorktreeError(`no worktree can be made in ${dir}: ${look.why ?? 'it is in no git repository'}`);
}

async function makeWorktree<T extends Pick<WorktreeRecord, 'lane'>>(
  wanted: WorktreeRequest,
  { top, prefix }: Pick<Repository, 'top' | 'prefix'>,
  cwd: string,
  base: string,
  before: WorktreeRecord | null,
  more: T,
): Promise<WorktreeRecord & T> {
  const { dir, stateDir, cast, steps, warn = () => undefined } = wanted;
  const { rules, ...noted } = rulesFor(wanted, before);
  await steps.clear();
  const at = more.lane?.place ?? null;
  const common = {
    version: 1,
    cast,
    workspace: dir,
    top,
    branch: branchOf(cast, at),
    base,
    starts: {},
    open: {},
  } as const;
  const making = { state: 'making', ...noted } as const;
  const folder = prefix === '' ? cwd : cwd.slice(0, -`/${prefix}`.length);
  const record: WorktreeRecord & T = { ...common, folder, cwd, ...making, ...more };
  makePlace(folder);
  writeRecord(stateDir, record);
  const { branch } = record;
  // Git removes leftover worktrees, and one that is being made looks like that.
  const { inTurn = (work) => work() } = wanted;
  const added = await inTurn(async () => {
    if (before !== null || existsSync(folder)) await clearAway(record);
    const argv = [
      'git',
      ...(await gitArguments(top)),
      'worktree',
      'add',
      '-q',
      '--no-track',
      '-b',
      branch,
      folder,
      base,
    ];
    const env = gitEnvironment(top);
    const add = async () =>
      withoutSecrets(await steps.run({ argv, cwd: top, env, timeoutMs: ADD_TIMEOUT_MS, isBrief: true }), env);
    const first = await add();
    if (first.ok || before !== null) return first;
    // A leftover with the same name has no record.
    await clearAway(record);
    return add();
  });
  if (!added.ok) {
    throw new WorktreeError(`git could not make the worktree ${folder}: ${whyFailed(added.why, gitEnvironment(top))}`);
  }
  noteLink(wanted, folder);
  const shared = await shareInto(record, rules, warn);
  for (const name of rules?.copy ?? []) await copyInto(cwd, dir, name, warn);
  for (const argv of rules?.setup ?? []) await setUp(wanted, record, argv, rules?.timeoutMs ?? ADD_TIMEOUT_MS);
  return writeRecord(stateDir, { ...record, state: 'ready', ...(await leftBySetUp(record, rules, shared)) });
}

/** A changed link is noticed like a changed record. */
function noteLink(wanted: WorktreeRequest, folder: string): void {
  const link = linkWorkspace(folder, wanted);
  if (link) noteRecord(wanted.stateDir, wanted.cast, link.file, link.text);
}

/** A repository around the folder, such as a versioned home, must not see worktrees as its files. */
function makePlace(folder: string): void {
  if (!isWorktreePlace(folder, basename(folder))) return;
  const all = dirname(dirname(folder));
  try {
    mkdirSync(dirname(folder), { recursive: true, mode: 0o700 });
    writeFileSync(join(all, '.gitignore'), '*\n');
  } catch (error) {
    const fix = 'make it writable, or set XDG_STATE_HOME or BATON_HOME to another folder and start a new cast';
    throw new WorktreeError(`worktrees cannot be made in ${all}: ${(error as Error).message}; ${fix}`);
  }
}

/**
 * The set-up step itself may have been wrong. If the rules of the workspace changed since the last try, the new ones count.
 * Else a cast keeps the rules from its start, which may come from another file.
 */
function rulesFor({ rules, now }: WorktreeRequest, before: WorktreeRecord | null) {
  const tried = before?.configured;
  const configured = now ? JSON.stringify(now) : tried;
  const mended = now && tried !== undefined && configured !== tried ? now : before?.mended;
  return { rules: mended ?? rules, ...(configured ? { configured } : {}), ...(mended ? { mended } : {}) };
}

/** Untracked files after the set-up are not work. A nested repository cannot become part of the branch. */
async function leftBySetUp({ folder }: WorktreeRecord, rules: WorktreeRules | null, shared: number) {
  if (shared + (rules?.setup.length ?? 0) + (rules?.copy.length ?? 0) === 0) return { ignored: [] };
  const [stranger] = await unknownRepositoriesIn(folder);
  if (stranger !== undefined) {
    const fix = `let git ignore it, or make it a submodule; ${HOW_TO_CONTINUE}`;
    throw new WorktreeError(
      `the set-up of the worktree left ${stranger}, a git repository of its own, which cannot become part of the branch; ${fix}`,
    );
  }
  return { ignored: (await ignoredIn(folder)).slice(0, IGNORED_MAX), stands: await nestedStatesIn(folder) };
}

async function setUp(
  { dir, cast, steps }: WorktreeRequest,
  { cwd, lane }: Pick<WorktreeRecord, 'cwd' | 'lane'>,
  argv: readonly string[],
  timeoutMs: number,
): Promise<void> {
  const named = { BATON_CAST: cast, BATON_WORKSPACE: dir, ...(lane ? { BATON_LANE: String(lane.place) } : {}) };
  const env = { ...(process.env as Record<string, string>), ...named };
  const end = withoutSecrets(await steps.run({ argv, cwd, env, timeoutMs }), env);
  if (end.ok) return;
  throw new WorktreeError(`the set-up step ${argv.join(' ')} of the worktree failed: ${end.why}; ${HOW_TO_CONTINUE}`);
}

function withoutSecrets(end: StepEnd, env: SetUpStep['env']): StepEnd {
  return end.ok ? end : { ok: false, why: scrub(withoutValues(end.why, knownValues(env))).text };
}

const HOW_TO_CONTINUE = 'correct that, or worktree in the configuration, then carry on';

/**
 * Shares installed packages: those in the rules, or all that are found if no other set-up exists. Returns the number of
 * folders.
 */
async function shareInto(
  { workspace, top, folder, cwd }: WorktreeRecord,
  rules: WorktreeRules | null,
  warn: (line: string) => void,
): Promise<number> {
  const isFound = rules?.link === undefined;
  const hasSetup = (rules?.setup.length ?? 0) > 0;
  const names = rules?.link ?? (hasSetup ? [] : await packageFolders(top));
  const [from, to] = isFound ? [top, folder] : [workspace, cwd];
  let count = 0;
  for (const name of names) {
    if (existsSync(join(to, name))) continue;
    if (!existsSync(join(from, name))) {
      warn(`there is no ${name} in ${from} to share with the worktree (worktree.link); install the packages there`);
      continue;
    }
    sharePackages(join(from, name), join(to, name));
    count += 1;
    if ((await tryGit(to, ['check-ignore', '-q', '--', name])).code === 0) continue;
    rmSync(join(to, name), { recursive: true, force: true });
    count -= 1;
    const fix = `add it to .gitignore and commit that${isFound ? '' : ', or take it out of worktree.link'}`;
    const why = `git does not ignore ${name}, so packages shared there would be committed; ${fix}`;
    if (!isFound) throw new WorktreeError(why);
    warn(why);
  }
  return count;
}

/** Git would commit a file that it does not ignore, and tracked files are in the worktree already. */
async function copyInto(cwd: string, dir: string, name: string, warn: (line: string) => void): Promise<void> {
  const [from, to] = [join(dir, name), join(cwd, name)];
  if ((await tryGit(cwd, ['--literal-pathspecs', 'ls-files', '--error-unmatch', '--', name])).code === 0) {
    const fix = 'take it out of worktree.copy, and commit what the agents need of it';
    throw new WorktreeError(`git has ${name}, which is in the worktree as it was committed and is not copied; ${fix}`);
  }
  if (!existsSync(from)) return warn(`there is no ${name} to copy into the worktree (worktree.copy)`);
  if (existsSync(to)) return;
  mkdirSync(dirname(to), { recursive: true });
  cpSync(realpathSync(from), to, { recursive: true, verbatimSymlinks: true, mode: constants.COPYFILE_FICLONE });
  const ignored = await tryGit(cwd, ['check-ignore', '-q', '--', name]);
  if (ignored.code === 0) return;
  rmSync(to, { recursive: true, force: true });
  const fix = 'add it to .gitignore and commit that, or take it out of worktree.copy';
  throw new WorktreeError(`git does not ignore ${name}, so a copy of it would be committed; ${fix}`);
}

async function foundWorktree<T extends WorktreeRecord>(wanted: WorktreeRequest, record: T): Promise<T> {
  const { cast, folder, cwd, branch, top } = record;
  const tip = await branchTip(record);
  if (!existsSync(folder)) {
    const isLeft =
      tip === null ? 'and so is its branch, so nothing of it is left' : `its accepted work is on ${branch}`;
    const back = `bring it back with \`git -C ${top} worktree add -f ${folder} ${branch}\` and carry on, or drop`;
    const fix = `${tip === null ? 'clear the rest away' : back} with \`baton undo ${cast}\``;
    throw new WorktreeError(`the worktree of cast ${cast} is gone from ${folder}; ${isLeft}; ${fix}`);
  }
  if (tip === null) refuseGone(record);
  if ((await commitOf(folder, 'HEAD')) === null) await tryGit(top, ['worktree', 'repair', folder]);
  // An agent may have switched to a branch without a commit.
  if ((await commitOf(folder, 'HEAD')) === null) await tryGit(folder, ['symbolic-ref', 'HEAD', `refs/heads/${branch}`]);
  if ((await commitOf(folder, 'HEAD')) === null) {
    const fix = `clear it away and bring it back with \`git -C ${top} worktree add -f ${folder} ${branch}\`, or drop the cast with \`baton undo ${cast}\``;
    throw new WorktreeError(`git does not know the worktree ${folder} any more; ${fix}`);
  }
  noteLink(wanted, folder);
  if (existsSync(cwd)) return record;
  throw new WorktreeError(`${cwd} is gone from the worktree of cast ${cast}; bring it back from git, then carry on`);
}

/**
 * Removes the worktree of a cast with all its files, except repositories with own work. Returns a record with the branch's last
 * commit.
 */
export async function removeWorktree(stateDir: string, record: WorktreeRecord, state: 'merged' | 'undone') {
  if (record.state !== 'making') await refuseApart(record);
  const tip = await branchTip(record);
  await clearAway(record);
  return writeRecord(stateDir, { ...record, state, starts: {}, open: {}, ...(tip === null ? {} : { tip }) });
}

/** Removes the folder and the branch with their content. */
export async function clearAway({
  top,
  folder,
  branch,
}: Pick<WorktreeRecord, 'top' | 'folder' | 'branch'>): Promise<void> {
  // Forced twice, because an interrupted new worktree is locked.
  await tryGit(top, ['worktree', 'remove', '--force', '--force', folder]);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  await tryGit(top, ['worktree', 'unlock', folder]);
  await tryGit(top, ['worktree', 'prune']);
  dropEmpty(folder);
  if ((await commitOf(top, `refs/heads/${branch}`)) !== null) await git(top, ['branch', '-q', '-D', branch]);
}

/** The workspace's folder is removed with its last worktree. */
function dropEmpty(folder: string): void {
  if (!isWorktreePlace(folder, basename(folder))) return;
  try {
    rmdirSync(dirname(folder));
  } catch {
    // It still has other worktrees.
  }
}
