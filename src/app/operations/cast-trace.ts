// What is behind a file, a result, a handoff or a text, and what came of it.
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { aheadOf, behindFile, type TracedHandoff, type TracedTurn, tracedHandoff, turnsOf } from '../../audit/trace.ts';
import type { Evidence, StoredRow } from '../../engine/ports.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { allow } from '../../kernel/verdict.ts';
import { withEvidence } from '../../log/sqlite/evidence.ts';
import { logFileIn } from '../../log/sqlite/open.ts';
import { readStoredLine, type StoredLine } from '../../log/stored-line.ts';
import { UsageError } from '../../workspace/locate.ts';
import { nameCast } from '../name-cast.ts';
import type { Workspace } from '../workspace.ts';
import type { Operation } from './table.ts';

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

/** The casts of which a line names the digest; a short prompt stands in its line itself, so all beginnings are looked at. */
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

/** Handoffs from outside that name an id or a hash: in their entry, or in the envelope that is kept beside it. */
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
