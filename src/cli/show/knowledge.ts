// How what the workspace knows and remembers is shown.
import type { Given } from '../../app/perform.ts';
import { isObject, type JsonObject } from '../../kernel/json.ts';
import { type Change, inText, type ValueChange } from '../../kernel/knowledge/merge.ts';
import { counted } from '../../kernel/text.ts';
import type { Verdict } from '../../kernel/verdict.ts';
import type { Call } from '../command.ts';
import type { ShownLine } from '../paint.ts';
import { oneLine } from '../safe-text.ts';
import { table } from '../table.ts';
import { ageOf, type Form, type Forms, reasonLine, rowsIn } from './form.ts';

const DONE: Form = { lines: reasonLine, notes: warningLines, refusal: 'lines' };

export const forms: Forms = {
  'context.show': { value: ({ section, sections }) => section ?? sections, lines: shownLines, refusal: 'fault' },
  'context.diff': { value: (details) => details, lines: changeLines, notes: diffNote, refusal: 'fault' },
  'context.history': { value: 'history', lines: historyLines, refusal: 'fault' },
  'context.revert': DONE,
  'context.set': DONE,
  'memory.list': { value: 'memory', lines: memoryLines },
  'memory.accept': DONE,
  'memory.drop': DONE,
};

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

function changed({ path, before, after }: Change): readonly string[] {
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
