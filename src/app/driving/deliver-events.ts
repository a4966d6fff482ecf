// Delivers events from the log to the sinks of the configuration. A cursor next to the log says how far each sink has come; what a sink
// did not take stays next, and is tried again later, by this process or another one. So nothing is lost where a sink, this process or
// the machine is down. An event may come twice, with the same id.
import { appendFileSync, closeSync, constants, fstatSync, openSync } from 'node:fs';
import { resolve } from 'node:path';
import { thisDriver } from '../../engine/lease.ts';
import type { SinkRow, SinkState } from '../../engine/sink-register.ts';
import { ENGINE, type Store } from '../../engine/store.ts';
import { isTrusted } from '../../git/folder-trust.ts';
import { type EventFilter, eventOf, isEvent, type OutEvent, takes } from '../../kernel/event.ts';
import { checkFields } from '../../kernel/graph/issue.ts';
import { layerOf } from '../../kernel/graph/layers.ts';
import { EVENTS } from '../../kernel/graph/project-fields.ts';
import { isObject, type JsonObject } from '../../kernel/json.ts';
import { sectionIn } from '../../workspace/sections.ts';
import { postJson } from '../connection.ts';
import { socketName } from '../views/in-words.ts';
import type { Workspace } from '../workspace.ts';
import { run, signatureOf, TIMEOUT_MS } from './send.ts';

export type Sink = EventFilter & {
  readonly name: string;
  /** It needs a person's trust in the folder then, before it writes, sends or runs anything. */
  readonly isOfProject: boolean;
  readonly file?: string;
  readonly webhook?: string;
  readonly secretVariable?: string;
  readonly command?: readonly string[];
  readonly timeoutMs?: number;
  readonly waitingMax?: number;
};

type Place = Pick<Workspace, 'dir' | 'configFile' | 'env' | 'program' | 'stateDir'>;
type Reader = Pick<Store, 'read' | 'view' | 'lease' | 'submit'>;

/** The sinks of all layers together; `check` names their mistakes, and a cast goes on without what is wrong here. */
export function sinksOf(place: Pick<Place, 'dir' | 'configFile' | 'env'>): readonly Sink[] {
  const read = sectionIn(place, 'events');
  if (!read.ok || !isObject(read.section)) return [];
  const { section, layers, merged } = read;
  const issues = [...checkFields(section, EVENTS, { path: 'events', code: 'INVALID_CONFIG', what: 'events' })];
  if (!isObject(section.sinks) || issues.some(({ level }) => level === 'error')) return [];
  return Object.entries(section.sinks).flatMap(([name, sink]) => {
    if (!isObject(sink)) return [];
    const isOfProject = layerOf(layers, ['events', 'sinks', name], merged)?.name === 'project';
    return [{ ...(sink as Omit<Sink, 'name' | 'isOfProject'>), name, isOfProject }];
  });
}

/** Entries are read so many at a time: more than that is never kept in memory. */
const PAGE = 256;
const WAITING_MAX = 1_000;
const BACKOFF_MS = 1_000;
const BACKOFF_MS_MAX = 300_000;
/** How long a process that ends waits for what it has just caused. */
const END_MS_MAX = 10_000;

type Delivering = {
  /** Something may have been appended. */
  wake(): void;
  /** Everything is delivered, or waits for another try. */
  settled(): Promise<void>;
  close(): void;
};

const NONE: Delivering = { wake: () => undefined, settled: async () => undefined, close: () => undefined };

