// Ignore-Artifacts: adds patterns to the ignore file of a repository, each once, and only if git does not already ignore their
// matches.
import { appendFile, readFile } from 'node:fs/promises';
import path from 'node:path';
import { isText, type Json, type JsonObject } from '../kernel/json.ts';
import { type ShippedInput, type UtilityOutcome, utilityFault, utilityResult } from './utility.ts';
import { askGit, repositoryOf } from './vcs.ts';

type IgnoreResult = {
  readonly ok: true;
  readonly root: string;
  readonly file: string;
  readonly patterns: readonly string[];
  readonly added: readonly string[];
  readonly unchanged: readonly string[];
};

export async function ignoreArtifacts(input: ShippedInput): Promise<UtilityOutcome> {
  const done = await ignoreByParams(input);
  return typeof done === 'string'
    ? utilityFault(done)
    : utilityResult({ satisfied: true, state: { artifactIgnore: done } });
}

/** The built-in form has the same fields at the top of its result. */
export async function ensureIgnored(input: ShippedInput): Promise<UtilityOutcome> {
  const done = await ignoreByParams(input);
  return typeof done === 'string' ? utilityFault(done) : utilityResult(done);
}

/** Adds missing patterns. `unchanged` names the others. */
export async function ignorePatterns(
  root: string,
  file: string,
  patterns: readonly string[],
  cwd = root,
): Promise<IgnoreResult> {
  const target = path.join(root, file);
  const before = await readFile(target, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  const lines = before.split('\n').map((line) => line.trim());
  const written = new Set(lines.filter((line) => line !== '' && !line.startsWith('#')));
  const unwritten = patterns.filter((pattern) => !written.has(pattern));
  const ignored = unwritten.length === 0 ? new Set<string>() : await ignoredByGit(root, cwd, unwritten);
  const added = unwritten.filter((pattern) => !ignored.has(pattern));
  if (added.length > 0) {
    const gap = before === '' || before.endsWith('\n') ? '' : '\n';
    await appendFile(target, `${gap}${added.join('\n')}\n`);
  }
  return { ok: true, root, file, patterns, added, unchanged: patterns.filter((pattern) => !added.includes(pattern)) };
}

async function ignoreByParams({ cwd, params }: ShippedInput): Promise<IgnoreResult | string> {
  const patterns = patternsIn(params.patterns);
  if (typeof patterns === 'string') return patterns;
  const root = isText(params.root) ? path.resolve(cwd, params.root) : (repositoryOf(cwd)?.root ?? path.resolve(cwd));
  const file = fileIn(params);
  const inside = path.relative(root, path.resolve(root, file));
  if (inside === '' || inside.startsWith('..') || path.isAbsolute(inside)) {
    return `params.file ${JSON.stringify(file)} does not name a file inside ${root}`;
  }
  return await ignorePatterns(root, inside, patterns, cwd);
}

function fileIn(params: JsonObject): string {
  return isText(params.file) ? params.file : '.gitignore';
}

/** The trimmed patterns, each once, or the reason why they are invalid. */
function patternsIn(value: Json | undefined): readonly string[] | string {
  if (!Array.isArray(value) || value.length === 0 || !value.every(isText)) {
    return 'params.patterns must be a list of at least one pattern, each a text that is not blank';
  }
  const patterns = [...new Set(value.map((pattern) => pattern.trim()))];
  const odd = patterns.find((pattern) => /[\r\n]/.test(pattern) || pattern.startsWith('#'));
  if (odd === undefined) return patterns;
  return `params.patterns holds ${JSON.stringify(odd)}, which would be read as a comment or as several lines; write \\# for a leading #`;
}

/**
 * The patterns whose matches git already ignores, by an ignore file, info/exclude or the user's settings. Git answers for paths, so it
 * is asked about examples. Empty without git or outside a working tree. `cwd` is the workspace, at `root` or below.
 */
async function ignoredByGit(root: string, cwd: string, patterns: readonly string[]): Promise<ReadonlySet<string>> {
  const workspaces = [cwd, ...(await inMainTree(cwd))];
  const ignored = new Set<string>();
  for (const pattern of patterns) {
    // The state folder is in the workspace, never in a linked worktree.
    const folders = /^\/?\.baton\//.test(pattern) ? [root, ...workspaces] : [root];
    for (const folder of folders) if (await isIgnored(folder, pattern)) ignored.add(pattern);
  }
  return ignored;
}

async function isIgnored(folder: string, pattern: string): Promise<boolean> {
  // An exception or an escaped character has no example path.
  if (/[!\\]/.test(pattern)) return false;
  // A wildcard has no example path, so the same pattern must be in another ignore file.
  if (/[*?[]/.test(pattern)) return (await ruleFor(folder, pattern.replace(/^\//, ''))) === pattern;
  for (const example of examplesOf(pattern)) {
    const rule = await ruleFor(folder, example);
    if (rule === null || rule.startsWith('!')) return false;
  }
  return true;
}

function examplesOf(pattern: string): readonly string[] {
  const name = pattern.replace(/^\//, '').replace(/\/$/, '');
  const example = pattern.endsWith('/') ? `${name}/example` : name;
  // Without a slash at its start or middle, a pattern matches in every folder.
  const isAnchored = pattern.startsWith('/') || name.includes('/');
  return isAnchored ? [example] : [example, `example/${example}`];
}

/** The rule that git applies to the path, or null. */
async function ruleFor(folder: string, example: string): Promise<string | null> {
  const asked = await askGit(folder, 'check-ignore', '--verbose', '--no-index', '--', example);
  // SOURCE:LINE:PATTERN, a tab, and the path.
  return asked.ok ? (/^.*?:\d+:(.*)\t/.exec(asked.stdout)?.[1] ?? null) : null;
}

/** The same folder in the main working tree, if `cwd` is in a linked one. */
async function inMainTree(cwd: string): Promise<readonly string[]> {
  const asked = await askGit(
    cwd,
    'rev-parse',
    '--path-format=absolute',
    '--git-dir',
    '--git-common-dir',
    '--show-prefix',
  );
  const [own, common, prefix = ''] = asked.ok ? asked.stdout.split('\n') : [];
  if (own === undefined || common === undefined || own === common || path.basename(common) !== '.git') return [];
  return [path.join(path.dirname(common), prefix)];
}
