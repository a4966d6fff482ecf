// The checks before a cast, in one list. `doctor` shows all of it, `check` shows what is missing, and `cast` does not start while
// something is. Nothing is changed, and nothing of the project runs here: its checkers and commands are only checked for whether they
// can start.

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findExecutable } from '../../agents/environment.ts';
import { hasWriters } from '../../kernel/cast/lock-scope.ts';
import { checkersOfTurns, type Rules, readChecker, type Script } from '../../kernel/graph/config.ts';
import { isObject, isString, type JsonObject } from '../../kernel/json.ts';
import { detectProject, hasPackages, jsonOf, type Project } from '../../utilities/detect-project.ts';
import { sinksOf } from '../driving/deliver-events.ts';
import { addressFindings, agentFindings } from './agents.ts';
import {
  clockFinding,
  diskFinding,
  errorFinding,
  gitFinding,
  limitsFindings,
  type MachineFinding,
  type Needs,
  nodeFinding,
  type PreflightContext,
  sizeFindings,
  stateFinding,
  warningFinding,
  worktreesFinding,
} from './machine.ts';

type Check = {
  /** `doctor` alone looks at what takes long, and at what a cast finds out before it spends anything. */
  readonly by: 'everyone' | 'doctor';
  readonly find: (
    start: PreflightContext,
  ) => MachineFinding | readonly MachineFinding[] | Promise<MachineFinding | readonly MachineFinding[]>;
};

const CHECKS: readonly Check[] = [
  { by: 'doctor', find: () => nodeFinding(process.versions.node) },
  { by: 'doctor', find: gitFinding },
  { by: 'doctor', find: sizeFindings },
  { by: 'doctor', find: limitsFindings },
  { by: 'everyone', find: agentFindings },
  { by: 'everyone', find: addressFindings },
  { by: 'everyone', find: checkerFindings },
  { by: 'everyone', find: commandFindings },
  { by: 'everyone', find: sinkFindings },
  { by: 'everyone', find: diskFinding },
  { by: 'everyone', find: stateFinding },
  { by: 'everyone', find: (start) => (start.isDoctor || start.needs.isApart ? worktreesFinding(start) : []) },
  { by: 'doctor', find: clockFinding },
];

/** In the order of the list. */
export async function findingsIn(start: PreflightContext): Promise<readonly MachineFinding[]> {
  const checks = CHECKS.filter(({ by }) => by === 'everyone' || start.isDoctor);
  return (await Promise.all(checks.map(({ find }) => find(start)))).flat();
}

/** What these casts need. Agents and commands that a script speaks for need nothing. */
export function needsOf(all: readonly Rules[], script: Script | null, isInPlace = false): Needs {
  const materia = all.flatMap((rules) => Object.values(rules.materia));
  const isScripted = (id: string) => script !== null && Object.hasOwn(script, id);
  const commands = materia.flatMap((one) => {
    if (one.type !== 'utility' || isScripted(one.id)) return [];
    const command = one.wait?.kind === 'command' ? one.wait.command : one.command;
    return command === null ? [] : [{ id: one.id, command }];
  });
  const [first] = all;
  return {
    // With a script no agent of the cast is asked for anything.
    agents: script === null ? materia.filter((one) => one.type === 'agent') : [],
    commands,
    checkers: Object.assign({}, ...all.map(({ checkers }) => checkers)) as JsonObject,
    checks: all.flatMap(({ checkers, graph }) => checkersOfTurns(checkers, graph.sockets)),
    isSetUp: (first?.worktree?.setup ?? []).length > 0,
    isApart: !isInPlace && all.some((rules) => rules.worktree !== null && hasWriters(rules)),
  };
}

const NOT_FOUND = 'is not found';

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
export function unstartableText(unstartable: readonly Unstartable[], project: Project, dir: string): string | null {
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
  if (findExecutable(program, path, folder) === null) return `${program} ${NOT_FOUND}`;
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
  if (word === null || findExecutable(word, [...bins, path ?? ''].join(':'), folder) !== null) return null;
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

/** The checkers that run during a cast. Where its worktree is set up first, what is missing may be there then. */
function checkerFindings({ workspace: { dir, env }, needs }: PreflightContext): readonly MachineFinding[] {
  const declared = needs.checkers;
  const used = new Set(needs.checks);
  const own = Object.fromEntries(Object.entries(declared).filter(([name]) => used.has(name)));
  if (Object.keys(own).length === 0 || needs.isSetUp) return [];
  return unstartableIn(dir, own, env.PATH).map(({ name, command, why }) => {
    const found = `the checker ${name} (${command.join(' ')}) cannot start: ${why}`;
    const fix = `install it, or correct checkers.${name}`;
    const isGone = why.endsWith(NOT_FOUND) && why.startsWith(command[0] ?? '');
    return isGone ? errorFinding('checkers', found, fix, 'CHECKS_FAILED') : warningFinding('checkers', found, fix);
  });
}

/** Commands between agents. An agent before may install what is missing, so this is a warning. */
/** What a sink of events needs is missing: its events would wait. A cast starts all the same. */
function sinkFindings({ workspace }: PreflightContext): readonly MachineFinding[] {
  const { dir, env } = workspace;
  return sinksOf(workspace).flatMap(({ name, command, secretVariable }) => {
    const [program = ''] = command ?? [];
    if (command && findExecutable(program, env.PATH, dir) === null)
      return [
        warningFinding(
          'events',
          `${program} of the sink ${name} was not found`,
          `install it, or correct events.sinks.${name}`,
        ),
      ];
    if (secretVariable === undefined || env[secretVariable]) return [];
    const found = `the variable ${secretVariable}, which signs for the sink ${name}, is not set`;
    return [warningFinding('events', found, `set it where casts start; until then the events wait`)];
  });
}

function commandFindings({ workspace: { dir, env }, needs }: PreflightContext): readonly MachineFinding[] {
  return needs.commands.flatMap(({ id, command }) => {
    const [program = '', script] = command;
    const isOwnScript = program === 'node' && script !== undefined && script.startsWith('/');
    const isThere = findExecutable(program, env.PATH, dir) !== null && (!isOwnScript || existsSync(script));
    if (isThere || needs.isSetUp) return [];
    const found = `${isOwnScript ? script : program} of ${id} was not found`;
    return [warningFinding('commands', found, `install it, or correct the command of ${id}`)];
  });
}
