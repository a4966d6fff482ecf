// Where a cast is going to work: in a worktree of its own where it may change files and git can give it one, else in the
// directory itself; and what to tell the person about it, at the start and at the end.
import { join } from 'node:path';
import { mayWrite } from '../../kernel/cast/lock-scope.ts';
import { counted } from '../../kernel/counted.ts';
import type { Rules, WorktreeRules } from '../../kernel/graph/config.ts';
import { deny } from '../../kernel/verdict.ts';
import { branchOf } from '../../workspace/worktree/branch.ts';
import { tryGit, WorktreeError } from '../../workspace/worktree/git.ts';
import { worktreesFolder } from '../../workspace/worktree/place.ts';
import { readRecord } from '../../workspace/worktree/record.ts';
import { apartOf } from '../../workspace/worktree/repositories.ts';
import { type Look, lookAt, type Repository } from '../../workspace/worktree/repository.ts';
import { branchTip } from '../../workspace/worktree/tip.ts';
import { uncommittedOf } from '../../workspace/worktree/turns.ts';
import { saidOf, unmergedLanes } from '../cast-work.ts';
import { rootNamed } from '../ledger-session.ts';
import { Refused } from '../refused.ts';
import type { Workspace } from '../workspace.ts';

export type Isolation = {
  /** The name of the worktree in locks; without one the cast works in the directory itself. */
  readonly root?: string;
  readonly says: readonly string[];
};

const IN_PLACE: Isolation = { says: [] };

export async function isolationOf(
  workspace: Workspace,
  rules: Rules,
  cast: string,
  isInPlace: boolean,
): Promise<Isolation> {
  if (isInPlace || rules.worktree === null || !mayWrite(rules)) return IN_PLACE;
  const look = await looked(workspace.dir);
  if (!look.ok) return look.why === null ? IN_PLACE : { says: [`works in the directory itself: ${look.why}`] };
  const cwd = join(worktreesFolder(workspace, workspace.env), cast, look.repository.prefix);
  return {
    root: rootNamed(workspace, cwd),
    says: startOf(cast, look.repository, rules.worktree?.setup ?? []),
  };
}

async function looked(dir: string): Promise<Look> {
  try {
    return await lookAt(dir);
  } catch (error) {
    if (error instanceof WorktreeError) throw new Refused(deny(error.code, error.message));
    throw error;
  }
}

function startOf(
  cast: string,
  { head, branch, uncommitted, hasSubmodules }: Repository,
  setup: WorktreeRules['setup'],
): readonly string[] {
  const from = `${head.slice(0, 7)}${branch === null ? '' : ` of ${branch}`}`;
  const lines = [`works in a worktree of its own, on branch ${branchOf(cast)} from ${from}`];
  if (uncommitted > 0) {
    const [is, it] = uncommitted === 1 ? ['is', 'it'] : ['are', 'them'];
    const what = `${counted(uncommitted, 'uncommitted file')} of yours ${is} not in it`;
    lines.push(`${what}; if the agents need ${it}, commit first, or cast with --in-place`);
  }
  if (hasSubmodules && !setup.some((step) => step.some((word) => word.includes('submodule')))) {
    lines.push(
      'submodules are not checked out in it; worktree.setup can do so: ["git", "submodule", "update", "--init"]',
    );
  }
  return lines;
}

/** How to look at what a cast did in its worktree, take it over or drop it; nothing where it has none any more. */
export async function wayOut(workspace: Workspace, cast: string): Promise<readonly string[]> {
  const record = readRecord(workspace.stateDir, cast);
  if (record?.state !== 'ready') return [];
  const { top, branch, base } = record;
  const baton = workspace.program;
  const tip = await branchTip(record);
  const uncommitted = await uncommittedOf(record).catch(() => 0);
  const lanes = tip === null ? [] : await unmergedLanes(workspace, record);
  if (tip === base && uncommitted === 0 && lanes.length === 0) {
    const apart = await apartOf(workspace.stateDir, record);
    if (apart !== null) return [`It changed no file of its branch; ${apart}.`];
    return [`It changed no file; \`${baton} undo ${cast}\` clears its worktree away.`];
  }
  if (tip === null) return [`Its branch ${branch} is gone; \`${baton} diff ${cast}\` says what can be done.`];
  const commits = await tryGit(top, ['rev-list', '--count', `${base}..${tip}`]);
  return [
    `What it did is on branch ${branch} (${counted(Number(commits.out) || 0, 'commit')}):`,
    `  look at it   ${baton} diff ${cast}`,
    `  take it over ${baton} merge ${cast}   (or: git merge ${branch})`,
    `  drop it      ${baton} undo ${cast}`,
    ...lanes.map((lane) => `${saidOf(lane)} (${baton} diff ${cast} --lane ${lane.lane})`),
  ];
}
