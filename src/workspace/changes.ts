// What was really changed in a folder between two moments, whatever anybody reports. In a git repository only what differs
// from the last commit is looked at, and what was committed in between; elsewhere every file is. Ignored files, links'
// targets and our own state are nobody's changes.
import { type CommandFiles, commandFilesOf, nestedCommandFiles } from '../git/command-files.ts';
import { type GitHead, gitSnapshot } from './changes-git.ts';
import type { IgnoreRules } from './changes-ignored.ts';
import { FileReader, type Mark } from './changes-mark.ts';
import { type Orders, untrackedAgentConfig } from './changes-orders.ts';
import { walkInto } from './changes-walk.ts';

export type Change = {
  readonly path: string;
  /** What it is now: `sha256:…`, or `link:…` with its target; null where it is gone. */
  readonly digest: string | null;
};

export type Snapshot = {
  /** In milliseconds, from before the first file was looked at. */
  readonly taken: number;
  /** The last commit, where a git repository tells what differs from it; null where every file was looked at. */
  readonly git: GitHead | null;
  /** Of git, the files that differ from the last commit; else all of them. */
  readonly files: Readonly<Record<string, Mark>>;
  /** Of git, the files in which the last commit differs from that of the snapshot before. */
  readonly committed: readonly string[];
  /** Of git, the rules by which files were ignored when it was first looked at. */
  readonly ignores?: IgnoreRules;
  /** Of git, the folders that are repositories of their own and are not known to it, with a slash behind them. */
  readonly repositories?: readonly string[];
  /** Of git, the folders for other repositories that are not checked out in them; every file in there is looked at. */
  readonly vacant?: readonly string[];
  /** Of git, the files by which agent programs take orders and that it does not track, ignored or not; missing in older ones. */
  readonly orders?: Orders;
  /** Of git, its own files by which it runs commands; missing in older ones. */
  readonly commands?: CommandFiles;
};

export type SnapshotOptions = {
  /** An earlier snapshot of the folder with which this one is to be compared. */
  readonly since?: Snapshot;
  /** Any earlier snapshot: what it knows of a file that was not touched since is not read again. */
  readonly known?: Snapshot;
  /** Paths below the root that are left out. */
  readonly skip?: readonly string[];
};

const SKIPPED = ['.baton/state'];

/** Everything that is needed to tell later what was changed since. Throws a `ChangesError` that says why it cannot. */
export async function snapshotOf(root: string, options: SnapshotOptions = {}): Promise<Snapshot> {
  const { since } = options;
  const skip = [...SKIPPED, ...(options.skip ?? [])];
  const taken = Date.now();
  const known = since ?? options.known ?? null;
  const reader = new FileReader(root, known);
  if (since === undefined || since.git !== null) {
    const found = await gitSnapshot(root, reader, skip, since ?? null);
    if (found) {
      const { nested, ...seen } = found;
      const commands = { ...commandFilesOf(root), ...nestedCommandFiles(root, nested) };
      return { taken, ...seen, orders: await untrackedAgentConfig(root, known), commands };
    }
  }
  const files: Record<string, Mark> = {};
  await walkInto(files, reader, '', skip);
  return { taken, git: null, files, committed: [] };
}

/** The files whose content, kind or mode is another one than it was, by path. */
export function changesBetween(before: Snapshot, after: Snapshot): readonly Change[] {
  const committed = new Set(after.committed);
  const paths = new Set([...Object.keys(before.files), ...Object.keys(after.files), ...committed]);
  const changed = [...paths].filter((path) => {
    const [earlier, later] = [markIn(before, path), markIn(after, path)];
    if (earlier) return earlier.content !== (later?.content ?? null);
    return later ? later.content !== null || before.git !== null : committed.has(path);
  });
  return [...new Set([...changed, ...ordersChanged(before, after), ...commandsChanged(before, after)])]
    .sort()
    .map((path) => {
      const content = (markIn(after, path) ?? after.orders?.[path])?.content ?? after.commands?.[path] ?? null;
      return { path, digest: digestOf(content) };
    });
}

function commandsChanged({ commands: earlier }: Snapshot, { commands: later }: Snapshot): readonly string[] {
  if (!earlier || !later) return [];
  const paths = [...new Set([...Object.keys(earlier), ...Object.keys(later)])];
  return paths.filter((path) => earlier[path] !== later[path]);
}

function ordersChanged(before: Snapshot, after: Snapshot): readonly string[] {
  const [earlier, later] = [before.orders, after.orders];
  if (!earlier || !later) return [];
  const paths = [...new Set([...Object.keys(earlier), ...Object.keys(later)])];
  return paths.filter((path) => earlier[path]?.content !== later[path]?.content);
}

function markIn({ files }: Snapshot, path: string): Mark | undefined {
  return Object.hasOwn(files, path) ? files[path] : undefined;
}

/** Without the letter that tells whether it can be run. */
function digestOf(content: string | null): string | null {
  return content?.replace(/^run-/, '') ?? null;
}
