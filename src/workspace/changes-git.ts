// What differs from the last commit of a git repository. Git is asked without a shell, takes no locks, runs no hooks and no
// watcher. Files that git was told not to look at are looked at all the same.
import { execFile } from 'node:child_process';
import { type IgnoreRules, ignoreRules, newlyIgnored } from './changes-ignored.ts';
import { ChangesError, type FileReader, type Mark } from './changes-mark.ts';
import { nameOf, SLASH, walkInto } from './changes-walk.ts';

const OUTPUT_BYTES_MAX = 512 * 1024 * 1024;
const TIMEOUT_MS = 120_000;
const EXCLUDE = '.git/info/exclude';

type Since = {
  readonly git: { readonly head: string | null } | null;
  readonly files: Readonly<Record<string, Mark>>;
  readonly ignores?: IgnoreRules;
};
export type GitSnapshot = {
  readonly git: { readonly head: string | null };
  readonly files: Readonly<Record<string, Mark>>;
  readonly committed: readonly string[];
  /** By which rules files were ignored. */
  readonly ignores: IgnoreRules;
};

/** Null where there is no repository that could tell; where there was one before, that is an error. */
export async function gitSnapshot(
  root: string,
  reader: FileReader,
  skip: readonly string[],
  since: Since | null,
): Promise<GitSnapshot | null> {
  const prefix = await prefixOf(root);
  if (prefix === null) {
    if (since) throw new ChangesError(`${root} was in a git repository and is not any more; put .git back`);
    return null;
  }
  const head = await headOf(root);
  const isOurs = (path: string) => !skip.some((one) => path === one || path.startsWith(`${one}/`));
  const own = (paths: readonly Buffer[]) =>
    paths.flatMap((bytes) => {
      const path = nameOf(bytes);
      return path.startsWith(prefix) && isOurs(path.slice(prefix.length))
        ? [bytes.subarray(Buffer.byteLength(prefix))]
        : [];
    });
  const files: Record<string, Mark> = {};
  const base = Buffer.concat([Buffer.from(root), SLASH]);
  const add = async (bytes: Buffer) => {
    const path = nameOf(bytes);
    const mark = await reader.mark(path, Buffer.concat([base, bytes]));
    if (mark) files[path] = mark;
    else if (path.endsWith('/')) await walkInto(files, reader, path.slice(0, -1), skip);
    else files[path] = { ...NO_NUMBERS, content: null }; // A folder stands where the file was.
  };
  const { paths, modules } = parseStatus(await ask(root, STATUS));
  for (const bytes of own(paths)) await add(bytes);
  for (const { bytes, state } of modules) {
    for (const path of own([bytes])) files[nameOf(path)] = { ...NO_NUMBERS, content: `module:${state}` };
  }
  for (const bytes of own(await hiddenFiles(root))) await add(bytes);
  const exclude = nameOf(await ask(root, ['rev-parse', '--git-path', 'info/exclude'])).trimEnd();
  const mark = await reader.mark(EXCLUDE, Buffer.from(exclude.startsWith('/') ? exclude : `${root}/${exclude}`));
  if (mark) files[EXCLUDE] = mark;
  const rules = exclude.startsWith('/') ? exclude : `${root}/${exclude}`;
  // Below the top of a repository the rules above would be missing from the comparison.
  const unhidden = since?.ignores && prefix === '' ? await newlyIgnored(root, since.ignores, rules, tryGit) : [];
  for (const bytes of unhidden) if (isOurs(nameOf(bytes))) await add(bytes);
  // What differed from the commit before and does not any more is compared by its content too.
  for (const path of Object.keys(since?.files ?? {})) {
    if (!Object.hasOwn(files, path) && path !== EXCLUDE) await add(Buffer.from(path));
  }
  const committed = since ? own(await changedCommits(root, since.git?.head ?? null, head)) : [];
  // What was committed meanwhile does not differ from the last commit, and is told by its content all the same.
  for (const bytes of committed) if (!Object.hasOwn(files, nameOf(bytes))) await add(bytes);
  const ignores = since?.ignores ?? (await ignoreRules(root, tryGit));
  return { git: { head }, files, committed: committed.map(nameOf), ignores };
}

const NO_NUMBERS = { size: 0, mtimeMs: 0, ctimeMs: 0, ino: 0 } as const;
const STATUS = ['status', '--porcelain=v2', '-z', '--untracked-files=all', '--ignored=no', '--no-renames', '--', '.'];

