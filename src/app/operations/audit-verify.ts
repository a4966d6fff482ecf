// Whether the history is as it was written.
import { findSealKey, sealedText } from '../../approvals/seal.ts';
import type { DecisionKey } from '../../audit/decision-walk.ts';
import { tampered } from '../../audit/fault.ts';
import { verifyLog } from '../../audit/verify-log.ts';
import { withEvidence } from '../../log/sqlite/evidence.ts';
import { logFileIn } from '../../log/sqlite/log.ts';
import { knownHere } from '../known-here.ts';
import type { Run } from '../operation.ts';
import type { Workspace } from '../workspace.ts';
import type { FieldsOf } from './table.ts';

export const run: Run<FieldsOf<'audit.verify'>> = async (workspace, input) => {
  const known = knownHere(workspace, input);
  if (!known.ok) return known.verdict;
  const { kept, keys } = known.value;
  const decisionKey = decisionKeyOf(workspace);
  if (workspace.hasLog())
    return withEvidence(logFileIn(workspace.stateDir), (evidence) => verifyLog(evidence, kept, keys, { decisionKey }));
  const last = kept.flatMap(({ notes }) => notes.flatMap((note) => note?.checkpoint.size ?? [])).at(-1);
  if (last === undefined) throw workspace.noCastYet();
  return tampered([
    { kind: 'TRUNCATED', seq: 1, reason: `the log is gone; a checkpoint of ${last} entries was signed` },
  ]);
};

/** An auditor makes no key: where the user has none, decisions are not checked. */
function decisionKeyOf({ env }: Workspace): DecisionKey | null {
  const key = findSealKey(env);
  return key && { id: key.id, macOf: (text) => sealedText(text, key).mac };
}
