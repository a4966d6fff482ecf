// The seal of a workspace: one digest over what people configure in `.baton` (configuration, prompts, versions). It is
// taken before a turn and again after it; no agent may change what governs it.
import { hash } from 'node:crypto';
import { type Dirent, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** What changes on its own and is not part of the seal. */
const OWN: readonly string[] = ['state', '.gitignore'];
const FILES_MAX = 5_000;

/** Equal seals mean that nothing was added, removed or changed. */
export function sealOf(workspaceDir: string): string {
  const lines: string[] = [];
  collect(join(workspaceDir, '.baton'), '', lines);
  return hash('sha256', lines.sort().join('\n'), 'hex');
}

function collect(folder: string, prefix: string, lines: string[]): void {
  for (const entry of entriesOf(folder)) {
    if ((prefix === '' && OWN.includes(entry.name)) || lines.length >= FILES_MAX) continue;
    const file = join(folder, entry.name);
    const name = `${prefix}${entry.name}`;
    if (entry.isDirectory()) collect(file, `${name}/`, lines);
    else lines.push(`${name} ${contentOf(file, entry)}`);
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
