// Events and the sinks that take them: what was emitted, how far each sink has come, delivering now, and leaving one event out.
import { eventOf, isEvent, type OutEvent, takes } from '../../kernel/event.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { nearestName } from '../../kernel/text.ts';
import { allow, deny } from '../../kernel/verdict.ts';
import { UsageError } from '../../workspace/locate.ts';
import { deliver, type Sink, sinksOf, waitingFor } from '../driving/deliver-events.ts';
import { nameCast } from '../name-cast.ts';
import type { WorkspaceStore } from '../store.ts';
import type { Workspace } from '../workspace.ts';
import type { Operation } from './table.ts';

const SHOWN = 50;
const PAGE = 1_000;
/** Counting further than this takes long and tells no more. */
const COUNTED_MAX = 100_000;

/** The newest ones, oldest first. Without `all` only those that outputs emitted. */
export const eventsList: Operation<'event.list'> = async (workspace, input) => {
  if (!workspace.hasLog()) return allow('0 events', { events: [] });
  const { all = false, limit = SHOWN, after = 0, type } = input;
  const store = workspace.castStore();
  const cast = input.cast === undefined ? undefined : (await nameCast(store, input.cast, workspace.program)).cast;
  const about = { ...(cast === undefined ? {} : { cast }), ...(all ? {} : { kindPrefix: 'event.' }) };
  const found: OutEvent[] = [];
  for (let at = after; ; ) {
    const entries = await store.read({ ...about, after: at, limit: PAGE });
    for (const entry of entries) {
      const event = isEvent(entry.fact) ? eventOf(entry) : null;
      if (event && (type === undefined || takes({ include: [type] }, event.type))) found.push(event);
    }
    found.splice(0, Math.max(0, found.length - limit));
    const last = entries.at(-1);
    if (!last || entries.length < PAGE) break;
    at = last.seq;
  }
  return allow(`${found.length} events`, { events: found as unknown as JsonObject[] });
};

export type ShownSink = {
  readonly name: string;
  readonly to: string;
  /** The last entry of the log that it has; null before the first delivery began. */
  readonly after: number | null;
  readonly waiting: number;
  readonly tries: number;
  readonly nextAt: string | null;
  readonly why: string;
  readonly isStalled: boolean;
};

export const eventsSinks: Operation<'event.sinks'> = async (workspace) => {
  const sinks = sinksOf(workspace);
  const shown = workspace.hasLog() ? await shownSinks(workspace.castStore(), sinks) : sinks.map(unused);
  const down = shown.filter(({ why }) => why !== '').length;
  return allow(`${shown.length} sinks, ${down} in trouble`, { sinks: shown as unknown as JsonObject[] });
};

async function shownSinks(store: WorkspaceStore, sinks: readonly Sink[]): Promise<readonly ShownSink[]> {
  const rows = await store.view('sinks');
  return Promise.all(
    sinks.map(async (sink) => {
      const row = Object.hasOwn(rows, sink.name) ? rows[sink.name] : undefined;
      if (!row) return unused(sink);
      const { after, tries, nextAt, why, isStalled } = row;
      const waiting = await waitingFor(store, sink, after, COUNTED_MAX);
      const next = nextAt > 0 ? new Date(nextAt).toISOString() : null;
      return { ...unused(sink), after, waiting, tries, nextAt: next, why, isStalled };
    }),
  );
}

function unused({ name, file, webhook, command }: Sink): ShownSink {
  const to = file ?? webhook ?? (command ?? []).join(' ');
  return { name, to, after: null, waiting: 0, tries: 0, nextAt: null, why: '', isStalled: false };
}

export const eventsDeliver: Operation<'event.deliver'> = async (workspace, { sink: name }) => {
  const chosen = name === undefined ? sinksOf(workspace) : [sinkNamed(workspace, name)];
  if (chosen.length === 0) return deny('BAD_USAGE', NO_SINKS, {});
  const store = workspace.ledgerStore({ begins: true });
  const troubles: string[] = [];
  for (const sink of chosen) {
    const state = await deliver(workspace, store, sink, true);
    if (state === null) troubles.push(`${sink.name}: another process delivers to it`);
    else if (state.why !== '') troubles.push(`${sink.name}: ${state.why}`);
  }
  const sinks = (await shownSinks(store, chosen)) as unknown as JsonObject[];
  if (troubles.length > 0)
    return deny('NOT_ALLOWED_NOW', `not delivered: ${troubles.join('; ')}; nothing is lost`, { sinks });
  return allow(`nothing waits for ${chosen.map((sink) => sink.name).join(', ')}`, { sinks });
};

/** For an event that a sink will never take: it is left out, which the log says, and the next one is tried. */
export const eventsSkip: Operation<'event.skip'> = async (workspace, { sink: name, reason }, { actor }) => {
  const sink = sinkNamed(workspace, name);
  const store = workspace.ledgerStore({ begins: true });
  const before = await deliver(workspace, store, sink, true);
  if (before === null) return deny('NOT_ALLOWED_NOW', `another process delivers to ${name}; try again`, { sink: name });
  if (before.why === '')
    return deny('NOT_ALLOWED_NOW', `nothing waits for ${name}, so there is nothing to leave out`, { sink: name });
  const event = await nextFor(store, sink, before.after);
  if (event === null) return deny('NOT_ALLOWED_NOW', `nothing waits for ${name}`, { sink: name });
  const noted = await store.submit({ kind: 'sink.skip', sink: name, event: event.seq, reason }, actor);
  if (!noted.allow) return noted;
  const state = await deliver(workspace, store, sink, true, event.seq);
  const more = state && state.why !== '' ? `; the next one fails, too: ${state.why}` : '';
  return allow(`${name} leaves out entry ${event.seq} (${event.type})${more}`, { sink: name, event: event.seq });
};

async function nextFor(store: WorkspaceStore, sink: Sink, after: number): Promise<OutEvent | null> {
  for (let at = after; ; ) {
    const entries = await store.read({ after: at, limit: PAGE, texts: 'digest' });
    for (const entry of entries) {
      const event = isEvent(entry.fact) ? eventOf(entry) : null;
      if (event && takes(sink, event.type)) return event;
    }
    const last = entries.at(-1);
    if (!last) return null;
    at = last.seq;
  }
}

const NO_SINKS =
  'the configuration names no sink that can be read; write "events": {"sinks": {"log": {"file": "events.jsonl"}}}';

function sinkNamed(workspace: Workspace, name: string): Sink {
  const sinks = sinksOf(workspace);
  const found = sinks.find((sink) => sink.name === name);
  if (found) return found;
  const names = sinks.map((sink) => sink.name);
  const near = nearestName(name, names);
  const guess = near === null ? '' : `did you mean ${near}? `;
  throw new UsageError(
    `there is no sink ${name}; ${guess}${names.length === 0 ? NO_SINKS : `there are: ${names.join(', ')}`}`,
  );
}
