// How the answers about who may act and about what is known are shown: the registry, tokens, trusted folders, sections and notes.

import type { Given } from '../../app/perform.ts';
import { isObject, type JsonObject } from '../../kernel/json.ts';
import { inText, type TextChange, type ValueChange } from '../../kernel/knowledge/merge.ts';
import { counted } from '../../kernel/text.ts';
import type { Verdict } from '../../kernel/verdict.ts';
import { again, type Call } from '../command.ts';
import { Ready, type ShownLine, table } from '../paint.ts';
import { oneLine, safe } from '../terminal-text.ts';
import { ageOf, type Form, type Forms, reasonLine, rowsIn } from './form.ts';

const DONE: Form = { lines: reasonLine, refusal: 'fault' };
const WRITTEN: Form = { lines: reasonLine, notes: warningLines, refusal: 'lines' };

export const REGISTRY_FORMS: Forms = {
  'token.create': {
    lines: ({ token }) => [new Ready(safe(String(token)))],
    notes: ({ name, role }, _call, _given, { allow }) =>
      allow ? [`Token ${name} (${role}). It is shown this once; keep it where only its user can read it.`] : [],
    refusal: 'lines',
  },
  'token.list': { lines: tokenLines, refusal: 'lines' },
  'token.revoke': { lines: reasonLine, refusal: 'lines' },
  trust: { lines: reasonLine, refusal: 'lines' },
  'registry.lock': { lines: lockedLines, refusal: 'fault' },
  'registry.accept': DONE,
  'registry.verify': { lines: (details, _, __, verdict) => verifiedLines(details, verdict), refusal: 'same' },
  'registry.list': { value: 'agents', lines: agentLines, refusal: 'fault' },
  'registry.quarantine': { value: 'blocked', lines: blockedLines },
  'registry.release': DONE,
  'registry.import': DONE,
  'context.show': { value: ({ section, sections }) => section ?? sections, lines: shownLines, refusal: 'fault' },
  'context.diff': { value: (details) => details, lines: changeLines, notes: diffNote, refusal: 'fault' },
  'context.history': { value: 'history', lines: historyLines, refusal: 'fault' },
  'context.revert': WRITTEN,
  'context.set': WRITTEN,
  'memory.list': { value: 'memory', lines: memoryLines },
  'memory.accept': WRITTEN,
  'memory.drop': WRITTEN,
};

function lockedLines({ agents, changed, added, widened, written }: JsonObject, call: Call): readonly string[] {
  const [locked, pinned, wider, files] = [agents, changed, widened, written].map((list) =>
    Array.isArray(list) ? list.map(String) : [],
  );
  const news = rowsIn(added).map(({ materia, id, file, handsTo }) => {
    const to = Array.isArray(handsTo) && handsTo.length > 0 ? `, hands to ${handsTo.join(', ')}` : '';
    return `new    ${materia} is ${id}: .baton/${file}${to}`;
  });
  const repinned = pinned && pinned.length > 0 ? `; pinned again: ${pinned.join(', ')}` : '';
  return [
    ...(files ?? []).map((file) => `wrote  ${file}`),
    ...news,
    ...(wider ?? []).map((id) => `wider  ${id} may hand to the new agents; its version was raised`),
    `${counted(locked?.length ?? 0, 'prompt')} locked${repinned}`,
    ...(news.length > 0 ? [`After an edit of a prompt: ${again(call)} registry accept`] : []),
  ];
}

function verifiedLines({ problems }: JsonObject, { allow, code, reason }: Verdict): readonly string[] {
  const found = rowsIn(problems).map(
    (one) => `${String(one.level).padEnd(7)} ${one.code}  ${one.agent ?? 'registry'}: ${one.message}`,
  );
  return [...found, allow ? `ok: ${reason}` : `not in order (${code}): ${reason}`];
}

