// The diff of an item for those who judge it: of the files that its turns changed, from the commit before the first change to
// what lies in the folder now. It uses an index of its own, so that nothing else that works with git is in its way.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { firstBytes } from '../kernel/cast/cut.ts';
import { DIFF_BYTES_MAX, type ItemDiff } from '../kernel/cast/work.ts';
import { type BeforeState, readBefore } from './before-state.ts';
import { withoutSecrets } from './checkers.ts';
import { tryGit } from './worktree/git.ts';

export type ItemOfTurn = {
  readonly cast: string;
  readonly cwd: string;
  readonly stateDir: string;
  /** Whether people work in the same folder. */
  readonly inPlace: boolean;
  readonly base: string;
  readonly paths: readonly string[];
};

/** Null where git cannot show it. */
export async function diffOfItem({ cast, cwd, stateDir, inPlace, base, paths }: ItemOfTurn): Promise<ItemDiff | null> {
  const before = inPlace ? readBefore(stateDir, cast) : {};
  const shown = paths.filter((path) => !isUnknown(before, path));
  const patch = shown.length === 0 ? '' : await patchOf(cwd, stateDir, base, shown);
  if (patch === null) return null;
  const unknown = paths.length - shown.length;
  const notes = [
    ...(inPlace && patch !== '' ? ['# Nothing is committed between items here: earlier items may show in it.'] : []),
    ...(unknown > 0 ? [`# Not shown: ${unknown} of the files, which had uncommitted changes before.`] : []),
  ];
  return { base, text: [bounded(withoutSecrets(patch), base), ...notes].filter((part) => part !== '').join('\n') };
}

function isUnknown(before: BeforeState, path: string): boolean {
  return Object.hasOwn(before, path) && before[path]?.kind === 'unknown';
}

const UPDATE = ['update-index', '-z', '--add', '--remove', '--replace', '--stdin'];
const DIFF = ['diff', '--cached', '--relative', '--no-renames', '--no-ext-diff', '--no-textconv', '--no-color'];

async function patchOf(cwd: string, stateDir: string, base: string, paths: readonly string[]): Promise<string | null> {
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const folder = mkdtempSync(join(stateDir, 'index-'));
  const env = { GIT_INDEX_FILE: join(folder, 'index') };
  try {
    // The index starts empty: only the paths that are shown have to be in it.
    const all = await tryGit(cwd, UPDATE, { env, input: paths.join('\0') });
    // What git cannot take keeps nothing else from being shown.
    for (const path of all.code === 0 ? [] : paths) await tryGit(cwd, UPDATE, { env, input: path });
    const { code, out } = await tryGit(cwd, ['--literal-pathspecs', ...DIFF, base, '--', ...paths], { env });
    return code === 0 ? out : null;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Short patches come first, so that one generated file does not hide the others. */
function bounded(patch: string, base: string): string {
  const bytes = Buffer.byteLength(patch);
  if (bytes <= DIFF_BYTES_MAX) return patch;
  const files = patch.split(/^(?=diff --git )/m).sort((a, b) => a.length - b.length);
  const rest = `# The diff is cut: it has ${bytes} bytes. All of it: git diff ${base}`;
  return `${firstBytes(files.join(''), DIFF_BYTES_MAX)}\n${rest}`;
}
