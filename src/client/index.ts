// `baton-run/client`: the operations of a server as typed functions, in Node and in browsers. Every call answers with a verdict, and
// nothing throws. It knows no operation by itself: the types come from the table, and the server refuses what there is not.
import type { Arguments, DetailsOf, Methods, OperationAnswer } from '../api/methods.ts';
import type { OperationName } from '../app/operations/table.ts';
import type { JsonObject } from '../kernel/json.ts';
import { allow, type Denied, deny } from '../kernel/verdict.ts';
import { type About, type CastPage, eventReader, type Head, type Live, type SentEntry, type TextRef } from './wire.ts';

export type { ClaimedTask as Claim, OperationAnswer as Answer, ShownCast } from '../api/methods.ts';
export type { Denied, Verdict } from '../kernel/verdict.ts';
export type { About, CastPage, Head, Live, SentEntry, TextRef } from './wire.ts';

type ClientSettings = {
  /** The address that `baton serve` prints; without it, the one that the page comes from. */
  readonly url?: string;
  readonly token: string;
  /** Instead of the one of the platform. */
  readonly fetch?: typeof fetch;
};

type ClientCall = {
  /** Ends the waiting. What the server has begun goes on. */
  readonly signal?: AbortSignal;
};

export type StreamQuery = {
  /** Begin behind this entry: 0 is everything. Without it, the stream begins at the head. */
  readonly after?: number;
  readonly cast?: string;
  /** How the kinds of entries begin. */
  readonly kinds?: readonly string[];
};

export type StreamEvent =
  | { readonly kind: 'entry'; readonly entry: SentEntry }
  | ({ readonly kind: 'live' } & Live)
  /** All entries up to here were sent. */
  | { readonly kind: 'head'; readonly seq: number }
  /** The last one: the server lets this caller have no stream, or was never reached. */
  | { readonly kind: 'end'; readonly verdict: Denied };

export type Client = Methods<ClientCall> & {
  /** Any operation by its name: `perform('task.claim', { task, owner })` is `task.claim({ task, owner })`. */
  perform<N extends OperationName>(name: N, ...given: Arguments<N, ClientCall>): Promise<OperationAnswer<DetailsOf<N>>>;
  about(options?: ClientCall): Promise<OperationAnswer<About>>;
  /**
   * The log from an entry on, and what agents do meanwhile. Where the connection is lost, it comes back behind the last
   * entry that was read: none is left out and none comes twice. It goes on until the signal or its reader ends it.
   */
  events(query?: StreamQuery, options?: ClientCall): AsyncGenerator<StreamEvent, void, void>;
  /** A page of the entries of a cast. */
  entries(
    query: { readonly cast: string; readonly after?: number; readonly limit?: number },
    options?: ClientCall,
  ): Promise<OperationAnswer<{ readonly entries: readonly SentEntry[]; readonly head: Head }>>;
  /** A cast as it was at an entry, or as it is now. */
  view(
    query: { readonly cast: string; readonly at?: number },
    options?: ClientCall,
  ): Promise<OperationAnswer<CastPage>>;
  /** A whole text by its reference. */
  text(of: Pick<TextRef, 'seq' | 'digest'>, options?: ClientCall): Promise<OperationAnswer<{ readonly text: string }>>;
};

/** Nothing is asked before the first call. */
export function connect(settings: ClientSettings): Client {
  const line = lineTo(settings);
  const perform = (name: string, input: object = {}, { signal }: ClientCall = {}) =>
    verdictOf(line(`/api/${encodeURIComponent(name)}`, { method: 'POST', body: JSON.stringify(input), signal }));
  const lookAt = async (path: string, { signal }: ClientCall = {}) => {
    const answer = await jsonOf(line(path, { signal }));
    return 'allow' in answer ? (answer as Denied) : allow('ok', answer);
  };
  const own = {
    perform,
    about: (options?: ClientCall) => lookAt('/api', options),
    events: (query: StreamQuery = {}, { signal }: ClientCall = {}) => streamOf(line, query, signal),
    entries: (
      { cast, after = 0, limit = 250 }: { cast: string; after?: number; limit?: number },
      options?: ClientCall,
    ) => lookAt(`/api/casts/${encodeURIComponent(cast)}/entries?after=${after}&limit=${limit}`, options),
    view: ({ cast, at }: { cast: string; at?: number }, { signal }: ClientCall = {}) =>
      verdictOf(line(`/api/casts/${encodeURIComponent(cast)}/view${at === undefined ? '' : `?at=${at}`}`, { signal })),
    text: async ({ seq, digest }: Pick<TextRef, 'seq' | 'digest'>, { signal }: ClientCall = {}) => {
      const answer = await line(`/api/facts/${seq}/texts/${encodeURIComponent(digest)}`, { signal });
      if (!(answer instanceof Response) || !answer.ok) return verdictOf(answer);
      return allow('ok', { text: await answer.text() });
    },
  };
  return new Proxy(own as unknown as Client, {
    get: (_, name) => own[name as keyof typeof own] ?? method(name, perform),
  });
}

type Perform = (name: string, input?: object, options?: ClientCall) => Promise<unknown>;

/** `approve` is a function, and `cast` one with functions of its own: `cast.start`. */
function method(name: string | symbol, perform: Perform): unknown {
  // Whoever awaits the client asks it for `then`.
  if (typeof name === 'symbol' || name === 'then') return undefined;
  const call = (input?: object, options?: ClientCall) => perform(name, input, options);
  return new Proxy(call, {
    get: (fn, verb) =>
      typeof verb === 'symbol' || verb === 'then' ? Reflect.get(fn, verb) : method(`${name}.${verb}`, perform),
  });
}

