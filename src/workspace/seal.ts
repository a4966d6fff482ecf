// The seal of a workspace: one digest over what people configure in `.baton` (configuration, prompts, versions). It is
// taken before a turn and again after it; no agent may change what governs it.
import { hash } from 'node:crypto';
import { type Dirent, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** What changes on its own and is not part of the seal. */
const OWN: readonly string[] = ['state', '.gitignore'];
const FILES_MAX = 5_000;

/** Equal seals mean that nothing was added, removed or changed. */
export function sealOf(workspaceDir: string): string {
  const lines = filesIn(workspaceDir).map(([name, content]) => `${name} ${content}`);
  return hash('sha256', lines.sort().join('\n'), 'hex');
}

/** The files by which work is governed, below the workspace, each with what it holds. What else lies there is not among them. */
export function governingFiles(workspaceDir: string): Readonly<Record<string, string>> {
  const files = filesIn(workspaceDir).filter(([name]) => /^(?:config\.json$|prompts\/|versions\/)/.test(name));
  return Object.fromEntries(files.map(([name, content]) => [`.baton/${name}`, content]));
}

type Sealed = readonly [name: string, content: string];

function filesIn(workspaceDir: string): readonly Sealed[] {
  const files: Sealed[] = [];
  const own = join(workspaceDir, '.baton');
  // A link may lead to other files a moment later.
  if (lstatSync(own, { throwIfNoEntry: false })?.isSymbolicLink()) files.push(['.', `link ${readlinkSync(own)}`]);
  collect(own, '', files);
  return files;
}

function collect(folder: string, prefix: string, files: Sealed[]): void {
  for (const entry of entriesOf(folder)) {
    if ((prefix === '' && OWN.includes(entry.name)) || files.length >= FILES_MAX) continue;
    const file = join(folder, entry.name);
    const name = `${prefix}${entry.name}`;
    if (entry.isDirectory()) collect(file, `${name}/`, files);
    else files.push([name, contentOf(file, entry)]);
  }
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // A workspace without `.baton`, or a folder that went away, has nothing to seal.
  }
}

/** A link is sealed by where it points: what lies there is not ours. */
function contentOf(file: string, entry: Dirent): string {
  try {
    if (entry.isSymbolicLink()) return `link ${readlinkSync(file)}`;
    return entry.isFile() ? hash('sha256', readFileSync(file), 'hex') : 'special';
  } catch {
    return 'unreadable';
  }
}
