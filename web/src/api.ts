// The server, as the page sees it: one way to ask, one way to act, one stream. Every answer is a verdict; nothing throws.
import { type About, eventReader, type Live, type SentEntry, type TextRef } from '../../src/client/wire.ts';

export type { Live, TextRef } from '../../src/client/wire.ts';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

export type Verdict<Details = Readonly<Record<string, unknown>>> =
  | { readonly allow: true; readonly code: string; readonly reason: string; readonly details: Details }
  | Refusal;
export type Refusal = {
  readonly allow: false;
  readonly code: string;
  readonly reason: string;
  readonly details: Readonly<Record<string, unknown>>;
};

export type Text = string | TextRef;

/** An entry of the log, as the stream and the pages of entries send it. What is in a fact is looked at before it is used. */
export type Entry = Omit<SentEntry, 'fact'> & {
  readonly fact: { readonly kind: string; readonly cast?: string; readonly [member: string]: unknown };
};

export type Field = {
  readonly type: 'text' | 'path' | 'flag' | 'count' | 'number' | 'list' | 'choice' | 'json';
  readonly means?: string;
  readonly required?: true | string;
  readonly of?: readonly string[] | Field;
  readonly word?: string;
  readonly hidden?: true;
  readonly example?: Json;
};
export type Operation = {
  readonly name: string;
  readonly group: string;
  readonly act: 'look' | 'steer' | 'decide' | 'govern';
  readonly means: string;
  readonly example: string;
  /** The words of its command; null where the command line has none. */
  readonly cli: string | null;
  readonly fields: Readonly<Record<string, Field>>;
  /** Whether the role of this token may do it. */
  readonly may: boolean;
};
export type Hello = Omit<About, 'operations'> & { readonly operations: readonly Operation[] };

export type Input = Readonly<Record<string, unknown>>;

const TOKEN = 'baton.token';
let token = '';

/** Takes the token out of the address, so that it is in no history and no link. */
export function readToken(): boolean {
  const given = /^#token=(.+)$/.exec(location.hash)?.[1];
  if (given !== undefined) {
    sessionStorage.setItem(TOKEN, decodeURIComponent(given));
    history.replaceState(history.state, '', location.pathname + location.search);
  }
  token = sessionStorage.getItem(TOKEN) ?? '';
  return token !== '';
}

export function keepToken(given: string): void {
  token = given.trim();
  sessionStorage.setItem(TOKEN, token);
}

/** Acts. The answer is the verdict of the operation. */
export function call<D = Readonly<Record<string, unknown>>>(name: string, input: Input = {}): Promise<Verdict<D>> {
  const body = JSON.stringify(input);
  return ask(`/api/${name}`, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
}

/** Looks. Nothing changes by it. */
export function look<D = Readonly<Record<string, unknown>>>(
  name: string,
  input: Input = {},
  signal?: AbortSignal,
): Promise<Verdict<D>> {
  const query = queryOf(input);
  return ask(`/api/${name}${query ? `?${query}` : ''}`, signal ? { signal } : {});
}

/** Who I am, what the workspace is, and what can be done in it. */
export async function hello(): Promise<Verdict<Hello>> {
  const answer = await ask<Hello>('/api');
  if (!answer.allow) return answer;
  // A person is called by the name, not by how the log writes it.
  const me = { ...answer.details.me, name: answer.details.me.name.replace(/^(?:user|token):/, '') };
  return { ...answer, details: { ...answer.details, me } };
}

function queryOf(input: Input): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(input)) {
    if (value === undefined || value === '' || value === false || value === null) continue;
    for (const each of Array.isArray(value) ? value : [value])
      query.append(name, typeof each === 'object' ? JSON.stringify(each) : String(each));
  }
  return query.toString();
}

async function ask<D>(path: string, init: RequestInit): Promise<Verdict<D>>;
async function ask<D>(path: string): Promise<Verdict<D>>;
async function ask<D>(path: string, init: RequestInit = {}): Promise<Verdict<D>> {
  try {
    const response = await send(path, init);
    const text = await response.text();
    try {
      const answer = JSON.parse(text) as Verdict<D> | D;
      // Some routes answer with what was asked for, and with a verdict only where they refuse.
      if (typeof answer === 'object' && answer !== null && 'allow' in answer) return answer as Verdict<D>;
      return { allow: true, code: 'OK', reason: 'ok', details: answer as D };
    } catch {
      return refusal('ANSWER_UNREADABLE', `The server answered ${response.status} with something that is no verdict.`);
    }
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError')
      return refusal('STOPPED', 'The question was dropped.');
    return refusal('UNREACHABLE', 'The server does not answer. Start it with `baton serve` and try again.');
  }
}

function refusal(code: string, reason: string): Refusal {
  return { allow: false, code, reason, details: {} };
}

