// Where the checkpoints outside of the workspace are. Each workspace has a folder of its own there, whose name cannot be guessed.
import { checkpointFolders, notesFileIn } from '../../audit/checkpoints.ts';
import { allow } from '../../kernel/verdict.ts';
import type { Run } from '../operation.ts';
import type { FieldsOf } from './table.ts';

export const run: Run<FieldsOf<'audit.outside'>> = async (workspace) => {
  const file = notesFileIn(checkpointFolders(workspace, workspace.env).outside);
  return allow('the checkpoints of this workspace that are kept outside of it', { file });
};
