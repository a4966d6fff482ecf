// The operations that are tools: name, input and function come from their entries.
import { type Fields, jsonSchemaOf } from '../app/fields.ts';
import type { LiveNews } from '../app/follow-cast.ts';
import type { Entry, McpForm, OperationEvent } from '../app/operation.ts';
import { OPERATIONS, type OperationName } from '../app/operations/table.ts';
import { answer } from '../app/perform.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import { liveProgress } from './live-progress.ts';
import type { Tool } from './tool.ts';

export const OPERATION_TOOLS: readonly Tool[] = Object.values(OPERATIONS).flatMap((entry: Entry) =>
  'leftOut' in entry.mcp ? [] : [toolOf(entry, entry.mcp)],
);

function toolOf(entry: Entry, form: McpForm): Tool {
  const { name, audience, description, without = [], required = [], schemas = {}, defaults = {} } = form;
  // Within a list of tools it is no document of its own.
  const { $schema: _dialect, ...input } = jsonSchemaOf(left(entry.fields, without, required));
  return {
    name,
    audience,
    ...(entry.peopleOnly === undefined ? {} : { peopleOnly: entry.peopleOnly }),
    description,
    input: { ...input, properties: { ...(input.properties as JsonObject), ...schemas } },
    act: entry.act,
    async call(given, { workspace, actor }, { signal, progress }) {
      const live = liveProgress((message) => progress(message));
      const onEvent = (event: OperationEvent) => {
        if (event.kind === 'note') void progress(event.text).catch(() => undefined);
        else if (event.kind === 'value' && isLive(event.value)) live.hear(event.value);
      };
      try {
        return await answer(
          workspace,
          entry.name as OperationName,
          { ...defaults, ...given },
          { actor, signal, onEvent },
        );
      } finally {
        live.stop();
      }
    },
  };
}

function isLive(value: unknown): value is LiveNews {
  return isObject(value) && value.kind === 'live';
}

function left(fields: Fields, without: readonly string[], required: readonly string[]): Fields {
  const offered = Object.entries(fields).filter(([name]) => !without.includes(name));
  return Object.fromEntries(
    offered.map(([name, field]) => [name, required.includes(name) ? { ...field, required: true } : field]),
  );
}
