// How a person can call this program again from where it was called: `bin/baton` in a checkout, `npx baton` where it is
// installed in the project, `baton` where that is on the PATH. What is told to be typed must work when it is typed.
import { realpathSync } from 'node:fs';
import { delimiter, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

export type Caller = {
  readonly packageDir: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
};

/** How the program was called and which workspace was named, for each environment it is called in. */
const names = new WeakMap<NodeJS.ProcessEnv, string>();
const workspaces = new WeakMap<NodeJS.ProcessEnv, string>();

/** The workspace that was named with `-C` is named in everything that is told to be typed. */
export function calledWith(directory: string | undefined): void {
  if (directory !== undefined) workspaces.set(process.env, directory);
}

/** The program as this process was called, with the workspace that was named: what stands before a command. */
export function commandName(directory: string | undefined = workspaces.get(process.env)): string {
  const { env } = process;
  const packageDir = fileURLToPath(new URL('../..', import.meta.url));
  const name = names.get(env) ?? nameFor({ packageDir, cwd: here(), env });
  names.set(env, name);
  return directory === undefined ? name : `${name} -C ${quoted(directory)}`;
}

export function nameFor({ packageDir, cwd, env }: Caller): string {
  const program = join(resolve(packageDir), 'bin', 'baton');
  const [owner, inside] = resolve(packageDir).split(`${sep}node_modules${sep}`);
  const isInProject = inside !== undefined && owner !== undefined && isBelow(owner, cwd);
  // Where the project has no copy, npx looks the word up as the name of a package.
  if (env.npm_lifecycle_event === 'npx' && /\bbaton\b/.test(env.npm_lifecycle_script ?? ''))
    return isInProject ? 'npx baton' : 'npx baton-run';
  if (foldersOnPath(env).some((folder) => isSameFile(join(folder, 'baton'), program))) return 'baton';
  if (isInProject) return 'npx baton';
  if (!isBelow(cwd, program)) return quoted(program);
  const near = relative(cwd, program);
  return quoted(near.includes(sep) ? near : `.${sep}${near}`);
}

/** npm lends its scripts folders that the person's own shell does not look into. */
function foldersOnPath({ PATH = '', npm_lifecycle_event }: Caller['env']): readonly string[] {
  const folders = PATH.split(delimiter).filter(isAbsolute);
  return npm_lifecycle_event === undefined
    ? folders
    : folders.filter((folder) => !folder.endsWith(join('node_modules', '.bin')));
}

function isSameFile(file: string, program: string): boolean {
  try {
    return realpathSync(file) === realpathSync(program);
  } catch {
    return false;
  }
}

function isBelow(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** As a shell takes it for one word. */
function quoted(word: string): string {
  return /^[\w./:@%+=,~-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function here(): string {
  try {
    return process.cwd();
  } catch {
    return sep;
  }
}
