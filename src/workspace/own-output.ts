// Files of the project that receive Baton's own output, because a person redirected a command into them. They grow while agents run,
// so their growth is not held against an agent. Each driver notes its files in the state folder: it may be killed, and casts run
// side by side. An agent can write there too, so a note counts only with the seal of the user's key. Lost content and another file under the same name still count as changes.
import { hash } from 'node:crypto';
import { fstatSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, type Stats, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findSealKey, openSealKey, type SealKey } from '../approvals/seal.ts';
import type { FileChange, FolderSnapshot } from './changes.ts';
import type { FileMark } from './changes-mark.ts';

type Output = {
  readonly dev: number;
  readonly ino: number;
  /** The size when its driver started. */
  readonly size: number;
  readonly noted: number;
};

const HANDLES = [1, 2];
const LABEL = 'output';

/** Call when a driver starts. A person may have emptied the file for it. */
export function noteOutputs(stateDir: string): void {
  const outputs = outputsOfProcess();
  const key = outputs.length === 0 ? null : openSealKey(process.env);
  if (key === null || 'allow' in key) return;
  const folder = folderIn(stateDir);
  // While no turn is watched, nobody needs the older ones.
  if (namesIn(join(stateDir, 'turns')).length === 0) rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const output of outputs) {
    writeFileSync(
      join(folder, `${output.dev}-${output.ino}`),
      JSON.stringify({ output, mac: key.seal(LABEL, JSON.stringify(output)) }),
      {
        mode: 0o600,
      },
    );
  }
}

/** The changes without files of which only Baton's output changed. */
export function withoutOutputs(
  changes: readonly FileChange[],
  { stateDir, root }: { readonly stateDir: string; readonly root: string },
  before: FolderSnapshot,
  after: FolderSnapshot,
): readonly FileChange[] {
  const folder = folderIn(stateDir);
  const names = namesIn(folder);
  const key = names.length === 0 ? null : findSealKey(process.env);
  const noted = names.flatMap((name) => (key && read(join(folder, name), key)) ?? []);
  const own = outputsOfProcess().filter((output) => !noted.some((each) => isSame(each, output)));
  const outputs = [...noted, ...own.map((output) => ({ ...output, size: 0, noted: 0 }))];
  if (outputs.length === 0) return changes;
  return changes.filter(({ path }) => {
    const mark = markIn(after, path);
    const output = mark ? outputOf(join(root, path), outputs) : null;
    return !mark || !output || !isGrown(join(root, path), output, before.taken, markIn(before, path), mark);
  });
}

function outputOf(file: string, outputs: readonly Output[]): Output | null {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  return (stat?.isFile() && outputs.find((each) => isSame(each, stat) && stat.size >= each.size)) || null;
}

/** Whether the file still has all that it had before, unless its newest driver found it emptied. */
function isGrown(file: string, output: Output, taken: number, before: FileMark | undefined, after: FileMark): boolean {
  if (!before?.content) return true;
  if (isProgram(before) !== isProgram(after)) return false;
  if (output.noted > taken && output.size < before.size) return true;
  const [, digest] = /sha256:(.*)$/.exec(before.content) ?? [];
  return digest === undefined || digestOfFirst(file, before.size) === digest;
}

function isProgram({ content }: FileMark): boolean {
  return content?.startsWith('run-') ?? false;
}

function markIn({ files }: FolderSnapshot, path: string): FileMark | undefined {
  return Object.hasOwn(files, path) ? files[path] : undefined;
}

function digestOfFirst(file: string, bytes: number): string | null {
  try {
    return hash('sha256', readFileSync(file).subarray(0, bytes), 'hex');
  } catch {
    return null;
  }
}

function outputsOfProcess(): readonly Output[] {
  return HANDLES.flatMap((handle) => {
    const stat = statOf(handle);
    return stat?.isFile() ? [{ dev: stat.dev, ino: stat.ino, size: stat.size, noted: Date.now() }] : [];
  });
}

function statOf(handle: number): Stats | null {
  try {
    return fstatSync(handle);
  } catch {
    return null; // It is closed.
  }
}

function isSame(a: Pick<Output, 'dev' | 'ino'>, b: Pick<Output, 'dev' | 'ino'>): boolean {
  return a.dev === b.dev && a.ino === b.ino;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // Nothing was noted.
  }
}

function read(file: string, key: SealKey): Output | null {
  try {
    if (!lstatSync(file).isFile()) return null;
    const { output, mac } = JSON.parse(readFileSync(file, 'utf8')) as { output: Output; mac: string };
    return key.seal(LABEL, JSON.stringify(output)) === mac ? output : null;
  } catch {
    return null; // It is being written.
  }
}

function folderIn(stateDir: string): string {
  return join(stateDir, 'outputs');
}
