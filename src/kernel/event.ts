// Events for the outside: what agents and utilities emit besides their output, and what happens to casts and quests, from the facts of
// the log. Sinks take them in the order of the log. How far a sink has come is kept next to the log; what went wrong on the way is a fact.
import type { CastFact } from './cast/fact.ts';
import type { Entry } from './fact.ts';
import { isObject, isString, type Json, type JsonObject } from './json.ts';
import { scrub } from './secrets.ts';
import type { Pen } from './state.ts';
import { collapse, truncate } from './text.ts';
import { allow, type Verdict } from './verdict.ts';

export const SEVERITIES = ['debug', 'info', 'warning', 'error', 'critical'] as const;
type Severity = (typeof SEVERITIES)[number];

/** What one output may emit. */
export const EVENTS_MAX = 64;
export const EVENT_BYTES_MAX = 65_536;

export type SinkRequest =
  | {
      readonly kind: 'sink.stall';
      readonly sink: string;
      readonly waiting: number;
      readonly after: number;
      readonly reason: string;
    }
  | { readonly kind: 'sink.recover'; readonly sink: string; readonly after: number }
  | { readonly kind: 'sink.skip'; readonly sink: string; readonly event: number; readonly reason: string };

export function isSinkRequest(request: { readonly kind: string }): request is SinkRequest {
  return request.kind.startsWith('sink.');
}

const REASON_CHARS_MAX = 300;

export function decideSink(pen: Pen, request: SinkRequest): Verdict {
  const { sink } = request;
  if (request.kind === 'sink.recover') pen.write({ kind: 'sink.recovered', sink, after: request.after });
  else {
    const reason = truncate(collapse(scrub(request.reason).text), REASON_CHARS_MAX);
    if (request.kind === 'sink.skip') pen.write({ kind: 'sink.skipped', sink, event: request.event, reason });
    else {
      const { waiting, after } = request;
      pen.write({ kind: 'sink.stalled', sink, waiting, after, reason });
    }
  }
  return allow('noted');
}

type Emitted = Extract<CastFact, { kind: 'event.emitted' }>;

/** The members of a fact from an event of an output, which its dialect has checked. What it holds besides is kept. */
export function emittedFrom(event: JsonObject): Pick<Emitted, 'type' | 'severity' | 'message' | 'payload' | 'more'> {
  const { type, severity, message, payload, ...rest } = event;
  const known = SEVERITIES.find((one) => one === severity) ?? 'info';
  return {
    type: String(type),
    severity: known,
    ...(isString(message) ? { message } : {}),
    ...(isObject(payload) ? { payload } : {}),
    ...(Object.keys(rest).length === 0 ? {} : { more: rest }),
  };
}

/** An event as sinks get it, without what is known of its cast only. */
export type OutEvent = {
  /** The same however often it is delivered. */
  readonly id: string;
  readonly type: string;
  readonly severity: Severity;
  readonly message: string | null;
  readonly payload: JsonObject;
  readonly at: string;
  /** The number of its entry in the log. */
  readonly seq: number;
  readonly cast: string | null;
  readonly socket: string | null;
  readonly turn: number | null;
  readonly item: string | null;
  /** Among the events that the cast emitted, from 1; null for what happened to it. */
  readonly sequence: number | null;
  readonly more: Json;
  /** The quest that it is about; a cast knows its quest. */
  readonly quest: string | null;
};

/** By the kind of the fact: the type of the event, and how much it matters. */
const LIFECYCLE: Readonly<Record<string, readonly [type: string, severity: Severity]>> = {
  'cast.started': ['lifecycle.cast.started', 'info'],
  'cast.completed': ['lifecycle.cast.completed', 'info'],
  'cast.failed': ['lifecycle.cast.failed', 'error'],
  'cast.aborted': ['lifecycle.cast.cancelled', 'warning'],
  'cast.waiting': ['lifecycle.cast.waiting', 'warning'],
  'cast.paused': ['lifecycle.cast.paused', 'info'],
  'cast.resumed': ['lifecycle.cast.resumed', 'info'],
  'cast.recast': ['lifecycle.cast.revived', 'info'],
  'turn.started': ['lifecycle.socket.started', 'debug'],
  'turn.accepted': ['lifecycle.socket.completed', 'debug'],
  'quest.added': ['lifecycle.quest.added', 'debug'],
  'quest.started': ['lifecycle.quest.started', 'info'],
  'quest.ended': ['lifecycle.quest.ended', 'info'],
};

/** Which facts may be events. */
export function isEvent({ kind }: { readonly kind: string }): boolean {
  return kind === 'event.emitted' || Object.hasOwn(LIFECYCLE, kind);
}

/** The event that an entry is, or null. */
export function eventOf({ seq, at, fact }: Pick<Entry, 'seq' | 'at' | 'fact'>): OutEvent | null {
  const common = { seq, at, id: `evt-${seq}` };
  if (fact.kind === 'event.emitted') {
    const { cast, socket, turn, item, sequence, type, severity, message = null, payload = {}, more = null } = fact;
    return { ...common, type, severity, message, payload, cast, socket, turn, item, sequence, more, quest: null };
  }
  const row = Object.hasOwn(LIFECYCLE, fact.kind) ? LIFECYCLE[fact.kind] : undefined;
  if (!row) return null;
  const [type, severity] = row;
  const members = fact as unknown as Readonly<Record<string, Json | undefined>>;
  const text = (name: string) => (isString(members[name]) ? members[name] : null);
  const item = isObject(members.item) ? members.item.key : members.item;
  const payload: Record<string, Json> = {};
  for (const name of ['code', 'reason', 'status', 'loadout', 'quest', 'title', 'castId'] as const)
    if (members[name] !== undefined) payload[name] = members[name];
  return {
    ...{ ...common, type, severity, message: text('reason'), payload, cast: text('cast') ?? text('castId') },
    ...{
      // A failure names it in its details.
      socket:
        text('socket') ??
        (isObject(members.details) && isString(members.details.socket) ? members.details.socket : null),
      turn: typeof members.turn === 'number' ? members.turn : null,
      item: isString(item) ? item : null,
      sequence: null,
      more: null,
      quest: text('quest'),
    },
  };
}

export type EventFilter = { readonly include?: readonly string[]; readonly exclude?: readonly string[] };

/** Whether a sink takes events of this type. `*` fits any part of a name; what is excluded wins. */
export function takes({ include = ['*'], exclude = [] }: EventFilter, type: string): boolean {
  return include.some((glob) => fits(glob, type)) && !exclude.some((glob) => fits(glob, type));
}

/** Without regular expressions, which a long pattern could make slow. */
function fits(glob: string, text: string): boolean {
  const parts = glob.split('*');
  const [first = ''] = parts;
  const last = parts.at(-1) ?? '';
  if (parts.length === 1) return glob === text;
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at);
    if (found < 0 || found + part.length > text.length - last.length) return false;
    at = found + part.length;
  }
  return true;
}
