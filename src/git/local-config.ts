// What a repository brings along that makes git run commands: `.git/config`, what it includes, and `info/attributes`. A
// person's own configuration (global, system) is not part of it.
import { hash } from 'node:crypto';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { type GitFolders, textOf } from './git-folders.ts';

const INCLUDED_MAX = 20;

export type LocalConfig = {
  /** Everything that configures commands, in one digest. */
  readonly digest: string;
  /** Whether it may define filters, merge drivers or diff drivers; git itself says which. */
  readonly mayHaveDrivers: boolean;
};

/** What a branch follows is written as `merge = …` too, and is left out before. */
const DRIVER = /filter|merge|diff/i;

export function localConfigOf({ own, common }: GitFolders): LocalConfig {
  const texts = new Map<string, string>();
  const files = [join(common, 'config'), join(own, 'config.worktree')];
  for (let file = files.shift(); file !== undefined && texts.size < INCLUDED_MAX; file = files.shift()) {
    const text = textOf(file);
    if (text === null || texts.has(file)) continue;
    texts.set(file, text);
    files.push(...includedIn(text, dirname(file)));
  }
  const attributes = textOf(join(common, 'info/attributes')) ?? '';
  const parts = [...texts].flatMap(([file, text]) => [file, withoutBranches(text)]);
  const mayHaveDrivers = files.length > 0 || [...texts.values()].some((text) => DRIVER.test(withoutBranches(text)));
  return { digest: hash('sha256', JSON.stringify([...parts, attributes]), 'hex'), mayHaveDrivers };
}

/** Every `path` counts as one that is included: too many files in the digest do no harm. */
function includedIn(text: string, folder: string): readonly string[] {
  return [...text.matchAll(/^[^#;\n]*\bpath\s*=\s*"?([^"\n#;]+?)"?\s*$/gim)].map(([, path = '']) =>
    path.startsWith('~/') ? join(homedir(), path.slice(2)) : resolve(folder, path),
  );
}

const BRANCH = /^\[branch "[^"\\]*"\]$/;
const BRANCH_SETTING = /^\s*(?!mergeoptions)[a-z][a-z0-9-]*\s*=\s*[^"\\#;[\]]*$/i;

const REMOTE_SETTING = /^\s*(?:push)?remote\s*=\s*(.*?)\s*$/i;

/**
 * The text without what git notes about branches when somebody pushes or checks out: nothing is run by it. Only lines that can
 * mean nothing else are left out. A remote that is not configured is a path or an address, and a push to a folder runs its hooks.
 */
export function withoutBranches(text: string): string {
  const remotes = new Set(['.', ...Array.from(text.matchAll(/^\[remote "([^"\\]+)"\]$/gm), ([, name]) => name)]);
  const isKnown = (line: string) => {
    const [, remote] = REMOTE_SETTING.exec(line) ?? [];
    return remote === undefined || remotes.has(remote);
  };
  let isBranch = false;
  return text
    .split('\n')
    .filter((line) => {
      isBranch = BRANCH.test(line) || (isBranch && BRANCH_SETTING.test(line) && isKnown(line));
      return !isBranch;
    })
    .join('\n');
}
