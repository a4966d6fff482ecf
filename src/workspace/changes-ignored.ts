// The ignore rules of git are files, and an agent may change them. A file that was not ignored at the start of the work still
// counts at its end. So the rules of the start are kept, and git looks for unknown files only by them. Ignored folders, such as
// packages, are not entered.
import { lstatSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, posix } from 'node:path';
import { byteRecords, type ReadGitOptions, readGit } from './git.ts';

/** The text of each rule file: a `.gitignore` by its path from the top of the repository, and the two below. */
export type IgnoreRules = Readonly<Record<string, string>>;

export const EXCLUDE = '.git/info/exclude';
const EXCLUDES_FILE = 'core.excludesFile';
const FILE = '.gitignore';

/**
 * The rules in force in the folder, which is at `prefix` of its repository. `paths` are all files from the top that may have
 * rules. A `.gitignore` that ignores itself counts; one in an ignored folder does not.
 */
export function ignoreRules(
  root: string,
  prefix: string,
  { exclude, excludes }: { readonly exclude: string; readonly excludes: string },
  paths: readonly string[],
): IgnoreRules {
  const rules: Record<string, string> = {};
  const add = (name: string, file: string) => {
    const text = textOf(file);
    if (text !== null) rules[name] = text;
  };
  const above = prefix.split('/').slice(0, -1);
  const top = join(root, ...above.map(() => '..'));
  add(EXCLUDES_FILE, excludes);
  add(EXCLUDE, exclude);
  for (const [depth] of above.entries()) {
    const path = posix.join(...above.slice(0, depth), FILE);
    add(path, join(top, path));
  }
  for (const path of paths) if (path === FILE || path.endsWith(`/${FILE}`)) add(path, join(top, path));
  return rules;
}

/** Longer rules are passed as a file, because the arguments of a program are limited. */
const ARGUMENT_BYTES_MAX = 64 * 1024;

/** The files below the folder that git does not know and the rules do not ignore, by their paths from the top. */
export async function unknownFiles(
  root: string,
  rules: IgnoreRules,
  options: ReadGitOptions,
): Promise<readonly Buffer[]> {
  const lines = rulesAtTop(rules);
  const list = async (...excludes: string[]) =>
    byteRecords(await readGit(root, ['ls-files', '-z', '-o', '--full-name', ...excludes, '--', '.'], options));
  // Without a file, a killed process leaves none behind.
  const isShort = Buffer.byteLength(lines.join('\n')) <= ARGUMENT_BYTES_MAX;
  if (isShort) return list(...lines.map((line) => `--exclude=${line}`));
  const folder = mkdtempSync(join(tmpdir(), 'baton-ignore-'));
  try {
    const file = join(folder, 'rules');
    writeFileSync(file, lines.map((line) => `${line}\n`).join(''));
    // If temporary files are in the folder itself, ours would be found.
    const ours = Buffer.from(posix.join(basename(folder), 'rules'));
    const found = await list(`--exclude-from=${file}`);
    return found.filter((path) => !path.subarray(-ours.length).equals(ours));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** All rules as one file at the top. The last matching rule counts, so deeper ones come later. */
export function rulesAtTop(rules: IgnoreRules): readonly string[] {
  const depth = (path: string) => path.split('/').length;
  const files = Object.keys(rules)
    .filter((path) => path !== EXCLUDE && path !== EXCLUDES_FILE)
    .sort((a, b) => depth(a) - depth(b));
  return [EXCLUDES_FILE, EXCLUDE, ...files].flatMap((path) =>
    linesOf(rules[path] ?? '', path.endsWith(`/${FILE}`) ? dirname(path) : ''),
  );
}

function linesOf(text: string, folder: string): readonly string[] {
  // A folder name with a line feed cannot be in such a file.
  if (folder.includes('\n')) return [];
  return text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .map((line) => trimmed(line.endsWith('\r') ? line.slice(0, -1) : line))
    .filter((line) => line !== '' && !line.startsWith('#'))
    .flatMap((line) => (folder === '' ? [line] : below(folder, line)));
}

/** A rule with a slash inside is about one path below its folder; any other is about all paths there. */
function below(folder: string, line: string): readonly string[] {
  const [not, rule] = line.startsWith('!') ? ['!', line.slice(1)] : ['', line];
  if (rule === '' || rule === '/') return [];
  const isPlaced = rule.slice(0, -1).includes('/');
  const place = `/${folder.replace(/[\\*?[\]]/g, '\\$&')}/`;
  return [`${not}${place}${isPlaced ? rule.replace(/^\//, '') : `**/${rule}`}`];
}

/** Trailing blanks do not count, except after a backslash. */
function trimmed(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === ' ' && line[end - 2] !== '\\') end--;
  return line.slice(0, end);
}

/** Null without a file. Git does not follow a link there either. */
function textOf(file: string): string | null {
  try {
    return lstatSync(file).isFile() ? readFileSync(file, 'utf8') : null;
  } catch {
    return null;
  }
}
