// A cast as one signed file: writes it, and checks one.
import { renameSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { verifyBundle } from '../../audit/bundle.ts';
import { checkpointFolders, knownCheckpoints } from '../../audit/checkpoints.ts';
import { tampered } from '../../audit/fault.ts';
import { makeCheckpoint } from '../../audit/make-checkpoint.ts';
import { openSigner, readKeyLine, trustedKeys } from '../../audit/note.ts';
import { makeBundle } from '../../audit/prove.ts';
import { allow } from '../../kernel/verdict.ts';
import { withEvidence } from '../../log/sqlite/evidence.ts';
import { logFileIn } from '../../log/sqlite/open.ts';
import { readPlainFile } from '../../workspace/load-config.ts';
import { UsageError } from '../../workspace/locate.ts';
import { nameCast } from '../name-cast.ts';
import type { Operation } from './table.ts';

/** One cast as evidence, in one file. */
export const exportCast: Operation<'export'> = async (workspace, { cast: word, redact = [], ...input }) => {
  const { env, stateDir } = workspace;
  const store = workspace.castStore();
  const { cast } = await nameCast(store, word, workspace.program);
  const short = redact.find((each) => /^sha256:(?![0-9a-f]{64}$)/.test(each));
  if (short !== undefined)
    throw new UsageError(`--redact takes a whole digest (sha256: and 64 hex digits) or words, not ${short}`);
  const signed = await makeCheckpoint(workspace, store.log, env);
  if (!signed.allow) return signed;
  const known = knownCheckpoints(workspace, env);
  if (!known.ok) return known.verdict;
  const signer = openSigner(env);
  if (!signer.ok) return signer.verdict;
  const signing = { signer: signer.value, origin: checkpointFolders(workspace, env).origin };
  const { verdict, text } = await withEvidence(logFileIn(stateDir), (evidence) =>
    makeBundle(evidence, cast, known.value, signing, redact),
  );
  if (!verdict.allow) return verdict;
  if (input.output === undefined) return allow(verdict.reason, { ...verdict.details, bundle: text });
  const output = resolve(workspace.cwd, input.output);
  // Whole or not at all; what it replaces may be an earlier export.
  writeFileSync(`${output}.part`, text, { mode: 0o600, flush: true });
  renameSync(`${output}.part`, output);
  return allow(`${output}: ${verdict.reason}`, { ...verdict.details, file: output });
};

/** Whether an exported file is what was signed. */
export const verifyExport: Operation<'verify'> = async ({ cwd, env, program }, { file, key: line }) => {
  const key = line === undefined ? null : readKeyLine(line);
  if (line !== undefined && !key) throw new UsageError(`--key must be a line as \`${program} audit key\` prints it`);
  const trusted = key ? { ok: true as const, value: [key] } : trustedKeys(env);
  if (!trusted.ok) return trusted.verdict;
  const verdict = verifyBundle(contents(resolve(cwd, file)), trusted.value);
  const isTrusted = (verdict.details.key as { trusted?: boolean } | undefined)?.trusted === true;
  if (!verdict.allow || isTrusted) return verdict;
  if (!key) return { ...verdict, reason: `${verdict.reason}; ${STRANGER}` };
  return tampered(
    [{ kind: 'CHECKPOINT_SIGNATURE', seq: 0, reason: 'the file was signed by another key' }],
    verdict.details,
  );
};

const STRANGER =
  'but nobody here knows the key that signed it: whole it is, and by whom is not proved. Ask for the key and compare with --key';

function contents(file: string): string {
  try {
    return readPlainFile(file).toString('utf8');
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${(error as Error).message}`);
  }
}