/** Delivers while a cast is driven, a queue is followed or a server runs. `say` gets each trouble once. */
export async function keepDelivering(place: Place, store: Reader, say: (line: string) => void): Promise<Delivering> {
  const sinks = sinksOf(place);
  if (sinks.length === 0) return NONE;
  const reported = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let isAgain = false;
  let running: Promise<void> | null = null;
  const tell = (sink: string, why: string) => {
    if (reported.has(sink)) return;
    reported.add(sink);
    say(`Events wait for the sink ${sink}: ${why}. None is lost; \`${place.program} events sinks\` shows it.`);
  };
  const round = async () => {
    do {
      isAgain = false;
      let next = Number.POSITIVE_INFINITY;
      for (const sink of sinks) {
        const state = await deliver(place, store, sink).catch((error: Error) => ({ why: error.message, nextAt: null }));
        if (state === null || isClosed) continue;
        if (state.why !== '') tell(sink.name, state.why);
        else reported.delete(sink.name);
        if (state.nextAt !== null && state.nextAt > 0) next = Math.min(next, state.nextAt);
      }
      clearTimeout(timer);
      if (Number.isFinite(next) && !isClosed) timer = setTimeout(wake, Math.max(100, next - Date.now())).unref();
    } while (isAgain && !isClosed);
  };
  const wake = () => {
    if (isClosed) return;
    isAgain = true;
    running ??= round().finally(() => {
      running = null;
    });
  };
  // A new sink begins here, before the work of this process. The work does not wait for the deliveries.
  for (const { name } of sinks) await store.lease('takeSink', name, thisDriver(), Date.now());
  wake();
  return {
    wake,
    async settled() {
      wake();
      const limit = new Promise<void>((end) => setTimeout(end, END_MS_MAX).unref());
      await Promise.race([running ?? Promise.resolve(), limit]);
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

/** A server delivers what processes that ended have left. */
export async function deliverWhileServing(
  workspace: Workspace,
  say: (line: string) => void,
): Promise<{ close(): void }> {
  if (sinksOf(workspace).length === 0) return NONE;
  const store = workspace.ledgerStore({ begins: true });
  const delivering = await keepDelivering(workspace, store, say);
  const unwatch = store.watch(delivering.wake);
  return {
    close() {
      unwatch();
      delivering.close();
    },
  };
}

/** Two casts of one process must not deliver to the same sink at once. */
const busy = new Set<string>();

/**
 * Delivers what waits for a sink, in order. Answers how far it has come; null where another one delivers. `isForced` tries now; what
 * is not after `from` is left out.
 */
export async function deliver(
  place: Place,
  store: Reader,
  sink: Sink,
  isForced = false,
  from = 0,
): Promise<SinkState | null> {
  const key = `${place.stateDir}\u0000${sink.name}`;
  if (busy.has(key)) return null;
  busy.add(key);
  try {
    const row = await store.lease('takeSink', sink.name, thisDriver(), Date.now());
    return row && (await deliverFrom(place, store, sink, { ...row, after: Math.max(row.after, from) }, isForced));
  } finally {
    busy.delete(key);
  }
}

async function deliverFrom(
  place: Place,
  store: Reader,
  sink: Sink,
  row: SinkRow,
  isForced: boolean,
): Promise<SinkState> {
  const { after, tries, nextAt, why, isStalled } = row;
  let state: SinkState = { after, tries, nextAt, why, isStalled };
  const move = (to: SinkState, releases = false) => {
    state = to;
    return store.lease('moveSink', sink.name, thisDriver(), to, Date.now(), releases);
  };
  // What a person has trusted since need not wait for the next try.
  const isFreed = why.startsWith(UNTRUSTED) && mayWork(place, sink);
  if (nextAt > Date.now() && !isForced && !isFreed) {
    const isLate = !isStalled && (await stall(place, store, sink, state));
    await move({ ...state, isStalled: isStalled || isLate }, true);
    return state;
  }
  for (;;) {
    const entries = await store.read({ after: state.after, limit: PAGE });
    for (const entry of entries) {
      const event = isEvent(entry.fact) ? eventOf(entry) : null;
      if (!event || !takes(sink, event.type)) continue;
      const problem = await send(place, sink, await described(place, store, event));
      if (problem !== null) {
        await move(await failed(place, store, sink, { ...state, after: event.seq - 1 }, problem), true);
        return state;
      }
      if (state.isStalled) await store.submit({ kind: 'sink.recover', sink: sink.name, after: event.seq }, ENGINE);
      if (!(await move({ after: event.seq, tries: 0, nextAt: 0, why: '', isStalled: false }))) return state;
    }
    const last = entries.at(-1);
    if (last && last.seq > state.after) await move({ ...state, after: last.seq });
    if (entries.length < PAGE) break;
  }
  await move(state, true);
  return state;
}

/** The next try, later each time. */
async function failed(place: Place, store: Reader, sink: Sink, before: SinkState, why: string): Promise<SinkState> {
  const tries = before.tries + 1;
  const nextAt = Date.now() + Math.min(BACKOFF_MS_MAX, BACKOFF_MS * 2 ** Math.min(tries - 1, 20));
  const state = { ...before, tries, nextAt, why };
  return { ...state, isStalled: before.isStalled || (await stall(place, store, sink, state)) };
}

/** What was counted for a sink so far, so that counting again reads only what came since. */
const counts = new Map<string, { readonly after: number; readonly at: number; readonly waiting: number }>();

/** Whether more waits than the bound. The log says so, once. */
async function stall({ stateDir }: Place, store: Reader, sink: Sink, { after, why }: SinkState): Promise<boolean> {
  const { name, waitingMax = WAITING_MAX } = sink;
  const key = `${stateDir}\u0000${name}`;
  const known = counts.get(key);
  const from = known?.after === after ? known : { after, at: after, waiting: 0 };
  const { seq } = await store.view('head');
  const waiting = from.waiting + (await waitingFor(store, sink, from.at, waitingMax + 1));
  counts.set(key, { after, at: Math.max(from.at, seq), waiting });
  if (waiting <= waitingMax) return false;
  const counted = Math.min(waiting, waitingMax + 1);
  await store.submit({ kind: 'sink.stall', sink: name, waiting: counted, after, reason: why }, ENGINE);
  return true;
}

/** How many events wait for a sink, counted up to `max`. */
export async function waitingFor(store: Pick<Store, 'read'>, sink: Sink, after: number, max: number): Promise<number> {
  let waiting = 0;
  for (let at = after; waiting < max; ) {
    const entries = await store.read({ after: at, limit: PAGE, texts: 'digest' });
    for (const entry of entries) {
      const event = isEvent(entry.fact) ? eventOf(entry) : null;
      if (event && takes(sink, event.type)) waiting += 1;
    }
    const last = entries.at(-1);
    if (!last) break;
    at = last.seq;
  }
  return Math.min(waiting, max);
}

/** What a sink gets: the event, with what is known of its cast. */
async function described({ dir }: Place, store: Pick<Store, 'read'>, event: OutEvent): Promise<JsonObject> {
  const [begun] =
    event.cast === null ? [] : await store.read({ after: 0, limit: 1, cast: event.cast, texts: 'digest' });
  const cast = begun?.fact.kind === 'cast.started' ? begun.fact : null;
  const { more, ...rest } = event;
  return {
    ...rest,
    ...(isObject(more) ? { more } : {}),
    step: cast && event.socket !== null ? socketName(cast.rules, event.socket) : null,
    loadout: cast?.loadout ?? null,
    quest: cast?.quest ?? event.quest,
    workspace: dir,
  };
}

const UNTRUSTED = 'the folder is not trusted';

function mayWork({ dir, env }: Place, { isOfProject }: Sink): boolean {
  return !isOfProject || isTrusted(dir, env);
}

async function send(place: Place, sink: Sink, event: JsonObject): Promise<string | null> {
  const { dir, env, program } = place;
  if (!mayWork(place, sink)) return `${UNTRUSTED}; \`${program} trust\` lets it send`;
  const body = JSON.stringify(event);
  const { file, webhook, command, secretVariable, timeoutMs = TIMEOUT_MS } = sink;
  try {
    if (file !== undefined) return append(resolve(dir, file), `${body}\n`);
    if (command !== undefined) return await run(command, `${body}\n`, { cwd: dir, env, timeoutMs });
    if (webhook === undefined) return 'it says neither file nor webhook nor command';
    if (secretVariable === undefined) return await postJson(webhook, body, {}, timeoutMs);
    const secret = env[secretVariable];
    if (!secret) return `the variable ${secretVariable} is not set`;
    const signature = signatureOf({ id: String(event.id), secret, now: Date.now() }, body);
    return await postJson(webhook, body, signature, timeoutMs);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** A plain file only: a link could lead anywhere, and a pipe could keep us waiting. */
function append(path: string, line: string): null {
  const flags =
    constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = openSync(path, flags, 0o600);
  try {
    if (!fstatSync(file).isFile()) throw new Error(`${path} is not a plain file`);
    appendFileSync(file, line);
  } finally {
    closeSync(file);
  }
  return null;
}
