// Which agents are on this machine, in which version, and whether a user is signed in. It uses no network: signed in means that
// a key is set, or that the program has its credentials in the usual place.
import { type ExecFileException, execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { CAPABILITIES } from '../kernel/capabilities.ts';
import { isExecutable, only, USUAL } from './environment.ts';

export type ProgramName = 'claude' | 'codex' | 'pi' | 'gemini' | 'opencode';

export type DetectedAgent = {
  readonly name: ProgramName;
  /** The file that would run, or null. */
  readonly path: string | null;
  readonly version: string | null;
  /** Why it cannot report its version, in its own words. Null for a program that starts. */
  readonly fault: string | null;
  /** The variable or file that proves a sign-in. Null without one. */
  readonly signedInBy: string | null;
  /** What to do when something is missing. */
  readonly hint: string | null;
};

type Variables = Readonly<Record<string, string | undefined>>;

type Known = {
  readonly places: readonly string[];
  readonly install: string;
  readonly signIn: string;
};

const KNOWN: Readonly<Record<ProgramName, Known>> = {
  claude: {
    places: ['.local/bin', '.claude/local', '.npm-global/bin'],
    install: 'npm install -g @anthropic-ai/claude-code',
    signIn: 'run claude once and sign in, or set ANTHROPIC_API_KEY',
  },
  codex: {
    places: ['.local/bin', '.npm-global/bin'],
    install: 'npm install -g @openai/codex',
    signIn: 'run codex login, or set OPENAI_API_KEY',
  },
  pi: {
    places: ['.local/bin', '.npm-global/bin'],
    install: 'npm install -g @earendil-works/pi-coding-agent',
    signIn: 'run pi and /login, or set the key of a provider',
  },
  gemini: {
    places: ['.local/bin', '.npm-global/bin'],
    install: 'npm install -g @google/gemini-cli',
    signIn: 'run gemini once and sign in, or set GEMINI_API_KEY',
  },
  opencode: {
    places: ['.opencode/bin', '.local/bin', '.npm-global/bin'],
    install: 'npm install -g opencode-ai',
    signIn: 'run opencode auth login, or set the key of a provider',
  },
};

/** Where programs are often installed without being on the PATH. */
const SYSTEM_PLACES = ['/usr/local/bin', '/opt/homebrew/bin'];
const VERSION_MS = 10_000;

export const PROGRAMS = Object.keys(KNOWN) as readonly ProgramName[];

export async function detectAgents(env: Variables = process.env): Promise<readonly DetectedAgent[]> {
  return Promise.all(PROGRAMS.map((name) => detect(name, env)));
}

/** With `starts` false the program is not started, so that its version is not known. */
export async function detect(name: ProgramName, env: Variables = process.env, starts = true): Promise<DetectedAgent> {
  const known = KNOWN[name];
  const path = findProgram(name, env);
  const signedInBy = credentialOf(name, env);
  const { version, fault } = path === null || !starts ? { version: null, fault: null } : await versionOf(path, env);
  return { name, path, version, fault, signedInBy, hint: hintFor(known, path, fault, signedInBy) };
}

function hintFor(known: Known, path: string | null, fault: string | null, signedInBy: string | null): string | null {
  if (path === null) return `install it: ${known.install}`;
  if (fault !== null) return `see what \`${path} --version\` says, or install it again: ${known.install}`;
  return signedInBy === null ? known.signIn : null;
}

/** The first file of that name that may be run: on PATH, then in the known places. */
export function findProgram(name: ProgramName, env: Variables): string | null {
  const home = env.HOME ?? '';
  const own = home === '' ? [] : KNOWN[name].places.map((place) => join(home, place));
  const folders = [...(env.PATH ?? '').split(delimiter), ...own, ...SYSTEM_PLACES];
  return (
    folders
      .filter((folder) => folder !== '')
      .map((folder) => join(folder, name))
      .find(isExecutable) ?? null
  );
}

/** The first version number in what `--version` prints. */
export function versionIn(text: string): string | null {
  return /\d{1,6}\.\d{1,6}\.\d{1,6}(?:-[\w.]{1,40})?/.exec(text.slice(0, 1_000))?.[0] ?? null;
}

function credentialOf(name: ProgramName, env: Variables): string | null {
  const { keyVariables: variables, signIn: credentials } = CAPABILITIES.runners[name];
  const variable = variables.find((name) => (env[name] ?? '').trim() !== '');
  if (variable !== undefined) return variable;
  for (const { variable: place, home, file } of credentials) {
    const folder = (place && env[place]) || (env.HOME ? join(env.HOME, home) : '');
    // Its existence is enough. Its content belongs to the program.
    if (folder !== '' && isFilled(join(folder, file))) return join(folder, file);
  }
  return null;
}

function isFilled(path: string): boolean {
  try {
    return statSync(path).size > 2; // An empty object is no credential.
  } catch {
    return false;
  }
}

type Said = { readonly version: string | null; readonly fault: string | null };

function versionOf(path: string, inherited: Variables): Promise<Said> {
  const env = only(USUAL, inherited);
  const options = { env, timeout: VERSION_MS, encoding: 'utf8' } as const;
  return new Promise((resolve) => {
    const child = execFile(path, ['--version'], options, (error, stdout, stderr) => {
      const fault = error ? `--version ${howItEnded(error)}${lastLine(stderr)}` : null;
      resolve({ version: error ? null : versionIn(stdout), fault });
    });
    child.stdin?.end();
  });
}

function howItEnded({ code, killed, message }: ExecFileException): string {
  if (killed) return `did not end within ${VERSION_MS / 1000} s`;
  return typeof code === 'number' ? `ended with exit code ${code}` : `could not be run: ${message}`;
}

/** Programs say last why they ended; a runtime ends with its own version, which is no reason. */
function lastLine(stderr: string): string {
  const lines = stderr
    .slice(-4_000)
    .split('\n')
    .map((line) => line.trim());
  const line = lines.findLast((line) => /error/i.test(line)) ?? lines.findLast((line) => line !== '');
  return line === undefined ? '' : `: ${line.slice(0, 300)}`;
}
