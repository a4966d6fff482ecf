// What is blocked, since when and why.
import { keptBlocks } from '../../audit/kept-quarantine.ts';
import { allow } from '../../kernel/verdict.ts';
import type { Run } from '../operation.ts';
import { trustIn } from '../workspace-status.ts';
import type { FieldsOf } from './table.ts';

export const run: Run<FieldsOf<'registry.quarantine'>> = async (workspace) => {
  const hasLog = workspace.hasLog();
  const known = hasLog ? Object.values((await trustIn(workspace.ledgerStore())).quarantine) : [];
  // What was blocked under another state folder is blocked here with the next cast; before that no log has it.
  const kept = hasLog ? [] : keptBlocks(workspace.dir, workspace.env).map((one) => ({ ...one, times: 1 }));
  const blocked = [...known, ...kept].map((one) => ({ ...one, since: new Date(one.since).toISOString() }));
  return allow(`${blocked.length} blocked`, { blocked });
};
