// `baton audit`: whether the history is as it was written, proofs of single facts, and signed checkpoints.
import { resolve } from 'node:path';
import { hasLog } from '../../app/state-folder.ts';
import { sealedText } from '../../approvals/seal-decision.ts';
import { findSealKey } from '../../approvals/seal-key.ts';
import { checkpointFolders, notesFileIn } from '../../audit/checkpoint-files.ts';
import type { DecisionKey } from '../../audit/decision-walk.ts';
import { type Fault, tampered } from '../../audit/fault.ts';
import { knownCheckpoints } from '../../audit/known-checkpoints.ts';
import { makeCheckpoint } from '../../audit/make-checkpoint.ts';
import { keyLine, readKeyLine } from '../../audit/note.ts';
import { proveConsistency, proveInclusion } from '../../audit/prove.ts';
import { openSigner } from '../../audit/signing-key.ts';
import { verifyLog } from '../../audit/verify-log.ts';
import { allow, type Verdict } from '../../kernel/verdict.ts';
import { withEvidence } from '../../log/sqlite/evidence.ts';
import { logFileIn, SqliteLog } from '../../log/sqlite/log.ts';
import { again, type Call, text, UsageError } from '../command.ts';
import { workspaceOf } from '../find-workspace.ts';
import { noCastYet } from '../looking.ts';
import { tell } from '../verdict-answer.ts';

export async function run(call: Call): Promise<number> {
  const [word, ...rest] = call.words;
  if (word === 'verify' && rest.length === 0) return tell(call, await verify(call), summary);
  if (word === 'prove') return prove(call, rest);
  if (word === 'checkpoint' && rest.length === 0) return tell(call, await checkpoint(call), noteOf);
  if (word === 'key' && rest.length === 0) return tell(call, key(call), ({ details }) => [String(details.key)]);
  if (word === 'outside' && rest.length === 0)
    return tell(call, outside(call), ({ details }) => [String(details.file)]);
  const baton = again(call);
  const forms = ['verify', 'prove SEQ', 'checkpoint', 'key', 'outside'].map((form) => `${baton} audit ${form}`);
  throw new UsageError(`say: ${forms.slice(0, -1).join(', ')} or ${forms.at(-1)}`);
}

async function verify(call: Call): Promise<Verdict> {
  const workspace = workspaceOf(call);
  const known = knownOf(call);
  if (!known.ok) return known.verdict;
  const { kept, keys } = known.value;
  const decisionKey = decisionKeyOf(call);
  if (hasLog(workspace)) {
    const file = logFileIn(workspace.stateDir);
    return withEvidence(file, (evidence) => verifyLog(evidence, kept, keys, { decisionKey }));
  }
  const last = kept.flatMap(({ notes }) => notes.flatMap((note) => note?.checkpoint.size ?? [])).at(-1);
  if (last === undefined) throw noCastYet(workspace);
  return tampered([
    { kind: 'TRUNCATED', seq: 1, reason: `the log is gone; a checkpoint of ${last} entries was signed` },
  ]);
}

/** An auditor makes no key: where the user has none, decisions are not checked. */
function decisionKeyOf({ env }: Call): DecisionKey | null {
  const key = findSealKey(env);
  return key && { id: key.id, macOf: (text) => sealedText(text, key).mac };
}

async function prove(call: Call, [word, ...more]: readonly string[]): Promise<number> {
  const workspace = workspaceOf(call);
  if (!hasLog(workspace)) throw noCastYet(workspace);
  const known = knownOf(call);
  if (!known.ok) return tell(call, known.verdict, nothing);
  const file = logFileIn(workspace.stateDir);
  const [from, to] = [number(call, 'from'), number(call, 'to')];
  if (word === undefined && from !== null) {
    const proved = await withEvidence(file, (evidence) => proveConsistency(evidence, known.value, from, to));
    return tell(call, proved, ({ details }) => [JSON.stringify(details, null, 2)]);
  }
  const seq = Number(word);
  if (more.length > 0 || from !== null || !Number.isSafeInteger(seq) || seq < 1)
    throw new UsageError(`say: ${again(call)} audit prove SEQ, or ${again(call)} audit prove --from SIZE [--to SIZE]`);
  const proved = await withEvidence(file, (evidence) => proveInclusion(evidence, known.value, seq, to));
  return tell(call, proved, ({ details }) => [JSON.stringify(details, null, 2)]);
}

async function checkpoint(call: Call): Promise<Verdict> {
  const workspace = workspaceOf(call);
  if (!hasLog(workspace)) throw noCastYet(workspace);
  const log = new SqliteLog(logFileIn(workspace.stateDir));
  return makeCheckpoint(workspace, log, call.env).finally(() => log.close());
}

function key(call: Call): Verdict {
  const signer = openSigner(call.env);
  return signer.ok ? allow('the public key of this user', { key: keyLine(signer.value.publicKey) }) : signer.verdict;
}

/** Of many workspaces each has a folder of its own outside, whose name nobody could guess. */
function outside(call: Call): Verdict {
  const file = notesFileIn(checkpointFolders(workspaceOf(call), call.env).outside);
  return allow('the checkpoints of this workspace that are kept outside of it', { file });
}

function knownOf(call: Call) {
  const file = text(call.values, 'checkpoint');
  const line = text(call.values, 'key');
  if (line !== undefined && !readKeyLine(line))
    throw new UsageError('--key must be a line as `baton audit key` prints it');
  const files = file === undefined ? [] : [resolve(call.cwd, file)];
  try {
    return knownCheckpoints(workspaceOf(call), call.env, files, line === undefined ? [] : [line]);
  } catch (error) {
    throw new UsageError(`the checkpoint cannot be read: ${(error as Error).message}`);
  }
}

function number(call: Call, name: string): number | null {
  const given = text(call.values, name);
  if (given === undefined) return null;
  const value = Number(given);
  if (!Number.isSafeInteger(value) || value < 1)
    throw new UsageError(`--${name} must be a number of entries, not ${given}`);
  return value;
}

function summary({ reason, details }: Verdict): readonly string[] {
  const { head, root, texts, erased, checkpoints, decisions, warnings } = details as Record<string, unknown>;
  const { checked = 0 } = (decisions ?? {}) as Record<string, number>;
  const { inside, outside, unsigned } = checkpoints as Record<string, number>;
  return [
    reason,
    `texts         ${texts} as their digests say, ${erased} erased`,
    `checkpoints   ${inside} beside the log, ${outside} outside; ${unsigned} facts came after the last one`,
    ...(checked === 0 ? [] : [`decisions     ${checked} sealed with the key of this user`]),
    `head          ${head}`,
    `root          ${root}`,
    ...(warnings as readonly Fault[]).map(({ kind, reason: why }) => `warning       ${kind}: ${why}`),
  ];
}

function noteOf({ reason, details }: Verdict): readonly string[] {
  return [reason, ...(typeof details.note === 'string' ? ['', details.note.trimEnd()] : [])];
}

function nothing(): readonly string[] {
  return [];
}
