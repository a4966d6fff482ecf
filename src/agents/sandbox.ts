// The optional sandbox of a materia. The program sees the file system, has its own temporary folder, and may change its work folder
// only if its tools may. The network is available if the tools may change something or the program needs its model. If the sandbox
// cannot start, the attempt fails. Programs that must write to their own folder get an empty one in memory, with readable copies
// of what a person put there, such as the sign-in.
import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AttemptDirs } from '../engine/ports.ts';
import { PRESENT, runnerCan } from '../kernel/capabilities.ts';
import type { Materia, Tools } from '../kernel/graph/config.ts';
import { findExecutable } from './environment.ts';

const OWN_SPACES = ['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'];

type Confined = Pick<Materia, 'sandbox'> & { readonly tools?: Tools; readonly runner?: string };

/** Tools that change something, in the names of all programs; a rule such as `Bash(git *)` counts as its tool. */
const WRITING = /^(?:edit|multiedit|write|notebookedit|bash|agent|task|workflow)(?:\(|$)/i;

/**
 * The command that runs `argv` as the materia says: in its sandbox, or as it is where it names none. `env` is the
 * environment of the program; a utility has no folder of its own to be found by it.
 */
export function confined(
  argv: readonly string[],
  materia: Confined,
  { cwd, configDir }: Pick<AttemptDirs, 'cwd' | 'configDir'>,
  env: Variables = {},
): readonly string[] {
  if (materia.sandbox !== 'bwrap') return argv;
  const project = dirname(configDir);
  const own = privateFolders(materia.runner ?? '', env);
  const around = own.filter(({ folder }) => [project, cwd].some((path) => path === folder || isBelow(folder, path)));
  const governing = [...new Set([cwd, project])].flatMap((folder) =>
    ['.baton', '.git'].map((name) => join(folder, name)),
  );
  return [
    ...['bwrap', '--die-with-parent', '--new-session', ...OWN_SPACES],
    ...(mayWrite(materia) || runnerCan(PRESENT, materia.runner, 'asksProvider') ? [] : ['--unshare-net']),
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp', '--setenv', 'TMPDIR', '/tmp'],
    // What comes later counts: programs and the project stay readable where they lie in the hidden folder, and the work
    // can be done.
    ...programFolders(argv, cwd).flatMap((folder) => ['--ro-bind-try', folder, folder]),
    // A folder of the program's own may lie around the project as well as in it.
    ...around.flatMap(({ mounts }) => mounts),
    ...hiddenTops([project, cwd]).flatMap((folder) => ['--ro-bind-try', folder, folder]),
    ...['--ro-bind-try', project, project, mayWrite(materia) ? '--bind' : '--ro-bind', cwd, cwd],
    ...own.flatMap((one) => (around.includes(one) ? [] : one.mounts)),
    // Agents may not change what governs them, or the file that leads git to its repository.
    ...governing.flatMap((folder) => (isBelow(cwd, folder) ? ['--ro-bind-try', folder, folder] : [])),
    ...['--chdir', cwd, '--', ...argv],
  ];
}

/** A utility names no tools: it is there to do something. Checks that a turn runs write caches. */
function mayWrite({ tools }: Confined): boolean {
  if (tools === undefined || tools === 'coding' || tools === 'readAndRun') return true;
  return typeof tools === 'object' && tools.tools.some((name) => WRITING.test(name));
}

/** Our own files: a program may be started by one of them, and load another. */
const OURS = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');

/** Where the program, our own Node and our files lie, if that is in the hidden folder: the links to them, and what they lead to. */
function programFolders([program = '', starter = '', started = '']: readonly string[], cwd: string): readonly string[] {
  const isStarted = program === process.execPath && starter.startsWith(`${OURS}/`);
  const own = findExecutable(isStarted ? started : program, process.env.PATH, cwd);
  const files = [process.execPath, ...(own === null ? [] : [own])];
  const folders = files.flatMap((file) => [dirname(file), installedIn(realpathSync(file))]);
  return [...new Set([OURS, ...folders])].filter((folder) => folder.startsWith('/tmp/'));
}

/** A package also needs its neighbours. */
function installedIn(file: string): string {
  const at = file.indexOf('/node_modules/');
  return at === -1 ? dirname(file) : file.slice(0, at + '/node_modules'.length);
}

/** The folders with git's own files above these paths, where they lie in the hidden folder. */
function hiddenTops(paths: readonly string[]): readonly string[] {
  return paths.flatMap((path) => {
    for (let at = dirname(path); at.startsWith('/tmp/'); at = dirname(at))
      if (existsSync(join(at, '.git'))) return [at];
    return [];
  });
}

function isBelow(folder: string, path: string): boolean {
  return path.startsWith(`${folder}/`);
}

type Variables = Readonly<Record<string, string | undefined>>;

type Own = {
  /** Names the folder. */
  readonly variable: string;
  /** Where it lies in the folder that is named; without it, that folder itself. */
  readonly below?: string;
  /** Where it lies below the home folder if nothing names it; null where there is none then. */
  readonly home: string | null;
  /** What the program reads there and has no need to write. */
  readonly reads: readonly string[];
};

const OWN: Readonly<Record<string, readonly Own[]>> = {
  codex: [
    {
      variable: 'CODEX_HOME',
      home: '.codex',
      reads: [
        ...['auth.json', '.credentials.json', 'config.toml', 'managed_config.toml', 'requirements.toml', 'hooks.json'],
        ...['AGENTS.md', 'AGENTS.override.md', 'prompts', 'rules', 'agents', 'skills'],
      ],
    },
  ],
  pi: [
    {
      variable: 'PI_CODING_AGENT_DIR',
      home: join('.pi', 'agent'),
      reads: [
        ...['auth.json', 'oauth.json', 'models.json', 'settings.json', 'keybindings.json'],
        ...['AGENTS.md', 'CLAUDE.md', 'SYSTEM.md', 'APPEND_SYSTEM.md'],
        ...['prompts', 'skills', 'themes', 'extensions', 'tools', 'bin', 'npm', 'git'],
      ],
    },
    { variable: 'PI_CODING_AGENT_SESSION_DIR', home: null, reads: [] },
  ],
  gemini: [
    {
      ...{ variable: 'GEMINI_CLI_HOME', below: '.gemini', home: '.gemini' },
      reads: [
        ...['oauth_creds.json', 'google_accounts.json', 'gemini-credentials.json', 'mcp-oauth-tokens.json'],
        ...['installation_id', 'settings.json', 'trustedFolders.json', '.env', 'GEMINI.md', 'agents', 'skills'],
      ],
    },
  ],
  opencode: [
    ownOfOpencode('XDG_DATA_HOME', '.local/share', ['auth.json', 'mcp-auth.json', 'bin']),
    ownOfOpencode('XDG_CONFIG_HOME', '.config', [
      ...['opencode.json', 'opencode.jsonc', 'config.json', 'AGENTS.md', 'agent', 'agents', 'command', 'commands'],
      ...['plugin', 'plugins', 'skill', 'skills', 'themes', 'tool', 'tools'],
    ]),
    ownOfOpencode('XDG_CACHE_HOME', '.cache', ['bin', 'models.json', 'version']),
    ownOfOpencode('XDG_STATE_HOME', '.local/state', []),
  ],
};

function ownOfOpencode(variable: string, home: string, reads: readonly string[]): Own {
  return { variable, below: 'opencode', home: join(home, 'opencode'), reads };
}

type PrivateFolder = {
  /** Where it really lies: a sandbox mounts nothing on a link. */
  readonly folder: string;
  /** The arguments of bubblewrap that put it there. */
  readonly mounts: readonly string[];
};

/** The folders of its own that the program of a runner needs, in the environment it is given. */
function privateFolders(runner: string, env: Variables): readonly PrivateFolder[] {
  const own = Object.hasOwn(OWN, runner) ? (OWN[runner] ?? []) : [];
  return own.flatMap(({ variable, below = '', home, reads }) => {
    const given = env[variable];
    const named = given ? join(given, below) : home !== null && env.HOME ? join(env.HOME, home) : '';
    if (named === '') return [];
    const folder = placeOf(named);
    const shown = reads.map((name) => join(folder, name)).filter((path) => existsSync(path));
    return [{ folder, mounts: ['--tmpfs', folder, ...shown.flatMap((path) => ['--ro-bind-try', path, path])] }];
  });
}

/** It has to be there to be mounted on. The program would make it the first time it runs; here it stays empty. */
function placeOf(folder: string): string {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return realpathSync(folder);
  } catch {
    return folder; // The sandbox says in its own words what is wrong with it.
  }
}
