// Makes the worktree of a cast, finds it again, and takes it away. It is made in steps that may be cut off anywhere: until
// the record says that it is ready it holds nobody's work, and is made again from the beginning.
import { constants, cpSync, existsSync, mkdirSync, realpathSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { WorktreeRules } from '../../kernel/graph/worktree.ts';
import { branchOf } from './branch.ts';
import { commitOf, git, gitEnvironment, SETTINGS, tryGit, WorktreeError } from './git.ts';
import { readRecord, type WorktreeRecord, worktreesIn, writeRecord } from './record.ts';
import { lookAt } from './repository.ts';

export type Step = {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
};
export type StepEnd = { readonly ok: true } | { readonly ok: false; readonly why: string };

/** Runs programs so that none is left behind, whatever becomes of us. */
export type Steps = {
  run(step: Step): Promise<StepEnd>;
  /** Ends what an earlier process may have left running. */
  clear(): Promise<void>;
};

export type Wanted = {
  readonly dir: string;
  readonly stateDir: string;
  readonly cast: string;
  readonly rules: WorktreeRules | null;
  readonly steps: Steps;
};

const ADD_TIMEOUT_MS = 600_000;

/** Where the worktree of a cast will lie, and the folder in it that is the workspace's. */
export function placeFor(stateDir: string, cast: string, prefix: string): { folder: string; cwd: string } {
  const folder = join(worktreesIn(stateDir), cast);
  return { folder, cwd: join(folder, prefix) };
}

/** The worktree of a cast, ready to be worked in. */
export async function readyWorktree(wanted: Wanted): Promise<WorktreeRecord> {
  const record = readRecord(wanted.stateDir, wanted.cast);
  if (record === null || record.state === 'making') return makeWorktree(wanted, record);
  if (record.state === 'ready') return foundWorktree(record);
  const what = record.state === 'merged' ? 'merged' : 'taken back';
  throw new WorktreeError(`the work of cast ${record.cast} was ${what}, and its worktree is gone; start a new cast`);
}

async function makeWorktree(wanted: Wanted, begun: WorktreeRecord | null): Promise<WorktreeRecord> {
  const { dir, stateDir, cast, rules, steps } = wanted;
  await steps.clear();
  const look = await lookAt(dir);
  if (!look.ok)
    throw new WorktreeError(`no worktree can be made in ${dir}: ${look.why ?? 'it is in no git repository'}`);
  const { top, prefix, head } = look.repository;
  const base = (begun && (await commitOf(top, begun.base))) ?? head;
  const place = placeFor(stateDir, cast, prefix);
  const common = { version: 1, cast, workspace: dir, top, branch: branchOf(cast), base, starts: {}, open: {} } as const;
  const record: WorktreeRecord = { ...common, ...place, state: 'making' };
  writeRecord(stateDir, record);
  await clearAway(record);
  const { folder, cwd, branch } = record;
  const added = await steps.run({
    argv: ['git', ...SETTINGS, 'worktree', 'add', '-q', '--no-track', '-b', branch, folder, base],
    cwd: top,
    env: gitEnvironment(),
    timeoutMs: ADD_TIMEOUT_MS,
  });
  if (!added.ok) throw new WorktreeError(`git could not make the worktree ${folder}: ${added.why}`);
  for (const name of rules?.copy ?? []) await copyInto(cwd, dir, name);
  for (const argv of rules?.setup ?? []) await setUp(wanted, cwd, argv, rules?.timeoutMs ?? ADD_TIMEOUT_MS);
  return writeRecord(stateDir, { ...record, state: 'ready' });
}

async function setUp({ dir, cast, steps }: Wanted, cwd: string, argv: readonly string[], timeoutMs: number) {
  const env = { ...(process.env as Record<string, string>), BATON_CAST: cast, BATON_WORKSPACE: dir };
  const end = await steps.run({ argv, cwd, env, timeoutMs });
  if (end.ok) return;
  throw new WorktreeError(
    `the set-up step ${argv.join(' ')} of the worktree failed: ${end.why}; mend it, then carry on`,
  );
}

/** What git tracks is in the worktree already; what it would not ignore would end up in a commit. */
async function copyInto(cwd: string, dir: string, name: string): Promise<void> {
  const [from, to] = [join(dir, name), join(cwd, name)];
  if (!existsSync(from) || existsSync(to)) return;
  mkdirSync(dirname(to), { recursive: true });
  cpSync(realpathSync(from), to, { recursive: true, verbatimSymlinks: true, mode: constants.COPYFILE_FICLONE });
  const ignored = await tryGit(cwd, ['check-ignore', '-q', '--', name]);
  if (ignored.code === 0) return;
  rmSync(to, { recursive: true, force: true });
  const fix = 'add it to .gitignore and commit that, or take it out of worktree.copy';
  throw new WorktreeError(`git does not ignore ${name}, so a copy of it would be committed; ${fix}`);
}

async function foundWorktree(record: WorktreeRecord): Promise<WorktreeRecord> {
  const { cast, folder, cwd, branch, top } = record;
  const tip = await commitOf(top, `refs/heads/${branch}`);
  if (!existsSync(folder)) {
    const isLeft =
      tip === null ? 'and so is its branch, so nothing of it is left' : `its accepted work is on ${branch}`;
    const back = `bring it back with \`git -C ${top} worktree add -f ${folder} ${branch}\` and carry on, or drop`;
    const fix = `${tip === null ? 'clear the rest away' : back} with \`baton undo ${cast}\``;
    throw new WorktreeError(`the worktree of cast ${cast} is gone from ${folder}; ${isLeft}; ${fix}`);
  }
  if ((await commitOf(folder, 'HEAD')) === null) await tryGit(top, ['worktree', 'repair', folder]);
  if (tip === null || (await commitOf(folder, 'HEAD')) === null) {
    const fix = `make the branch ${branch} again where its work should go on, or drop the cast with \`baton undo ${cast}\``;
    throw new WorktreeError(`git does not know the worktree ${folder} or its branch ${branch} any more; ${fix}`);
  }
  if (existsSync(cwd)) return record;
  throw new WorktreeError(`${cwd} is gone from the worktree of cast ${cast}; bring it back from git, then carry on`);
}

/** Takes the folder and the branch away, whatever they hold. Answers the branch's last commit. */
export async function removeWorktree(stateDir: string, record: WorktreeRecord, state: 'merged' | 'undone') {
  const tip = await commitOf(record.top, `refs/heads/${record.branch}`);
  await clearAway(record);
  return writeRecord(stateDir, { ...record, state, starts: {}, open: {}, ...(tip === null ? {} : { tip }) });
}

async function clearAway({ top, folder, branch }: WorktreeRecord): Promise<void> {
  // Twice forced: one that was cut off while it was made is locked.
  await tryGit(top, ['worktree', 'remove', '--force', '--force', folder]);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  await tryGit(top, ['worktree', 'unlock', folder]);
  await tryGit(top, ['worktree', 'prune']);
  if ((await commitOf(top, `refs/heads/${branch}`)) !== null) await git(top, ['branch', '-q', '-D', branch]);
}
