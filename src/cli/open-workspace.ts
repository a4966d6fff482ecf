// The workspace that a command acts on, open for as long as the command takes.
import type { Workspace } from '../app/workspace.ts';
import { type LocatedWorkspace as Located, locate } from '../workspace/locate.ts';
import { again, type Call, text, UsageError } from './command.ts';

export async function withWorkspace<T>(
  call: Call,
  work: (workspace: Workspace) => Promise<T>,
  located: Located = workspaceOf(call),
): Promise<T> {
  // Loaded here: a hook only needs to know where the workspace is.
  const { Workspace: Opened } = await import('../app/workspace.ts');
  const workspace = new Opened(located, { env: call.env, cwd: call.cwd, program: again(call) });
  try {
    return await work(workspace);
  } finally {
    await workspace.close();
  }
}

/** The workspace of `-C`; without it that of the current folder, or of the nearest one above that has `.baton`. */
export function workspaceOf(call: Call): Located {
  return workspaceAt(call, text(call.values, 'directory') === undefined ? undefined : call.cwd);
}

/** The workspace of the very folder, whatever workspace lies above it. */
export function workspaceHere(call: Call): Located {
  return workspaceAt(call, call.cwd);
}

function workspaceAt(call: Call, dir: string | undefined): Located {
  const workspace = locate(dir, call.env, call.cwd);
  if (!workspace) throw new UsageError(`there is no folder ${call.cwd}; -C names an existing one`);
  return workspace;
}