function agentLines({ agents }: JsonObject): readonly ShownLine[] {
  const rows = rowsIn(agents);
  if (rows.length === 0) return ['trust: off (there is no registry here)'];
  const cells = rows.map(({ id, type, version, status, hash, model, pinned }) =>
    [id, type, version, status, String(hash).slice(0, 12), model ?? '', pinned].map(String),
  );
  return table(cells, ['id', 'type', 'version', 'status', 'prompt', 'model', 'pinned'], ['id']);
}

function blockedLines({ blocked }: JsonObject): readonly ShownLine[] {
  const rows = rowsIn(blocked);
  if (rows.length === 0) return ['Nothing is blocked.'];
  const cells = rows.map(({ key, code, since, times, reason }) => [key, code, ageOf(since), times, reason].map(String));
  return table(cells, ['id', 'code', 'blocked', 'times', 'reason'], ['id']);
}

function tokenLines({ tokens }: JsonObject): readonly ShownLine[] {
  const rows = rowsIn(tokens);
  if (rows.length === 0) return ['There is no token yet.'];
  const cells = rows.map(({ name, role, created, expires, revoked, usable }) => {
    const status = revoked !== null ? 'revoked' : usable ? 'usable' : 'expired';
    return [name, role, status, ageOf(created), expires ? ageOf(expires) : 'never'].map(String);
  });
  return table(cells, ['name', 'role', 'status', 'made', 'expires'], ['name']);
}

function shownLines({ section, sections }: JsonObject): readonly ShownLine[] {
  if (isObject(section)) return [JSON.stringify(section.value, null, 2)];
  const rows = rowsIn(sections);
  if (rows.length === 0)
    return ['Nothing is known yet. Agents write it, and so does `baton context set SECTION FILE`.'];
  const cells = rows.map((row) => [row.section, row.version, ageOf(row.at), row.by ?? '-', row.bytes].map(String));
  return table(cells, ['section', 'version', 'written', 'by', 'bytes']);
}

function diffNote({ section, from, to, changes }: JsonObject, _call: Call, _given: Given, { allow }: Verdict) {
  return allow ? [`${section}, version ${from} to ${to}: ${counted(rowsIn(changes).length, 'change')}`] : [];
}

function changeLines({ changes }: JsonObject): readonly string[] {
  return rowsIn(changes).flatMap((change) => changed(inText(change as unknown as ValueChange)));
}

function changed({ path, before, after }: TextChange): readonly string[] {
  return [...(before === null ? [] : [`- ${path}: ${before}`]), ...(after === null ? [] : [`+ ${path}: ${after}`])];
}

function historyLines({ history }: JsonObject): readonly ShownLine[] {
  const cells = rowsIn(history).map(({ version, at, by, where, what }) =>
    [version ?? '-', ageOf(at), by, where ?? '-', what].map(String),
  );
  return table(cells, ['version', 'when', 'by', 'turn', 'what'], ['what']);
}

function warningLines({ warnings, why }: JsonObject): readonly string[] {
  if (!Array.isArray(warnings) || !Array.isArray(why)) return [];
  return warnings.map((warning, index) => `baton: ${warning}: ${why[index]}`);
}

function memoryLines({ memory }: JsonObject, _call: Call, { all }: Given): readonly ShownLine[] {
  const rows = rowsIn(memory);
  if (rows.length === 0) return [all ? 'Nothing was suggested to be remembered.' : 'Nothing waits to be decided.'];
  const cells = rows.map((row) => {
    const from = row.status === 'waiting' ? `${row.agent}, ${row.cast}:${row.turn}` : (row.section ?? 'everybody');
    const words = row.description === null ? String(row.body) : `${row.description}: ${row.body}`;
    return [String(row.id), ...(all ? [String(row.status)] : []), String(from), oneLine(words, 200)];
  });
  return table(cells, ['id', ...(all ? ['status'] : []), all ? 'from or for' : 'from', 'what']);
}
