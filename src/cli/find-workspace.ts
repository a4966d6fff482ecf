// Which workspace a command acts on.
import { locate, type Workspace } from '../workspace/locate.ts';
import { type Call, text, UsageError } from './command.ts';

/** The workspace of `-C`; without it that of the current folder, or of the nearest one above that has `.baton`. */
export function workspaceOf(call: Call): Workspace {
  return located(call, text(call.values, 'directory') === undefined ? undefined : call.cwd);
}

/** The workspace of the very folder: for a command that makes one. */
export function workspaceAt(call: Call): Workspace {
  return located(call, call.cwd);
}

function located(call: Call, dir: string | undefined): Workspace {
  const workspace = locate(dir, call.env, call.cwd);
  if (!workspace) throw new UsageError(`there is no folder ${call.cwd}; -C names an existing one`);
  return workspace;
}
