// The operations that are tools: name, input and function come from their entries.
import { type Fields, jsonSchemaOf } from '../app/fields.ts';
import type { Entry, McpForm } from '../app/operation.ts';
import { OPERATIONS, type OperationName } from '../app/operations/table.ts';
import { answer } from '../app/perform.ts';
import type { Tool } from './tool.ts';

export const OPERATION_TOOLS: readonly Tool[] = Object.values(OPERATIONS).flatMap((entry: Entry) =>
  'leftOut' in entry.mcp ? [] : [toolOf(entry, entry.mcp)],
);

function toolOf(entry: Entry, { name, audience, description, without = [], defaults = {} }: McpForm): Tool {
  return {
    name,
    audience,
    ...(entry.peopleOnly === undefined ? {} : { peopleOnly: entry.peopleOnly }),
    description,
    input: jsonSchemaOf(left(entry.fields, without)),
    act: entry.act,
    async call(given, { workspace, actor }, { signal, progress }) {
      const onEvent = (event: { readonly kind: string; readonly text?: string }) =>
        void (event.text === undefined ? undefined : progress(event.text).catch(() => undefined));
      return answer(workspace, entry.name as OperationName, { ...defaults, ...given }, { actor, signal, onEvent });
    },
  };
}

function left(fields: Fields, without: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !without.includes(name)));
}
