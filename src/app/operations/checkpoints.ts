// Checkpoints of the log: signing one, the key that signs, and where they are kept.
import { checkpointFolders, notesFileIn } from '../../audit/checkpoints.ts';
import { makeCheckpoint } from '../../audit/make-checkpoint.ts';
import { keyLine, openSigner } from '../../audit/note.ts';
import { allow } from '../../kernel/verdict.ts';
import type { Operation } from './table.ts';

/** Signs the log as it is now. */
export const auditCheckpoint: Operation<'audit.checkpoint'> = async (workspace) =>
  makeCheckpoint(workspace, workspace.castStore().log, workspace.env);

/** The public key of this user, for whoever checks what he signed. */
export const auditKey: Operation<'audit.key'> = async ({ env }) => {
  const signer = openSigner(env);
  return signer.ok ? allow('the public key of this user', { key: keyLine(signer.value.publicKey) }) : signer.verdict;
};

/** Where the checkpoints outside of the workspace are. Each workspace has a folder of its own there, whose name cannot be guessed. */
export const auditOutside: Operation<'audit.outside'> = async (workspace) => {
  const file = notesFileIn(checkpointFolders(workspace, workspace.env).outside);
  return allow('the checkpoints of this workspace that are kept outside of it', { file });
};
