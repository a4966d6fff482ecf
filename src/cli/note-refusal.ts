// Notes in the log that the command line turned somebody away.
import { noteRefusal as noteIn, type TurnedAway } from '../app/note-refusal.ts';
import type { Denied } from '../kernel/verdict.ts';
import { type Call, note } from './command.ts';
import { withWorkspace } from './open-workspace.ts';

export function noteRefusal(call: Call, verdict: Denied, turned: TurnedAway): Promise<boolean> {
  return withWorkspace(call, (workspace) => noteIn(workspace, verdict, turned, note));
}
