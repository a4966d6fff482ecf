// Before a cast starts: its plan from the configuration, the folder it works in, and whether a person trusts the commands that run by
// themselves.
import { join } from 'node:path';
import { isTrusted } from '../../git/folder-trust.ts';
import { untrustedDrivers } from '../../git/run-git.ts';
import { PRESENT, runnerCan } from '../../kernel/capabilities.ts';
import { mayPark } from '../../kernel/cast/item.ts';
import { hasWriters, onlyRunsChecks } from '../../kernel/cast/lock-scope.ts';
import {
  type AgentMateria,
  type CheckerTime,
  checkersAt,
  checkersOfTurns,
  type Issue,
  type Rules,
  readChecker,
  type WorktreeRules,
} from '../../kernel/graph/config.ts';
import { INPUTS } from '../../kernel/graph/resolve-graph.ts';
import { scrub } from '../../kernel/secrets.ts';
import { counted } from '../../kernel/text.ts';
import { type Denied, deny } from '../../kernel/verdict.ts';
import { UTILITY_NAMES } from '../../utilities/utility.ts';
import { tryGit } from '../../workspace/git.ts';
import { UsageError } from '../../workspace/locate.ts';
import { locateCast, type Unplanned } from '../../workspace/plan.ts';
import { branchOf, worktreesFolder } from '../../workspace/worktree/record.ts';
import { type Repository, type RepositoryReading, readRepository } from '../../workspace/worktree/repository.ts';
import { refusing } from '../cast-work.ts';
import { rootNamed } from '../ledger-session.ts';
import type { Context } from '../operation.ts';
import { whyNoRepository } from '../preflight/machine.ts';
import { AsksPerson } from '../refused.ts';
import type { Workspace } from '../workspace.ts';
import { castInputs, type GivenInputs } from './cast-inputs.ts';

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
  known: RepositoryReading | null = null,
): Promise<Isolation> {
  const parks = rules.graph.loops.some((loop) => mayPark(rules.graph, loop)) && hasWriters(rules);
  const isBeside = rules.graph.loops.some(({ isParallel }) => isParallel) && hasWriters(rules);
  const inPlace = [
    ...(parks ? ['what is done for an item that is parked stays in the files: nothing is taken back in place'] : []),
    ...(isBeside ? ['items that may change the same files take turns: side by side each needs a worktree'] : []),
  ];
  const onlyChecks = onlyRunsChecks(rules);
  if (isInPlace || rules.worktree === null || !(hasWriters(rules) || onlyChecks)) return { says: inPlace };
  const look = known ?? (await refusing(() => readRepository(workspace.dir)));
  if (onlyChecks && (!look.ok || look.repository.uncommitted > 0)) return { says: [] };
  if (!look.ok)
    return { says: [...(look.why === null ? [] : [`works in the directory itself: ${look.why}`]), ...inPlace] };
  const cwd = join(worktreesFolder(workspace, workspace.env), cast, look.repository.prefix);
  return {
    root: rootNamed(workspace, cwd),
    says: startOf(cast, look.repository, rules.worktree?.setup ?? []),
  };
}

