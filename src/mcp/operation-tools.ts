// The operations that are tools: name, input and function come from their entries. A call that takes long tells its client
// meanwhile what the agents do.
import type { LiveNews } from '../app/look-at-cast.ts';
import type { McpForm, OperationEntry, OperationEvent, OperationFields } from '../app/operation.ts';
import { OPERATIONS, type OperationName } from '../app/operations/table.ts';
import { answer } from '../app/perform.ts';
import { schemaOf } from '../kernel/field-schema.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import { scrub } from '../kernel/secrets.ts';
import type { Verdict } from '../kernel/verdict.ts';
import { askPerson, type FormDecision } from './approval-tools.ts';
import type { Tool } from './tool.ts';

const TELL_EVERY_MS = 500;
const TEXT_CHARS_MAX = 500;
const LINES_MAX = 10;

export const OPERATION_TOOLS: readonly Tool[] = Object.values(OPERATIONS).flatMap((entry: OperationEntry) =>
  'leftOut' in entry.mcp ? [] : [toolOf(entry, entry.mcp)],
);

function toolOf(entry: OperationEntry, form: McpForm): Tool {
  const { name, audience, description, without = [], required = [], schemas = {}, defaults = {} } = form;
  const input = schemaOf({ type: 'object', fields: left(entry.fields, without, required) });
  const { choice } = form;
  const peopleOnly = choice === undefined ? entry.peopleOnly : `${choice} what an agent asks for`;
  return {
    name,
    audience,
    ...(peopleOnly === undefined ? {} : { peopleOnly }),
    description,
    input: { ...input, properties: { ...(input.properties as JsonObject), ...schemas } },
    act: entry.act,
    ...(choice === undefined ? {} : { isDecision: true }),
    async call(given, context, current) {
      const { workspace, actor } = context;
      const { signal, progress } = current;
      const decided: Verdict | FormDecision =
        choice === undefined ? {} : await askPerson(choice, String(given.id), context, current);
      if ('allow' in decided) return decided;
      const live = liveProgress((message) => progress(message));
      const onEvent = (event: OperationEvent) => {
        if (event.kind === 'note') void progress(event.text).catch(() => undefined);
        else if (event.kind === 'value' && isLive(event.value)) live.hear(event.value);
      };
      try {
        return await answer(
          workspace,
          entry.name as OperationName,
          { ...defaults, ...given, ...decided },
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

function left(fields: OperationFields, without: readonly string[], required: readonly string[]): OperationFields {
  const offered = Object.entries(fields).filter(([name]) => !without.includes(name));
  return Object.fromEntries(
    offered.map(([name, field]) => [name, required.includes(name) ? { ...field, required: true } : field]),
  );
}

type LiveProgress = { hear(news: LiveNews): void; stop(): void };

export function liveProgress(tell: (message: string) => Promise<void>, everyMs = TELL_EVERY_MS): LiveProgress {
  /** What was not told yet, line by line. */
  let lines: string[] = [];
  let speaker: string | null = null;
  let timer: NodeJS.Timeout | null = null;
  let isTelling = false;
  const flush = async () => {
    // One message at a time: a client that does not read gets the newest lines when it does.
    if (isTelling || lines.length === 0) return;
    isTelling = true;
    const message = scrub(lines.join('\n')).text;
    lines = [];
    speaker = null;
    await tell(message).catch(() => undefined);
    isTelling = false;
  };
  return {
    hear({ socket, event }) {
      const last = lines.at(-1);
      if (event.kind === 'text' && speaker === socket && last !== undefined)
        lines[lines.length - 1] = cut(last + event.text);
      else lines = [...lines.slice(-(LINES_MAX - 1)), cut(`${socket} ${wordsOf(event)}`)];
      speaker = event.kind === 'text' ? socket : null;
      timer ??= setInterval(() => void flush(), everyMs);
    },
    stop() {
      if (timer) clearInterval(timer);
    },
  };
}

function wordsOf(event: LiveNews['event']): string {
  switch (event.kind) {
    case 'text':
      return `says: ${event.text}`;
    case 'tool':
      return `uses ${event.name}`;
    case 'denied':
      return `was refused ${event.name}`;
    case 'waiting':
      return `waits ${Math.ceil(event.forMs / 1000)} s: ${event.reason}`;
  }
}

/** The beginning, which says who it is, and the end of what is too long. */
function cut(line: string): string {
  if (line.length <= TEXT_CHARS_MAX) return line;
  const head = line.slice(0, 40);
  return `${head} … ${line.slice(line.length - (TEXT_CHARS_MAX - 43))}`;
}
