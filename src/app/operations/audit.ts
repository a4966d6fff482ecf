// The log as evidence: checks the whole of it, proves single entries, signs checkpoints, exports a cast as one signed file, and traces
// what is behind a file, a result, a handoff or a text.

import { renameSync, writeFileSync } from 'node:fs';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { findSealKey, sealedText } from '../../approvals/seal.ts';
import { verifyBundle } from '../../audit/bundle.ts';
import type { DecisionKey } from '../../audit/check-lines.ts';
import { checkpointFolders, knownCheckpoints, notesFileIn } from '../../audit/checkpoints.ts';
import { tampered } from '../../audit/fault.ts';
import { makeCheckpoint } from '../../audit/make-checkpoint.ts';
import { keyLine, openSigner, readKeyLine, trustedKeys } from '../../audit/note.ts';
import { makeBundle, proveConsistency, proveInclusion } from '../../audit/prove.ts';
import { aheadOf, behindFile, type TracedHandoff, type TracedTurn, tracedHandoff, turnsOf } from '../../audit/trace.ts';
import { verifyLog } from '../../audit/verify-log.ts';
import type { Evidence, StoredRow } from '../../engine/ports.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { allow } from '../../kernel/verdict.ts';
import { withEvidence } from '../../log/sqlite/evidence.ts';
import { logFileIn } from '../../log/sqlite/open.ts';
import { readStoredLine, type StoredLine } from '../../log/stored-line.ts';
import { readPlainFile } from '../../workspace/load-config.ts';
import { UsageError } from '../../workspace/locate.ts';
import { castNamed, nameCast } from '../name-cast.ts';
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

/** A proof for a holder of a checkpoint who does not have the log. */
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

type Named = { readonly checkpoint?: string | undefined; readonly key?: string | undefined };

function knownHere(workspace: Workspace, { checkpoint, key }: Named): ReturnType<typeof knownCheckpoints> {
  if (key !== undefined && !readKeyLine(key))
    throw new UsageError(`--key must be a line as \`${workspace.program} audit key\` prints it`);
  const files = checkpoint === undefined ? [] : [resolve(workspace.cwd, checkpoint)];
  try {
    return knownCheckpoints(workspace, workspace.env, files, key === undefined ? [] : [key]);
  } catch (error) {
    throw new UsageError(`the checkpoint cannot be read: ${(error as Error).message}`);
  }
}

/** Signs the log as it is now. */
export const auditCheckpoint: Operation<'audit.checkpoint'> = async (workspace) =>
  workspace.castStore().asStored((log) => makeCheckpoint(workspace, log, workspace.env));

/** The public key of this user, to check signatures with. */
export const auditKey: Operation<'audit.key'> = async ({ env }) => {
  const signer = openSigner(env);
  return signer.ok ? allow('the public key of this user', { key: keyLine(signer.value.publicKey) }) : signer.verdict;
};

/** Where the checkpoints outside of the workspace are. Each workspace has a folder of its own there, whose name cannot be guessed. */
export const auditOutside: Operation<'audit.outside'> = async (workspace) => {
  const file = notesFileIn(checkpointFolders(workspace, workspace.env).outside);
  return allow('the checkpoints of this workspace that are kept outside of it', { file });
};