type Asked = {
  readonly method?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
};
type Line = (path: string, asked?: Asked) => Promise<Response | Denied>;

const TRIES_MAX = 3;
const PATIENCE_S_MAX = 10;

/** A caller that was too fast waits as long as the server says; nothing was done by then. */
function lineTo({ url = '', token, fetch: by = fetch }: ClientSettings): Line {
  const at = url.replace(/\/+$/, '');
  return async (path, { signal, headers, method = 'GET', body } = {}) => {
    for (let tried = 1; ; tried += 1) {
      try {
        const answer = await by(at + path, {
          method,
          cache: 'no-store',
          credentials: 'omit',
          redirect: 'error',
          headers: {
            ...{ authorization: `Bearer ${token}`, ...headers },
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          },
          ...(body === undefined ? {} : { body }),
          ...(signal ? { signal } : {}),
        });
        const seconds = Number(answer.headers.get('retry-after'));
        if (answer.status !== 429 || tried === TRIES_MAX || !(seconds > 0 && seconds <= PATIENCE_S_MAX)) return answer;
        await answer.body?.cancel();
        await within(seconds * 1_000, signal);
      } catch (error) {
        if (signal?.aborted) return deny('SERVER_UNREACHABLE', 'the caller stopped waiting', { stopped: true });
        return deny('SERVER_UNREACHABLE', `no answer from ${at || 'the server'}: ${whyOf(error)}`);
      }
    }
  };
}

function whyOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error && cause.message !== '' ? cause.message : message;
}

async function jsonOf(asked: Promise<Response | Denied> | Response | Denied): Promise<JsonObject> {
  const answer = await asked;
  if (!(answer instanceof Response)) return answer as unknown as JsonObject;
  try {
    const value: unknown = await answer.json();
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
  } catch {
    // It is reported below.
  }
  const why = `the answer has the status ${answer.status} and is no verdict; is this the address of a Baton server?`;
  return deny('SERVER_UNREACHABLE', why, { status: answer.status }) as unknown as JsonObject;
}

async function verdictOf(asked: Promise<Response | Denied> | Response | Denied): Promise<OperationAnswer<JsonObject>> {
  const value = await jsonOf(asked);
  if (typeof value.allow === 'boolean' && typeof value.code === 'string')
    return value as unknown as OperationAnswer<JsonObject>;
  return deny('SERVER_UNREACHABLE', 'the answer is no verdict; is this the address of a Baton server?');
}

const RETRY_MS = [500, 1_000, 2_000, 5_000, 10_000];
/** The server says something every 15 s. */
const SILENT_MS_MAX = 40_000;

async function* streamOf(
  line: Line,
  query: StreamQuery,
  signal?: AbortSignal,
): AsyncGenerator<StreamEvent, void, void> {
  const { cast, kinds = [] } = query;
  let after = query.after;
  let wasOpen = false;
  for (let tries = 0; !signal?.aborted; tries += 1) {
    const stop = new AbortController();
    const either = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
    const address = new URLSearchParams({
      ...(after === undefined ? {} : { after: `${after}` }),
      ...(cast === undefined ? {} : { cast }),
      ...(kinds.length === 0 ? {} : { kinds: kinds.join(',') }),
    });
    const resume = after === undefined ? {} : { 'last-event-id': `${after}` };
    const headers = { accept: 'text/event-stream', ...resume };
    const answer = await line(`/api/events?${address}`, { headers, signal: either });
    const isStream = answer instanceof Response && answer.ok && answer.body;
    if (isStream && answer.body) {
      wasOpen = true;
      let silence = setTimeout(() => stop.abort(), SILENT_MS_MAX);
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      const eventsIn = eventReader();
      try {
        for (;;) {
          const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }));
          if (done || value === undefined) break;
          tries = 0;
          clearTimeout(silence);
          silence = setTimeout(() => stop.abort(), SILENT_MS_MAX);
          for (const { event, data } of eventsIn(value)) {
            const read = eventOf(event, JSON.parse(data) as never);
            if (!read) continue;
            // An id that was passed on is not asked for again, whichever side stops in between.
            if (read.kind === 'entry') after = Math.max(after ?? 0, read.entry.seq);
            else if (read.kind === 'head') after = Math.max(after ?? 0, read.seq);
            yield read;
          }
        }
      } finally {
        clearTimeout(silence);
        stop.abort();
      }
    } else if (!signal?.aborted) {
      const status = answer instanceof Response ? answer.status : 0;
      const mayComeBack = status === 429 || status >= 500 || (status === 0 && wasOpen);
      if (!mayComeBack) {
        const verdict = await verdictOf(answer);
        yield { kind: 'end', verdict: verdict as Denied };
        return;
      }
      if (answer instanceof Response) await answer.body?.cancel();
    }
    if (!signal?.aborted)
      await within(RETRY_MS[Math.min(tries, RETRY_MS.length - 1)] ?? 0, signal).catch(() => undefined);
  }
}

function eventOf(event: string, data: never): StreamEvent | null {
  switch (event) {
    case 'entry':
      return { kind: 'entry', entry: data };
    case 'live':
      return { kind: 'live', ...(data as Live) };
    case 'head':
      return { kind: 'head', seq: (data as { seq: number }).seq };
    default:
      return null; // A newer server may say more.
  }
}

/** Throws where the signal ends it. */
function within(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(new Error('stopped'));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, ms);
    signal?.addEventListener('abort', end, { once: true });
  });
}