/** Why a cast gets no folder of its own here, and what would change that; null where it gets one. */
export async function whyNotApart(
  dir: string,
): Promise<{ readonly look: RepositoryReading; readonly why: string | null; readonly fix: string }> {
  const make = 'make it a git repository with a commit: git init && git add -A && git commit -m start';
  const look = await refusing(() => readRepository(dir));
  if (look.ok) return { look, why: null, fix: '' };
  if (look.why === null) return { look, why: `${dir} is no git repository`, fix: make };
  const own = whyNoRepository((await tryGit(dir, ['rev-parse', '--git-dir'])).error, dir);
  const fix = look.why.includes('no commit') ? 'commit once: git add -A && git commit -m start' : make;
  return { look, ...(own ?? { why: look.why, fix }) };
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

const REQUEST_BYTES_MAX = 1_048_576;

type CastOptions = {
  readonly request: string;
  readonly loadout?: string | undefined;
  readonly file?: string | undefined;
  readonly agents?: string | undefined;
  readonly runner?: string | undefined;
  readonly model?: string | undefined;
  readonly set?: readonly string[] | undefined;
  readonly materia?: string | undefined;
  readonly link?: string | undefined;
  readonly targets?: readonly string[] | undefined;
} & GivenInputs;

/** What is linked, or null where one loadout is cast. */
function targetsOf({ materia, link, targets, loadout }: CastOptions): readonly string[] | undefined {
  const ways = [materia, link, targets, loadout].filter((way) => way !== undefined);
  if (ways.length > 1) throw new UsageError('name one loadout, one materia or what is linked, and not several of them');
  if (materia !== undefined) return [`materia:${materia}`];
  return link === undefined ? targets : wordsIn(link);
}

/** Words with quotes around a name that has a space. */
function wordsIn(text: string): readonly string[] {
  const words = [...text.matchAll(/"([^"]*)"|'([^']*)'|((?:[^\s"']|(?<=:)"[^"]*"|(?<=:)'[^']*')+)/g)];
  return words.map(([, one, other, plain = '']) => one ?? other ?? plain.replace(/["']/g, ''));
}

export async function planned(workspace: Workspace, options: CastOptions, { onEvent }: Pick<Context, 'onEvent'>) {
  const { request, file, loadout, agents, runner, model, set } = options;
  const chosen = { runner, model };
  const bytes = Buffer.byteLength(request);
  if (bytes > REQUEST_BYTES_MAX)
    throw new UsageError(
      `the request has ${bytes} bytes; at most ${REQUEST_BYTES_MAX} are allowed. Put the rest into files of the project`,
    );
  const { cwd } = workspace;
  const targets = targetsOf(options);
  const wanted = { workspace, file, loadout, agents, cwd, chosen, set, targets, utilities: UTILITY_NAMES };
  const plan = await locateCast(wanted);
  if (!plan.ok) askForTrust(workspace, plan.issues);
  for (const { code, path, message } of plan.ok ? plan.plan.warnings : [])
    onEvent({ kind: 'note', text: `warning ${code} ${path}: ${message}` });
  if (!plan.ok) return plan;
  const inputs = castInputs(plan.plan.inputs, options);
  if (!inputs.ok) return inputs;
  return { ok: true as const, plan: { ...plan.plan, data: inputs.inputs === null ? {} : { [INPUTS]: inputs.inputs } } };
}

/** A project that changes what a person set for every workspace counts after a yes. */
function askForTrust({ dir }: Workspace, issues: readonly Issue[]): void {
  const changes = issues.filter(({ code }) => code === 'FOLDER_UNTRUSTED');
  const [first] = changes;
  if (!first || issues.some(({ code, level }) => level === 'error' && code !== 'FOLDER_UNTRUSTED')) return;
  const keys = changes.map(({ path }) => path);
  const refusal = deny('FOLDER_UNTRUSTED', first.message, {
    folder: dir,
    keys,
    issues: changes.map((each) => ({ ...each })),
  });
  throw new AsksPerson(
    refusal,
    `The project changes settings of yours: ${keys.join(', ')}. Do you trust what is in ${dir}?`,
    {
      trust: dir,
    },
  );
}

/** Where several loadouts are there, and none was named and none is active, a person picks one as the value of `field`. */
export function askWhich({ issues, names }: Unplanned, field: string): void {
  const [first, ...others] = names ?? [];
  if (first === undefined || others.length === 0 || !issues.every(({ path }) => path === 'activeLoadout')) return;
  const agreed = { field, of: [first, ...others], isForPerson: true } as const;
  throw new AsksPerson(refusedPlan(issues), 'Which loadout? None is active.', agreed);
}

/** What is wrong with the configuration; the first mistake gives the code. */
export function refusedPlan(issues: readonly Issue[]): Denied {
  const first = issues.find(({ level }) => level === 'error');
  const reason = first ? `${first.path}: ${first.message}` : 'the configuration does not check';
  return deny(first?.code ?? 'INVALID_CONFIG', reason, { issues: issues.map((issue) => ({ ...issue })) });
}

/** A command that is going to run, and the member of the configuration that says so. */
type ProjectCommand = { readonly member: string; readonly command: readonly string[] };

/** Refuses commands of a folder that no person trusts. A person at hand may trust it now. */
export async function requireTrust(
  { dir, env, program }: Pick<Workspace, 'dir' | 'env' | 'program'>,
  commands: readonly ProjectCommand[] = [],
): Promise<void> {
  const unknown = (isTrusted(dir, env) ? [] : commands).map(({ member, command }) => {
    return { member, line: scrub(command.join(' ')).text };
  });
  const drivers = await untrustedDrivers(dir);
  if (unknown.length + drivers.length === 0) return;
  const what = [
    ...unknown.map(({ member, line }) => `${member} runs \`${line}\``),
    ...(drivers.length === 0 ? [] : [`.git/config defines ${drivers.join(', ')}`]),
  ].join('; ');
  const reason = `commands would run in ${dir}, and the folder is not trusted: ${what}. Look at them; \`${program} trust\` lets them run.`;
  const details = { folder: dir, setup: unknown.map(({ line }) => line), drivers };
  const question = `Commands would run in ${dir}: ${what}. Do you trust what is in this folder?`;
  throw new AsksPerson(deny('FOLDER_UNTRUSTED', reason, details), question, { trust: dir });
}

/** The commands that a cast by these rules runs by itself: the set-up of its worktrees, and the checkers after its turns. */
export function commandsOf(
  { worktree, checkers, graph }: Pick<Rules, 'worktree' | 'checkers' | 'graph'>,
  isInPlace: boolean,
): ProjectCommand[] {
  const setup = isInPlace ? [] : (worktree?.setup ?? []);
  return [
    ...setup.map((command) => ({ member: 'worktree.setup', command })),
    ...commandsNamed(checkers, checkersOfTurns(checkers, graph.sockets)),
  ];
}

export function checkerCommands(checkers: Rules['checkers'], time: CheckerTime): ProjectCommand[] {
  return commandsNamed(checkers, checkersAt(checkers, time));
}

function commandsNamed(checkers: Rules['checkers'], names: readonly string[]): ProjectCommand[] {
  return names.flatMap((name) => {
    const checker = readChecker(checkers[name]);
    return checker?.kind === 'command' ? [{ member: `checkers.${name}`, command: checker.command }] : [];
  });
}
