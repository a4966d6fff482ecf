// Before a cast starts: its plan from the configuration, and the folder it works in.
import { join } from 'node:path';
import { PRESENT, runnerCan } from '../../kernel/capabilities.ts';
import { mayPark } from '../../kernel/cast/item.ts';
import { hasWriters, onlyRunsChecks } from '../../kernel/cast/lock-scope.ts';
import type { AgentMateria, Issue, Rules, WorktreeRules } from '../../kernel/graph/config.ts';
import { counted } from '../../kernel/text.ts';
import { type Denied, deny } from '../../kernel/verdict.ts';
import { UTILITY_NAMES } from '../../utilities/utility.ts';
import { tryGit, WorktreeError } from '../../workspace/git.ts';
import { UsageError } from '../../workspace/locate.ts';
import { locateCast } from '../../workspace/plan.ts';
import { branchTip } from '../../workspace/worktree/accepted.ts';
import { apartOf } from '../../workspace/worktree/nested-repositories.ts';
import { branchOf, readRecord, worktreesFolder } from '../../workspace/worktree/record.ts';
import { type Repository, type RepositoryReading, readRepository } from '../../workspace/worktree/repository.ts';
import { uncommittedOf } from '../../workspace/worktree/turns.ts';
import { saidOf, unmergedLanes } from '../cast-work.ts';
import { rootNamed } from '../ledger-session.ts';
import type { Context } from '../operation.ts';
import { whyNoRepository } from '../preflight/machine.ts';
import { Refused } from '../refused.ts';
import type { Workspace } from '../workspace.ts';

// A cast that may change files works in its own worktree where git can make one, else in the directory itself. So does one that
// only runs checks, where everything is committed: there what a check changes is put back. Uncommitted work is what it may be
// asked to look at, so with any it works in the directory itself.
type Isolation = {
  /** The name of the worktree in locks; without one the cast works in the directory itself. */
  readonly root?: string;
  readonly says: readonly string[];
};

export async function isolationOf(
  workspace: Workspace,
  rules: Rules,
  cast: string,
  isInPlace: boolean,
): Promise<Isolation> {
  const parks = rules.graph.loops.some((loop) => mayPark(rules.graph, loop)) && hasWriters(rules);
  const isBeside = rules.graph.loops.some(({ isParallel }) => isParallel) && hasWriters(rules);
  const inPlace = [
    ...(parks ? ['what is done for an item that is parked stays in the files: nothing is taken back in place'] : []),
    ...(isBeside ? ['items that may change the same files take turns: side by side each needs a worktree'] : []),
  ];
  const onlyChecks = onlyRunsChecks(rules);
  if (isInPlace || rules.worktree === null || !(hasWriters(rules) || onlyChecks)) return { says: inPlace };
  const look = await looked(workspace.dir);
  if (onlyChecks && (!look.ok || look.repository.uncommitted > 0)) return { says: [] };
  if (!look.ok)
    return { says: [...(look.why === null ? [] : [`works in the directory itself: ${look.why}`]), ...inPlace] };
  const cwd = join(worktreesFolder(workspace, workspace.env), cast, look.repository.prefix);
  return {
    root: rootNamed(workspace, cwd),
    says: startOf(cast, look.repository, rules.worktree?.setup ?? []),
  };
}

async function looked(dir: string): Promise<RepositoryReading> {
  try {
    return await readRepository(dir);
  } catch (error) {
    if (error instanceof WorktreeError) throw new Refused(deny(error.code, error.message));
    throw error;
  }
}

/** Why a cast gets no folder of its own here, and what would change that; null where it gets one. */
export async function whyNotApart(dir: string): Promise<{ readonly why: string | null; readonly fix: string }> {
  const make = 'make it a git repository with a commit: git init && git add -A && git commit -m start';
  const look = await looked(dir);
  if (look.ok) return { why: null, fix: '' };
  if (look.why === null) return { why: `${dir} is no git repository`, fix: make };
  const own = whyNoRepository((await tryGit(dir, ['rev-parse', '--git-dir'])).error, dir);
  return (
    own ?? {
      why: look.why,
      fix: look.why.includes('no commit') ? 'commit once: git add -A && git commit -m start' : make,
    }
  );
}

/** An agent with a model or a program behind it that may write. */
export function mayChangeFiles({ tools, runner }: AgentMateria): boolean {
  const isReal = !runnerCan(PRESENT, runner, 'isPerson') && !runnerCan(PRESENT, runner, 'playsScript');
  return isReal && runnerCan(PRESENT, runner, 'mayWrite') && tools === 'coding';
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
    `  take it over ${baton} merge ${cast}`,
    `  drop it      ${baton} undo ${cast}`,
    ...lanes.map((lane) => `${saidOf(lane)} (${baton} diff ${cast} --lane ${lane.lane})`),
  ];
}

const REQUEST_BYTES_MAX = 1_048_576;

type CastOptions = {
  readonly request: string;
  readonly loadout?: string | undefined;
  readonly file?: string | undefined;
  readonly agents?: string | undefined;
  readonly runner?: string | undefined;
  readonly model?: string | undefined;
};

export async function planned(workspace: Workspace, options: CastOptions, { onEvent }: Pick<Context, 'onEvent'>) {
  const { request, file, loadout, agents, runner, model } = options;
  const chosen = { runner, model };
  const bytes = Buffer.byteLength(request);
  if (bytes > REQUEST_BYTES_MAX)
    throw new UsageError(
      `the request has ${bytes} bytes; at most ${REQUEST_BYTES_MAX} are allowed. Put the rest into files of the project`,
    );
  const { cwd } = workspace;
  const plan = await locateCast({ workspace, file, loadout, agents, cwd, chosen, utilities: UTILITY_NAMES });
  for (const { code, path, message } of plan.ok ? plan.plan.warnings : [])
    onEvent({ kind: 'note', text: `warning ${code} ${path}: ${message}` });
  return plan;
}

/** What is wrong with the configuration; the first mistake gives the code. */
export function refusedPlan(issues: readonly Issue[]): Denied {
  const first = issues.find(({ level }) => level === 'error');
  const reason = first ? `${first.path}: ${first.message}` : 'the configuration does not check';
  return deny(first?.code ?? 'INVALID_CONFIG', reason, { issues: issues.map((issue) => ({ ...issue })) });
}
