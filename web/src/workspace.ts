// The state of the page: who I am, whether the line to the server is open, and what was asked of it. Facts of the stream do
// not change answers here; they say which answers are old, and those are asked again. So no rule is written twice.
import { useCallback, useEffect, useMemo, useSyncExternalStore } from 'react';
import * as api from './api.ts';

export type Connection =
  | { readonly is: 'opening' }
  | { readonly is: 'live' }
  | { readonly is: 'lost'; readonly since: number; readonly nextTryAt: number }
  | { readonly is: 'no-token'; readonly refusal: api.Refusal | null };

export type Workspace = {
  readonly connection: Connection;
  readonly hello: api.Hello | null;
  readonly seq: number;
  /** How many entries came after the line was lost; it is shown for a moment. */
  readonly caughtUp: number | null;
};

let state: Workspace = { connection: { is: 'opening' }, hello: null, seq: 0, caughtUp: null };
const listeners = new Set<() => void>();
const followers = new Set<api.StreamEvents>();
let line: ReturnType<typeof api.stream> | null = null;

function set(change: Partial<Workspace>): void {
  state = { ...state, ...change };
  for (const each of listeners) each();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** One part of it: who asks for another part is not drawn again with every entry. */
export function useWorkspace<Part extends keyof Workspace>(part: Part): Workspace[Part] {
  return useSyncExternalStore(subscribe, () => state[part]);
}

/** Whether the role may do it. Without the right, the act is not shown at all. */
export function useMay(): (operation: string) => boolean {
  const hello = useWorkspace('hello');
  const may = useMemo(() => new Set(hello?.operations.filter((each) => each.may).map(({ name }) => name)), [hello]);
  return useCallback((operation: string) => may.has(operation), [may]);
}

export function useOperation(name: string): api.Operation | undefined {
  return useWorkspace('hello')?.operations.find((each) => each.name === name);
}

/** Whether an act can reach the server now. */
export function useIsOnline(): boolean {
  return useSyncExternalStore(subscribe, () => state.connection.is === 'live');
}

/** Opens the line. With a token that the server does not know, the page asks for another one. */
export async function open(): Promise<void> {
  line?.stop();
  set({ connection: { is: 'opening' } });
  if (!api.readToken()) return set({ connection: { is: 'no-token', refusal: null } });
  const answer = await api.hello();
  if (!answer.allow) {
    if (answer.code !== 'UNREACHABLE' && answer.code !== 'ANSWER_UNREADABLE')
      return set({ connection: { is: 'no-token', refusal: answer } });
    const since = state.connection.is === 'lost' ? state.connection.since : Date.now();
    set({ connection: { is: 'lost', since, nextTryAt: Date.now() + 3_000 } });
    setTimeout(() => void open(), 3_000);
    return;
  }
  set({ hello: answer.details, seq: answer.details.head.seq });
  follow(answer.details.head.seq);
}

export function tryNow(): void {
  line?.tryNow();
}

function follow(after: number): void {
  let [missed, isBehind, lostSince] = [0, false, 0];
  line = api.stream(
    { after },
    {
      onEntries(entries) {
        const last = entries.at(-1);
        if (!last) return;
        if (isBehind) missed += entries.length;
        set({ seq: Math.max(state.seq, last.seq) });
        staleAfter(entries);
        for (const each of followers) each.onEntries(entries);
      },
      onLive(live) {
        for (const each of followers) each.onLive?.(live);
      },
      onHead(seq) {
        set({ seq: Math.max(state.seq, seq) });
        for (const each of followers) each.onHead?.(seq);
        if (!isBehind) return;
        isBehind = false;
        const count = missed;
        missed = 0;
        set({ caughtUp: count });
        setTimeout(() => state.caughtUp === count && set({ caughtUp: null }), 4_000);
      },
      onState(now) {
        for (const each of followers) each.onState(now);
        if (now.is === 'refused') return set({ connection: { is: 'no-token', refusal: now.refusal } });
        if (now.is === 'lost') {
          if (lostSince === 0) lostSince = Date.now();
          isBehind = true;
          return set({ connection: { is: 'lost', since: lostSince, nextTryAt: now.nextTryAt } });
        }
        const wasLost = lostSince !== 0;
        lostSince = 0;
        set({ connection: { is: 'live' } });
        // The server may have been another program meanwhile; what is shown is asked again.
        if (wasLost) for (const each of answers.values()) each.refresh();
      },
    },
  );
}

/** Entries of the workspace as they come. One line serves the whole page. */
export function useEntries(events: Partial<api.StreamEvents>): void {
  useEffect(() => {
    const follower: api.StreamEvents = { onEntries: () => undefined, onState: () => undefined, ...events };
    followers.add(follower);
    return () => void followers.delete(follower);
  }, [events]);
}

export type Answer<D> = {
  /** The last good answer; it stays while a newer one is asked for. */
  readonly details: D | undefined;
  readonly refusal: api.Refusal | undefined;
  readonly isBusy: boolean;
};

type Asked = {
  readonly key: string;
  readonly changes: readonly string[];
  readonly refresh: () => void;
  answer: Answer<unknown>;
  readonly listeners: Set<() => void>;
  timer: ReturnType<typeof setTimeout> | undefined;
};

const answers = new Map<string, Asked>();
const STALE_MS = 150;
const ANSWERS_MAX = 60;

function staleAfter(entries: readonly api.Entry[]): void {
  for (const asked of answers.values()) {
    if (asked.timer !== undefined || asked.listeners.size === 0) continue;
    if (!entries.some(({ fact }) => asked.changes.some((prefix) => fact.kind.startsWith(prefix)))) continue;
    asked.timer = setTimeout(asked.refresh, STALE_MS);
  }
}

function askedFor(name: string, input: api.Input, changes: readonly string[]): Asked {
  const key = `${name} ${JSON.stringify(input)}`;
  const known = answers.get(key);
  if (known) return known;
  let runs = 0;
  const put = (answer: Answer<unknown>): void => {
    asked.answer = answer;
    for (const each of asked.listeners) each();
  };
  const asked: Asked = {
    ...{ key, changes, listeners: new Set(), timer: undefined },
    answer: { details: undefined, refusal: undefined, isBusy: true },
    refresh() {
      clearTimeout(asked.timer);
      asked.timer = undefined;
      runs += 1;
      const run = runs;
      if (!asked.answer.isBusy) put({ ...asked.answer, isBusy: true });
      void api.look(name, input).then((verdict) => {
        // A later question is on its way; its answer counts.
        if (run !== runs) return;
        if (verdict.allow) put({ details: verdict.details, refusal: undefined, isBusy: false });
        else put({ details: asked.answer.details, refusal: verdict, isBusy: false });
      });
    },
  };
  answers.set(key, asked);
  for (const [old, { listeners: used }] of answers) {
    if (answers.size <= ANSWERS_MAX) break;
    if (used.size === 0 && old !== key) answers.delete(old);
  }
  return asked;
}

/**
 * The answer of an operation that looks. It is asked again when an entry comes whose kind begins with one of `changes`.
 * Without a name, nothing is asked.
 */
export function useLook<D>(
  name: string | null,
  input: api.Input = {},
  changes: readonly string[] = [],
): Answer<D> & { readonly refresh: () => void } {
  const key = JSON.stringify([name, input, changes]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key holds all of them by value
  const asked = useMemo(() => (name === null ? null : askedFor(name, input, changes)), [key]);
  const listen = useCallback(
    (listener: () => void) => {
      if (!asked) return () => undefined;
      if (asked.listeners.size === 0) asked.refresh();
      asked.listeners.add(listener);
      return () => void asked.listeners.delete(listener);
    },
    [asked],
  );
  const answer = useSyncExternalStore(listen, () => asked?.answer ?? NOT_ASKED) as Answer<D>;
  return { ...answer, refresh: asked?.refresh ?? (() => undefined) };
}

const NOT_ASKED: Answer<unknown> = { details: undefined, refusal: undefined, isBusy: false };

/** Asks everything that is shown once more, for example after an act. */
export function refreshAll(): void {
  for (const each of answers.values()) if (each.listeners.size > 0) each.refresh();
}
