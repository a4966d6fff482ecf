// A proof for whoever has a checkpoint of the log and not the log.
import { proveConsistency, proveInclusion } from '../../audit/prove.ts';
import { withEvidence } from '../../log/sqlite/evidence.ts';
import { logFileIn } from '../../log/sqlite/log.ts';
import { UsageError } from '../../workspace/locate.ts';
import { knownHere } from '../known-here.ts';
import type { Run } from '../operation.ts';
import type { FieldsOf } from './table.ts';

export const run: Run<FieldsOf<'audit.prove'>> = async (workspace, { seq, from, to = null, ...named }) => {
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
