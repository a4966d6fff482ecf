// Checks the whole log, and proves single entries of it.
import { findSealKey, sealedText } from '../../approvals/seal.ts';
import type { DecisionKey } from '../../audit/check-lines.ts';
import { tampered } from '../../audit/fault.ts';
import { proveConsistency, proveInclusion } from '../../audit/prove.ts';
import { verifyLog } from '../../audit/verify-log.ts';
import { withEvidence } from '../../log/sqlite/evidence.ts';
import { logFileIn } from '../../log/sqlite/open.ts';
import { UsageError } from '../../workspace/locate.ts';
import { knownHere } from '../known-here.ts';
import type { Workspace } from '../workspace.ts';
import type { Operation } from './table.ts';

/** Whether the history is as it was written. */
export const auditVerify: Operation<'audit.verify'> = async (workspace, input) => {
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

/** A proof for whoever has a checkpoint of the log and not the log. */
export const auditProve: Operation<'audit.prove'> = async (workspace, { seq, from, to = null, ...named }) => {
  if (!workspace.hasLog()) throw workspace.noCastYet();
  const known = knownHere(workspace, named);
  if (!known.ok) return known.verdict;
  const file = logFileIn(workspace.stateDir);
  if (seq === undefined && from !== undefined)
    return withEvidence(file, (evidence) => proveConsistency(evidence, known.value, from, to));
  const audit = `${workspace.program} audit prove`;
  if (seq === undefined || from !== undefined)
    throw new UsageError(`say: ${audit} SEQ, or ${audit} --from SIZE [--to SIZE]`);
  return withEvidence(file, (evidence) => proveInclusion(evidence, known.value, seq, to));
};
