// What the files that a cast changed in the directory itself were before it: nothing, the content of a commit, or something
// that nobody kept. Only the first time a file is touched counts.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '../kernel/json.ts';
import type { Snapshot } from './changes.ts';

export type Before = (
  | { readonly kind: 'absent' }
  /** It was as it is in this commit. */
  | { readonly kind: 'commit'; readonly commit: string }
  | { readonly kind: 'unknown' }
) & {
  /** It changed beside a turn, and whose change it was cannot be told. */
  readonly beside?: true;
};

export type BeforeState = Readonly<Record<string, Before>>;

/** Where a file differed from the last commit, or there was none, its content is known to nobody. */
export function beforeOf({ git, files, orders, commands }: Snapshot, path: string): Before {
  if (Object.hasOwn(files, path)) return files[path]?.content == null ? { kind: 'absent' } : { kind: 'unknown' };
  if (orders && Object.hasOwn(orders, path)) return { kind: 'unknown' };
  // What git keeps for itself is in no commit.
  if (commands && path.startsWith('.git'))
    return Object.hasOwn(commands, path) ? { kind: 'unknown' } : { kind: 'absent' };
  // In a commit it may be absent too; whoever looks there finds out.
  return git?.head ? { kind: 'commit', commit: git.head } : { kind: 'absent' };
}

export function readBefore(stateDir: string, cast: string): BeforeState {
  try {
    const read = JSON.parse(readFileSync(fileOf(stateDir, cast), 'utf8')) as unknown;
    return isObject(read) ? (read as BeforeState) : {};
  } catch {
    return {};
  }
}

/**
 * `isOwn` where the changes are the turn's own. What anybody may have changed beside a turn is no state to go back to: the
 * first one who changes the file in a turn of its own finds it as that left it.
 */
export function noteBefore(
  stateDir: string,
  cast: string,
  since: Snapshot,
  changed: readonly string[],
  isOwn: boolean,
): void {
  const known = readBefore(stateDir, cast);
  const news = changed.filter((path) => !Object.hasOwn(known, path) || (isOwn && known[path]?.beside === true));
  if (news.length === 0) return;
  const noted = (path: string): Before => ({ ...beforeOf(since, path), ...(isOwn ? {} : { beside: true }) });
  const all = { ...known, ...Object.fromEntries(news.map((path) => [path, noted(path)])) };
  const file = fileOf(stateDir, cast);
  mkdirSync(join(stateDir, 'before'), { recursive: true, mode: 0o700 });
  writeFileSync(`${file}.new`, JSON.stringify(all), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

function fileOf(stateDir: string, cast: string): string {
  return join(stateDir, 'before', `${cast}.json`);
}