/** The path of the folder inside its repository, with a slash behind it; null where no repository looks at it. */
async function prefixOf(root: string): Promise<string | null> {
  const inside = await tryGit(root, ['rev-parse', '--is-inside-work-tree', '--show-prefix']);
  const [isInside, prefix = ''] = nameOf(inside.out).split('\n');
  if (inside.code !== 0 || isInside !== 'true') return null;
  // A folder that its repository ignores would never show a change.
  return prefix !== '' && (await tryGit(root, ['check-ignore', '-q', '.'])).code === 0 ? null : prefix;
}

async function headOf(root: string): Promise<string | null> {
  const { code, out } = await tryGit(root, ['rev-parse', '-q', '--verify', 'HEAD']);
  return code === 0 ? nameOf(out).trim() : null;
}

/** The files in which two commits differ; without one of them, all files of the other. */
async function changedCommits(root: string, before: string | null, after: string | null): Promise<readonly Buffer[]> {
  if (before === after) return [];
  if (before !== null && after !== null) {
    return records(await ask(root, ['diff-tree', '-r', '-z', '--name-only', '--no-renames', before, after, '--', '.']));
  }
  return records(
    await ask(root, ['ls-tree', '-r', '-z', '--name-only', '--full-name', before ?? after ?? '', '--', '.']),
  );
}

/** Tracked files that git was told to take for unchanged. */
async function hiddenFiles(root: string): Promise<readonly Buffer[]> {
  const all = records(await ask(root, ['ls-files', '-v', '-z', '--full-name', '--', '.']));
  return all.filter((line) => isHidden(line[0] ?? 0)).map((line) => line.subarray(2));
}

/** A small letter stands before what is assumed unchanged, an S before what is left out of the work tree. */
function isHidden(letter: number): boolean {
  return letter === 83 || (letter >= 97 && letter <= 122);
}

type Status = { readonly paths: readonly Buffer[]; readonly modules: readonly { bytes: Buffer; state: string }[] };

export function parseStatus(output: Buffer): Status {
  const paths: Buffer[] = [];
  const modules: { bytes: Buffer; state: string }[] = [];
  const lines = records(output);
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? Buffer.alloc(0);
    const kind = String.fromCharCode(line[0] ?? 0);
    const fields = FIELDS[kind];
    if (fields === undefined) continue;
    const start = afterSpaces(line, fields);
    const bytes = line.subarray(start);
    const state = line.subarray(0, start).toString('latin1');
    if (kind === '2') paths.push(lines[++at] ?? Buffer.alloc(0));
    if (kind !== '?' && state.split(' ')[2]?.startsWith('S')) modules.push({ bytes, state });
    else paths.push(bytes);
  }
  return { paths, modules };
}

/** How many fields stand before the path. */
const FIELDS: Readonly<Record<string, number>> = { '1': 8, '2': 9, u: 10, '?': 1 };

function afterSpaces(line: Buffer, count: number): number {
  let at = 0;
  for (let seen = 0; seen < count; seen++) {
    const space = line.indexOf(32, at);
    if (space < 0) return line.length;
    at = space + 1;
  }
  return at;
}

function records(output: Buffer): Buffer[] {
  const found: Buffer[] = [];
  let from = 0;
  for (let end = output.indexOf(0); end !== -1; end = output.indexOf(0, from)) {
    found.push(output.subarray(from, end));
    from = end + 1;
  }
  return found;
}

async function ask(root: string, args: readonly string[]): Promise<Buffer> {
  const { code, out, error } = await tryGit(root, args);
  if (code === 0) return out;
  throw new ChangesError(`git ${args[0]} failed in ${root}: ${error || `exit code ${code}`}`);
}

type Answer = { readonly code: number | null; readonly out: Buffer; readonly error: string };

function tryGit(root: string, args: readonly string[], input?: Buffer): Promise<Answer> {
  const settings = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null', '-c', 'core.quotePath=false'];
  return new Promise((resolve) => {
    const child = execFile(
      'git',
      [...settings, ...args],
      { cwd: root, env: environment(), encoding: 'buffer', maxBuffer: OUTPUT_BYTES_MAX, timeout: TIMEOUT_MS },
      (fault, stdout, stderr) => {
        const code = fault === null ? 0 : typeof fault.code === 'number' ? fault.code : null;
        resolve({ code, out: stdout, error: stderr.toString('utf8').trim().split('\n')[0] || (fault?.message ?? '') });
      },
    );
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input ?? '');
  });
}

/** Another repository, index or setting must not be slipped in by whoever started us. */
function environment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'));
  return { ...Object.fromEntries(own), GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C' };
}
