// A person writes to a section of what the workspace knows.
import { parseJsonText } from '../../dialects/json-text.ts';
import { isObject, isString, type Json, type JsonObject, nameOfType } from '../../kernel/json.ts';
import { type Denied, deny } from '../../kernel/verdict.ts';
import { refusalOfDecision } from '../decision.ts';
import type { Run } from '../operation.ts';
import type { FieldsOf } from './table.ts';

export const run: Run<FieldsOf<'context.set'>> = async (workspace, { section, value, replace = false }, { actor }) => {
  const read = objectIn(value);
  if ('refusal' in read) return read.refusal;
  const isAgent = refusalOfDecision(workspace, 'context.set', actor) !== null;
  const request = { kind: 'context.write', section, payload: read.payload, replace, isAgent } as const;
  return workspace.ledgerStore({ begins: true }).submit(request, actor);
};

function objectIn(given: Json): { readonly payload: JsonObject } | { readonly refusal: Denied } {
  // An object that a program hands in is held to the same limits as a text.
  const parsed = parseJsonText(isString(given) ? given : JSON.stringify(given), { maxBytes: 1_048_576 });
  if (!parsed.ok) {
    const { line, column, message } = parsed;
    const reason = `the file is not JSON at line ${line}, column ${column}: ${message}`;
    return { refusal: deny('NOT_JSON', reason, { line, column, message }) };
  }
  if (isObject(parsed.value)) return { payload: parsed.value };
  const reason = `a section is an object, and the file holds ${nameOfType(parsed.value)}`;
  return { refusal: deny('PAYLOAD_NOT_OBJECT', reason) };
}
