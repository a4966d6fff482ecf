// Streams of JSON events, read as they arrive: one object per line from programs, and server-sent events from model APIs. Text between
// events is skipped. An event that never ends is dropped instead of kept. A reader folds the events into a report. Tool calls become
// events with the name of the tool and the file, command or pattern that it works on.
import type { LiveEvent } from '../engine/ports.ts';
import { isObject, isString, type Json, type JsonObject } from '../kernel/json.ts';
import type { StreamReader } from './agent-call.ts';
import { type AgentReport, EMPTY_REPORT } from './report.ts';

type Fold = (report: AgentReport, event: JsonObject) => AgentReport;
type Live = (event: JsonObject) => readonly LiveEvent[];

export function reportReader(fold: Fold, live: Live): () => StreamReader {
  return () => {
    const lines = jsonLines();
    let report = EMPTY_REPORT;
    return {
      push(chunk) {
        const events = lines.push(chunk);
        report = events.reduce(fold, report);
        const happened = events.flatMap(live);
        const retries = happened.filter(({ kind }) => kind === 'waiting').length;
        if (retries > 0) report = { ...report, retries: report.retries + retries };
        return happened;
      },
      // The last line may lack its end.
      report: () => lines.rest().reduce(fold, report),
    };
  };
}

type JsonLines = {
  push(chunk: string): JsonObject[];
  /** The object of an unfinished line, if it is complete. The line stays. */
  rest(): JsonObject[];
};

const LINE_CHARS_MAX = 16 * 1_048_576;

export function jsonLines(lineMax = LINE_CHARS_MAX): JsonLines {
  let held: string[] = [];
  let chars = 0;
  const keep = (part: string) => {
    chars += part.length;
    if (chars <= lineMax) held.push(part);
    else held = [];
  };
  const rest = () => objectIn(chars <= lineMax ? held.join('') : '');
  const take = (): JsonObject[] => {
    const found = rest();
    held = [];
    chars = 0;
    return found;
  };
  return {
    push: (chunk) => byLine(chunk, keep, take),
    rest,
  };
}

function objectIn(line: string): JsonObject[] {
  const text = line.trim();
  if (!text.startsWith('{')) return [];
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? [value] : [];
  } catch {
    return [];
  }
}

type ServerSentEvents = { push(chunk: string): JsonObject[] };

/** A longer event is dropped. */
const EVENT_CHARS_MAX = 16 * 1_048_576;

export function serverSentEvents(eventMax = EVENT_CHARS_MAX): ServerSentEvents {
  let line: string[] = [];
  let data: string[] = [];
  let chars = 0;
  const keep = (part: string) => {
    chars += part.length;
    if (chars <= eventMax) line.push(part);
    else {
      line = [];
      data = [];
    }
  };
  const endLine = (): JsonObject[] => {
    const text = line.join('').replace(/\r$/, '');
    line = [];
    if (text !== '') {
      if (text.startsWith('data:')) data.push(text.slice(text[5] === ' ' ? 6 : 5));
      return [];
    }
    const found = chars <= eventMax ? objectIn(data.join('\n')) : [];
    data = [];
    chars = 0;
    return found;
  };
  return {
    push: (chunk) => byLine(chunk, keep, endLine),
  };
}

/** Keeps the parts of a chunk, and ends a line at each line feed. Returns the objects of the ended lines. */
function byLine(chunk: string, keep: (part: string) => void, endLine: () => JsonObject[]): JsonObject[] {
  const found: JsonObject[] = [];
  let from = 0;
  for (let end = chunk.indexOf('\n'); end >= 0; end = chunk.indexOf('\n', from)) {
    keep(chunk.slice(from, end));
    found.push(...endLine());
    from = end + 1;
  }
  if (from < chunk.length) keep(chunk.slice(from));
  return found;
}

const DETAIL_CHARS_MAX = 200;

/** The names of such arguments, the most useful first. */
const ARGUMENTS = [
  ...['file_path', 'notebook_path', 'path', 'command', 'cmd', 'pattern', 'query', 'url', 'description'],
] as const;

/** A tool call as people follow it. */
export function toolEvent(name: string, detail: string | null): LiveEvent {
  if (detail === null || detail.trim() === '') return { kind: 'tool', name };
  return { kind: 'tool', name, detail: detail.trim().slice(0, DETAIL_CHARS_MAX).toWellFormed() };
}

/** Null if the call names none. */
export function detailOf(call: JsonObject): string | null {
  for (const name of ARGUMENTS) {
    const found = wordsIn(call[name]);
    if (found !== null) return found;
  }
  const [first] = Array.isArray(call.changes) ? call.changes.filter(isObject) : [];
  return first ? wordsIn(first.path) : null;
}

function wordsIn(value: Json | undefined): string | null {
  if (isString(value) && value !== '') return value;
  return Array.isArray(value) && value.length > 0 && value.every(isString) ? value.join(' ') : null;
}
