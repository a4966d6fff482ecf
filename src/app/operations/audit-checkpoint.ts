// Signs the log as it is now.
import { makeCheckpoint } from '../../audit/make-checkpoint.ts';
import type { Run } from '../operation.ts';
import type { FieldsOf } from './table.ts';

export const run: Run<FieldsOf<'audit.checkpoint'>> = async (workspace) =>
  makeCheckpoint(workspace, workspace.castStore().log, workspace.env);
