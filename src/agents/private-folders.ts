// Programs that do not start where they cannot write to a folder of their own get one in the sandbox: empty, in memory, gone
// when the program ends. In it lie, readable, what a person has put there, the sign-in among it. Conversations, logs and
// databases, which a program writes by itself, begin anew.
import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';

type Variables = Readonly<Record<string, string | undefined>>;

type Own = {
  /** Names the folder. */
  readonly variable: string;
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
};

export type PrivateFolder = {
  /** Where it really lies: a sandbox mounts nothing on a link. */
  readonly folder: string;
  /** The arguments of bubblewrap that put it there. */
  readonly mounts: readonly string[];
};

/** The folders of its own that the program of a runner needs, in the environment it is given. */
export function privateFolders(runner: string, env: Variables): readonly PrivateFolder[] {
  const own = Object.hasOwn(OWN, runner) ? (OWN[runner] ?? []) : [];
  return own.flatMap(({ variable, home, reads }) => {
    const named = env[variable] || (home !== null && env.HOME ? join(env.HOME, home) : '');
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