/** One cast as evidence, in one file. */
export const exportCast: Operation<'export'> = async (workspace, { cast: word, redact = [], ...input }) => {
  const { env, stateDir } = workspace;
  const { store, cast } = await castNamed(workspace, word);
  const short = redact.find((each) => /^sha256:(?![0-9a-f]{64}$)/.test(each));
  if (short !== undefined)
    throw new UsageError(`--redact takes a whole digest (sha256: and 64 hex digits) or words, not ${short}`);
  const signed = await store.asStored((log) => makeCheckpoint(workspace, log, env));
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
  'but the key that signed it is unknown here: it is whole, and its signer is not proved. Ask for the key and compare with --key';

function contents(file: string): string {
  try {
    return readPlainFile(file).toString('utf8');
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${(error as Error).message}`);
  }
}

export const castTrace: Operation<'cast.trace'> = async (workspace, { what }) => {
  if (!workspace.hasLog()) throw workspace.noCastYet();
  const found = await withEvidence(logFileIn(workspace.stateDir), (evidence) => traced(workspace, evidence, what));
  const { turns, handoffs } = found;
  return allow(`${turns.length} turns, ${handoffs.length} handoffs`, found as unknown as JsonObject);
};

export type Traced = { readonly turns: readonly TracedTurn[]; readonly handoffs: readonly TracedHandoff[] };

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const HASH = /^[0-9a-f]{64}$/;

/** What people copy from a lock has no name of an algorithm in front. */
function searched(word: string): string | null {
  const plain = word.toLowerCase();
  if (UUID.test(plain)) return plain;
  if (HASH.test(plain)) return `sha256:${plain}`;
  return word.startsWith('sha256:') ? word : null;
}

async function traced(workspace: Workspace, evidence: Evidence, word: string): Promise<Traced> {
  const wanted = searched(word);
  if (wanted !== null) {
    const turns: TracedTurn[] = [];
    for (const cast of await castsWith(evidence, wanted)) turns.push(...aheadOf(await turnsIn(evidence, cast), wanted));
    const handoffs = await handoffsWith(evidence, wanted.replace(/^sha256:/, ''));
    if (turns.length + handoffs.length === 0)
      throw new UsageError(`no turn and no handoff of this workspace has to do with ${word}`);
    return { turns, handoffs };
  }
  return { turns: await tracedTurns(workspace, evidence, word), handoffs: [] };
}

async function tracedTurns(workspace: Workspace, evidence: Evidence, word: string): Promise<readonly TracedTurn[]> {
  const path = pathIn(workspace.dir, resolve(workspace.cwd, word));
  const changed: TracedTurn[] = [];
  for (const cast of path === null ? [] : await castsThatTouched(evidence, path))
    changed.push(...behindFile(await turnsIn(evidence, cast), path ?? ''));
  if (changed.length > 0) return changed;
  try {
    const { cast } = await nameCast(workspace.castStore(), word, workspace.program);
    return await turnsIn(evidence, cast);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(
      `${word} is neither a file that a turn changed, nor a cast, nor a handoff, nor a digest such as sha256:…`,
    );
  }
}

async function turnsIn(evidence: Evidence, cast: string): Promise<readonly TracedTurn[]> {
  const rows = await evidence.rows({ after: 0, cast });
  return turnsOf(
    cast,
    rows.flatMap(([, , , , line]) => withAuthor(line)),
  );
}

function withAuthor(text: string): (StoredLine & { readonly by: string })[] {
  const line = readStoredLine(text);
  return line ? [{ ...line, by: String((JSON.parse(text) as { by: unknown }).by) }] : [];
}

/** The casts of which a line names the digest; a short prompt is in its line itself, so all beginnings are looked at. */
async function castsWith(evidence: Evidence, digest: string): Promise<readonly string[]> {
  const rows = [
    ...(await evidence.rows({ after: 0, holds: digest })),
    ...(await evidence.rows({ after: 0, kinds: ['cast.started'] })),
  ];
  return castsOf(rows.sort(([a], [b]) => a - b));
}

function castsOf(rows: readonly StoredRow[]): readonly string[] {
  return [...new Set(rows.flatMap(([, , cast]) => cast ?? []))];
}

/** Handoffs from outside that name an id or a hash: in their entry, or in the envelope that is kept with it. */
async function handoffsWith(evidence: Evidence, word: string): Promise<readonly TracedHandoff[]> {
  const found: TracedHandoff[] = [];
  for (const [seq, , , , line] of await evidence.rows({ after: 0, kinds: ['handoff.judged'] })) {
    const texts = line.includes(word) ? [] : [...(await evidence.textsOf(seq)).values()];
    const read = line.includes(word) || texts.some((text) => text.includes(word)) ? readStoredLine(line) : null;
    if (read) found.push(tracedHandoff(read));
  }
  return found;
}

async function castsThatTouched(evidence: Evidence, path: string): Promise<readonly string[]> {
  const holds = JSON.stringify(path).slice(1, -1);
  return castsOf(await evidence.rows({ after: 0, kinds: ['turn.accepted'], holds }));
}

/** As turns name it: from the workspace, with slashes. Null for what lies outside. */
function pathIn(dir: string, path: string): string | null {
  const found = relative(dir, path);
  return found === '' || found.startsWith('..') || isAbsolute(found) ? null : found.split(sep).join('/');
}
