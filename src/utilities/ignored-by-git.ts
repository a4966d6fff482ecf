// Which ignore patterns a repository does not need, because git ignores what they match already: by any ignore file, by
// info/exclude or by the user's own settings. Git answers for paths and not for patterns, so it is asked about examples.
import path from 'node:path';
import { git } from './git.ts';

/**
 * The patterns of the list that git ignores already. Empty where git is missing or `root` is not in a working tree.
 * `cwd` is the folder of the workspace, at `root` or below it.
 */
export async function ignoredByGit(
  root: string,
  cwd: string,
  patterns: readonly string[],
): Promise<ReadonlySet<string>> {
  const workspaces = [cwd, ...(await inMainTree(cwd))];
  const ignored = new Set<string>();
  for (const pattern of patterns) {
    // The state of a workspace lies in its own folder, and never in a linked worktree.
    const folders = /^\/?\.baton\//.test(pattern) ? [root, ...workspaces] : [root];
    for (const folder of folders) if (await isIgnored(folder, pattern)) ignored.add(pattern);
  }
  return ignored;
}

async function isIgnored(folder: string, pattern: string): Promise<boolean> {
  // An exception and an escaped character have no path that stands for them.
  if (/[!\\]/.test(pattern)) return false;
  // No path stands for a wildcard: the same pattern must be written somewhere else.
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
  // Without a slash at its start or in its middle it matches in every folder.
  const isAnchored = pattern.startsWith('/') || name.includes('/');
  return isAnchored ? [example] : [example, `example/${example}`];
}

/** The rule by which git decides about the path; null where there is none. */
async function ruleFor(folder: string, example: string): Promise<string | null> {
  const asked = await git(folder, 'check-ignore', '--verbose', '--no-index', '--', example);
  // SOURCE:LINE:PATTERN, a tab, and the path.
  return asked.ok ? (/^.*?:\d+:(.*)\t/.exec(asked.stdout)?.[1] ?? null) : null;
}

/** The same folder in the main working tree, where `cwd` is in a linked one. */
async function inMainTree(cwd: string): Promise<readonly string[]> {
  const asked = await git(cwd, 'rev-parse', '--path-format=absolute', '--git-dir', '--git-common-dir', '--show-prefix');
  const [own, common, prefix = ''] = asked.ok ? asked.stdout.split('\n') : [];
  if (own === undefined || common === undefined || own === common || path.basename(common) !== '.git') return [];
  return [path.join(path.dirname(common), prefix)];
}
