// Before a cast starts: its plan from the configuration, the folder it works in, and whether the project's checks can start
// there. A check that fails is no obstacle, and nothing of the project runs here.

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileOf } from '../../agents/find-file.ts';
import { mayPark } from '../../kernel/cast/item.ts';
import { mayWrite } from '../../kernel/cast/lock-scope.ts';
import { readChecker } from '../../kernel/graph/checker.ts';
import type { Issue, Rules, WorktreeRules } from '../../kernel/graph/config.ts';
import { isObject, isString, type JsonObject } from '../../kernel/json.ts';
import { counted } from '../../kernel/text.ts';
import { type Denied, deny } from '../../kernel/verdict.ts';
import { UTILITY_NAMES } from '../../utilities/names.ts';
import { detectProject, hasPackages, jsonOf, type Project } from '../../workspace/detect-project.ts';
import { UsageError } from '../../workspace/locate.ts';
import { locateCast } from '../../workspace/plan.ts';
import { branchTip } from '../../workspace/worktree/accepted.ts';
import { tryGit, WorktreeError } from '../../workspace/worktree/git.ts';
import { apartOf } from '../../workspace/worktree/nested-repositories.ts';
import { branchOf, readRecord, worktreesFolder } from '../../workspace/worktree/record.ts';
import { type Look, lookAt, type Repository } from '../../workspace/worktree/repository.ts';
import { uncommittedOf } from '../../workspace/worktree/turns.ts';
import { saidOf, unmergedLanes } from '../cast-work.ts';
import { rootNamed } from '../ledger-session.ts';
import type { Context } from '../operation.ts';
import { Refused } from '../refused.ts';
import type { Workspace } from '../workspace.ts';

type Unstartable = { readonly name: string; readonly command: readonly string[]; readonly why: string };

/** `declared` are the checkers of the configuration; without any, the checks that are found in the folder count. */
export function unstartableIn(folder: string, declared: JsonObject, path: string | undefined): readonly Unstartable[] {
  const commands = Object.entries(declared).flatMap(([name, definition]) => {
    const checker = readChecker(definition);
    return checker?.kind === 'command' ? [{ name, command: checker.command }] : [];
  });
  const checks = commands.length > 0 ? commands : detectProject(folder).checks;
  return checks.flatMap(({ name, command }) => {
    const why = whyNotStart(command, folder, path);
    return why === null ? [] : [{ name, command, why }];
  });
}

/** One line for a person, with what to do about it. */
export function saidOfUnstartable(unstartable: readonly Unstartable[], project: Project, dir: string): string | null {
  const [first, ...more] = unstartable;
  if (!first) return null;
  const which = `${first.name} (${first.command.join(' ')})${more.length > 0 ? ` and ${more.length} more` : ''}`;
  const setup = project.installs.flatMap(({ steps }) => steps);
  const shared = project.installs.find(({ folder }) => folder === 'node_modules')?.steps ?? [];
  const install = shared.map((step) => step.join(' ')).join(' && ');
  const fix =
    setup.length === 0
      ? 'install it, or let worktree.setup in the configuration do so'
      : `${install === '' ? '' : `run \`${install}\` in ${dir}, which worktrees share, or `}set worktree.setup in the configuration to ${JSON.stringify(setup)}`;
  return `the project's check ${which} cannot start in the worktree: ${first.why}; ${fix}`;
}

/** Null where nothing is seen that keeps it from starting. */
export function whyNotStart(command: readonly string[], folder: string, path: string | undefined): string | null {
  const [program = '', ...args] = command;
  if (fileOf(program, path, folder) === null) return `${program} is not found`;
  const script = scriptIn(program, args);
  if (script === null) return null;
  const manifest = jsonOf(folder, 'package.json');
  const line = isObject(manifest.scripts) ? manifest.scripts[script] : undefined;
  if (!isString(line)) return `package.json has no script ${JSON.stringify(script)}`;
  const bins = binsAbove(folder);
  if (hasPackages(manifest) && bins.length === 0 && !existsSync(join(folder, '.pnp.cjs'))) {
    return 'its packages are not installed: there is no node_modules';
  }
  const word = firstProgram(line);
  if (word === null || fileOf(word, [...bins, path ?? ''].join(':'), folder) !== null) return null;
  return `${word} is not found, which its script ${JSON.stringify(script)} runs`;
}

const RUNNERS = ['npm', 'pnpm', 'yarn', 'bun'];

/** The script of package.json that a command runs, or null. */
function scriptIn(program: string, [first, second]: readonly string[]): string | null {
  if (!RUNNERS.includes(program)) return null;
  if (first === 'run' || first === 'run-script') return second ?? null;
  return first === 'test' || first === 't' ? 'test' : null;
}

/** The folders with programs of installed packages, here and above, up to the top of the repository. */
function binsAbove(folder: string): readonly string[] {
  const found: string[] = [];
  for (let at = folder; dirname(at) !== at; at = dirname(at)) {
    if (existsSync(join(at, 'node_modules'))) found.push(join(at, 'node_modules', '.bin'));
    if (existsSync(join(at, '.git'))) break;
  }
  return found;
}

const BUILT_IN = [
  ...['cd', 'echo', 'exit', 'test', '[', 'set', 'export', 'true', 'false', 'if', 'for', 'while', 'until', 'case'],
  ...['exec', 'eval', 'command', 'source', '.', ':', '!', '{', '('],
];

/** The program that a line of shell starts first; null where only a shell could tell. */
function firstProgram(line: string): string | null {
  const word = line
    .trim()
    .split(/\s+/)
    .find((each) => !/^\w+=/.test(each));
  if (word === undefined || BUILT_IN.includes(word) || !/^[\w@./+-]+$/.test(word)) return null;
  return word;
}

// A cast that may change files works in its own worktree where git can make one, else in the directory itself.
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
  const parks = rules.graph.loops.some((loop) => mayPark(rules.graph, loop)) && mayWrite(rules);
  const inPlace = parks
    ? ['what is done for an item that is parked stays in the files: nothing is taken back in place']
    : [];
  if (isInPlace || rules.worktree === null || !mayWrite(rules)) return { says: inPlace };
  const look = await looked(workspace.dir);
  if (!look.ok)
    return { says: [...(look.why === null ? [] : [`works in the directory itself: ${look.why}`]), ...inPlace] };
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
