// `baton export`: one cast as evidence, in one file.
import { renameSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { checkpointFolders } from '../../audit/checkpoint-files.ts';
import { knownCheckpoints } from '../../audit/known-checkpoints.ts';
import { makeBundle } from '../../audit/make-bundle.ts';
import { makeCheckpoint } from '../../audit/make-checkpoint.ts';
import { openSigner } from '../../audit/signing-key.ts';
import { allow, type Verdict } from '../../kernel/verdict.ts';
import { withEvidence } from '../../log/sqlite/evidence.ts';
import { logFileIn, SqliteLog } from '../../log/sqlite/log.ts';
import { type Call, text, UsageError } from '../command.ts';
import { workspaceOf } from '../find-workspace.ts';
import { nameCast, withDoor } from '../looking.ts';
import { tell } from '../verdict-answer.ts';

export async function run(call: Call): Promise<number> {
  const output = text(call.values, 'output');
  if (output === undefined || output === '')
    throw new UsageError('name the file to write with -o, such as -o run.baton');
  const { cast } = await withDoor(call, (door) => nameCast(door, call.words[0]));
  return tell(call, await exported(call, cast, resolve(call.cwd, output)), ({ reason }) => [reason]);
}

async function exported(call: Call, cast: string, output: string): Promise<Verdict> {
  const workspace = workspaceOf(call);
  const file = logFileIn(workspace.stateDir);
  const log = new SqliteLog(file);
  const signed = await makeCheckpoint(workspace, log, call.env).finally(() => log.close());
  if (!signed.allow) return signed;
  const known = knownCheckpoints(workspace, call.env);
  if (!known.ok) return known.verdict;
  const signer = openSigner(call.env);
  if (!signer.ok) return signer.verdict;
  const { origin } = checkpointFolders(workspace, call.env);
  const signing = { signer: signer.value, origin };
  const hidden = redactions(call);
  const { verdict, text: bundle } = await withEvidence(file, (evidence) =>
    makeBundle(evidence, cast, known.value, signing, hidden),
  );
  if (!verdict.allow) return verdict;
  // Whole or not at all; what it replaces may be an earlier export.
  writeFileSync(`${output}.part`, bundle, { mode: 0o600, flush: true });
  renameSync(`${output}.part`, output);
  return allow(`${output}: ${verdict.reason}`, { ...verdict.details, file: output });
}

function redactions({ values: { redact } }: Call): readonly string[] {
  const given = Array.isArray(redact) ? redact.filter((each) => typeof each === 'string') : [];
  const short = given.find((each) => each === '' || /^sha256:(?![0-9a-f]{64}$)/.test(each));
  if (short !== undefined)
    throw new UsageError(
      `--redact takes a whole digest (sha256: and 64 hex digits) or words, not ${short || 'nothing'}`,
    );
  return given;
}
