// The workspace that a command acts on, open for as long as the command takes.
import { Workspace } from '../app/workspace.ts';
import { again, type Call } from './command.ts';
import { workspaceOf } from './find-workspace.ts';

export async function withWorkspace<T>(call: Call, work: (workspace: Workspace) => Promise<T>): Promise<T> {
  const workspace = new Workspace(workspaceOf(call), { env: call.env, cwd: call.cwd, program: again(call) });
  try {
    return await work(workspace);
  } finally {
    await workspace.close();
  }
}