function send(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${token}`, ...(init.headers as Record<string, string> | undefined) };
  return fetch(path, { ...init, headers, cache: init.cache ?? 'no-store', credentials: 'omit' });
}

const TEXTS_MAX = 200;
const texts = new Map<string, Promise<TextAnswer>>();

export type TextAnswer =
  | { readonly is: 'text'; readonly text: string; readonly bytes: number }
  | { readonly is: 'erased' | 'unknown' | 'unreachable' };

/** A text by its digest. It never changes, so what was read once is kept. `bytesMax` reads only its beginning. */
export function textOf({ seq, digest }: Pick<TextRef, 'seq' | 'digest'>, bytesMax?: number): Promise<TextAnswer> {
  const key = `${seq} ${digest} ${bytesMax ?? ''}`;
  const known = texts.get(key);
  if (known) return known;
  const asked = fetchText(`/api/facts/${seq}/texts/${encodeURIComponent(digest)}`, bytesMax);
  texts.set(key, asked);
  if (texts.size > TEXTS_MAX) texts.delete(texts.keys().next().value ?? '');
  // What could not be had is asked for again next time.
  void asked.then(({ is }) => is === 'text' || texts.delete(key));
  return asked;
}

async function fetchText(path: string, bytesMax: number | undefined): Promise<TextAnswer> {
  try {
    const headers: Record<string, string> = bytesMax === undefined ? {} : { range: `bytes=0-${bytesMax - 1}` };
    const response = await send(path, { headers, cache: 'default' });
    if (response.status === 410) return { is: 'erased' };
    if (!response.ok) return { is: response.status >= 500 ? 'unreachable' : 'unknown' };
    const bytes = Number(/\/(\d+)$/.exec(response.headers.get('content-range') ?? '')?.[1] ?? Number.NaN);
    const text = await response.text();
    return { is: 'text', text, bytes: Number.isNaN(bytes) ? new TextEncoder().encode(text).length : bytes };
  } catch {
    return { is: 'unreachable' };
  }
}

/** The bytes of an answer that is a file. */
export async function download(path: string): Promise<Blob | Refusal> {
  try {
    const response = await send(path);
    if (response.ok) return await response.blob();
    return (await response.json()) as Refusal;
  } catch {
    return refusal('UNREACHABLE', 'The server does not answer. Start it with `baton serve` and try again.');
  }
}

export type StreamQuery = { readonly after: number; readonly cast?: string; readonly kinds?: string };
export type StreamEvents = {
  readonly onEntries: (entries: readonly Entry[]) => void;
  readonly onLive?: (live: Live) => void;
  /** The backlog was sent, or nothing else happens. */
  readonly onHead?: (seq: number) => void;
  readonly onState: (state: StreamState) => void;
};
type StreamState =
  | { readonly is: 'open' }
  | { readonly is: 'lost'; readonly nextTryAt: number }
  | { readonly is: 'refused'; readonly refusal: Refusal };

const RETRY_MS = [1_000, 2_000, 3_000, 5_000, 10_000];
/** The server says something every 15 s; a line that is silent for so long is dead. */
const SILENT_MS_MAX = 40_000;
const FRAME_MS = 16;

/** Follows the log. It comes back by itself after the last entry that it read, until it is told to stop. */
export function stream(
  query: StreamQuery,
  events: StreamEvents,
): { readonly stop: () => void; readonly tryNow: () => void } {
  let [after, tries, isOver] = [query.after, 0, false];
  let current = new AbortController();
  let wake = (): void => undefined;
  const run = async (): Promise<void> => {
    while (!isOver) {
      current = new AbortController();
      const refused = await once(current);
      if (isOver) return;
      if (refused) return events.onState({ is: 'refused', refusal: refused });
      const delay = RETRY_MS[Math.min(tries, RETRY_MS.length - 1)] ?? 10_000;
      tries += 1;
      events.onState({ is: 'lost', nextTryAt: Date.now() + delay });
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, delay);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  };
  const once = async (abort: AbortController): Promise<Refusal | null> => {
    let silence = setTimeout(() => abort.abort(), SILENT_MS_MAX);
    try {
      const { cast, kinds } = query;
      const headers = { accept: 'text/event-stream', 'last-event-id': String(after) };
      const response = await send(`/api/events?${queryOf({ after, cast, kinds })}`, { headers, signal: abort.signal });
      if (response.status === 401 || response.status === 403) return (await response.json()) as Refusal;
      if (!response.ok || !response.body) return null;
      events.onState({ is: 'open' });
      tries = 0;
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      const eventsIn = eventReader();
      // An entry is passed on at once; of a backlog, what arrives within a frame is passed on and drawn together.
      let batch: Entry[] = [];
      let timer: ReturnType<typeof setTimeout> | undefined;
      let passedAt = 0;
      const flush = (): void => {
        clearTimeout(timer);
        timer = undefined;
        if (batch.length === 0) return;
        const entries = batch;
        batch = [];
        passedAt = performance.now();
        events.onEntries(entries);
      };
      for (;;) {
        const { done, value } = await reader.read();
        if (done) {
          flush();
          return null;
        }
        clearTimeout(silence);
        silence = setTimeout(() => abort.abort(), SILENT_MS_MAX);
        for (const { event, data } of eventsIn(value)) {
          if (event === 'entry') {
            const entry = JSON.parse(data) as Entry;
            after = Math.max(after, entry.seq);
            batch.push(entry);
          } else if (event === 'live') events.onLive?.(JSON.parse(data) as Live);
          else if (event === 'head') {
            flush();
            const { seq } = JSON.parse(data) as { seq: number };
            events.onHead?.(seq);
          }
        }
        if (performance.now() - passedAt > FRAME_MS) flush();
        else timer ??= setTimeout(flush, FRAME_MS);
      }
    } catch {
      return null;
    } finally {
      clearTimeout(silence);
    }
  };
  void run();
  return {
    stop: () => {
      isOver = true;
      current.abort();
      wake();
    },
    tryNow: () => wake(),
  };
}
