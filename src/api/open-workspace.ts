// A workspace for programs. Its methods are made from the table of operations: `task.claim` is `workspace.task.claim(input)`.
// Every call answers with a verdict and runs in this process. Nothing throws.
import { type Actor, shownToken } from '../access/actor.ts';
import { actorHere } from '../access/who-acts.ts';
import type { LiveNews, CastNews as NewsOfWatch } from '../app/look-at-cast.ts';
import type { OperationEvent } from '../app/operation.ts';
import { OPERATIONS, type OperationName } from '../app/operations/table.ts';
import { answer, type Given } from '../app/perform.ts';
import { flat, type LoggedFact } from '../app/views/in-words.ts';
import { Workspace } from '../app/workspace.ts';
import { deny, type Verdict } from '../kernel/verdict.ts';
import { locate } from '../workspace/locate.ts';
import type { Arguments, DetailsOf, Methods, OperationAnswer, OperationInput } from './methods.ts';

export type { Actor } from '../access/actor.ts';

export type CallOptions = {
  /** Ends the call. A cast that the call drives is paused. */
  readonly signal?: AbortSignal;
  /** Receives what happens while the call runs. */
  readonly onEvent?: (event: OperationEvent) => void;
};

export type OpenWorkspace = Methods<CallOptions> & {
  /** Any operation by its name: `perform('task.claim', { task, owner })` is `task.claim({ task, owner })`. */
  perform<N extends OperationName>(
    name: N,
    ...given: Arguments<N, CallOptions>
  ): Promise<OperationAnswer<DetailsOf<N>>>;
  /** `cast.watch` as a stream: the facts of the cast from its first one on, and what its agents do meanwhile. */
  events(
    input: Pick<OperationInput<'cast.watch'>, 'cast'>,
    options?: Pick<CallOptions, 'signal'>,
  ): AsyncIterableIterator<CastEvent>;
  /** Ends the calls that still run. A cast that one of them drives is paused; others go on. */
  close(): Promise<void>;
};

export type WorkspaceSettings = {
  /** Who calls. Without it, the person or agent that this process belongs to. */
  readonly actor?: Actor;
  /** The environment in which everything is done. Without it, that of this process. */
  readonly env?: NodeJS.ProcessEnv;
};

type Perform = (name: OperationName, given?: Given, options?: CallOptions) => Promise<OperationAnswer<never>>;

/** `dir` is the project directory. */
export function openWorkspace(dir: string, { actor, env = process.env }: WorkspaceSettings = {}): OpenWorkspace {
  // Nothing that a cast starts inherits the token.
  const shown = shownToken(env);
  const closing = new AbortController();
  const running = new Set<Promise<unknown>>();
  const within = (signal?: AbortSignal) => (signal ? AbortSignal.any([signal, closing.signal]) : closing.signal);

  let open: { readonly workspace: Workspace; readonly actor: Actor } | null = null;
  /** The folder is looked for with each call: it may come and go. */
  const opened = () => {
    if (closing.signal.aborted) return deny('NOT_ALLOWED_NOW', 'this workspace was closed; open it again');
    const located = locate(dir, env, process.cwd());
    if (!located) return deny('BAD_USAGE', `there is no folder ${dir}; open an existing one`, { dir });
    if (open?.workspace.stateDir !== located.stateDir) {
      void open?.workspace.close().catch(() => undefined);
      const workspace = new Workspace(located, { env });
      open = { workspace, actor: actor ?? actorHere(workspace, { shown }) };
    }
    return open;
  };
  const perform: Perform = async (name, given = {}, { signal, onEvent = () => undefined } = {}) => {
    const at = opened();
    if ('code' in at) return at;
    const work = answer(at.workspace, name, given, { actor: at.actor, signal: within(signal), onEvent });
    running.add(work);
    return (await work.finally(() => running.delete(work))) as OperationAnswer<never>;
  };
  return {
    ...methodsOf(perform),
    perform: perform as OpenWorkspace['perform'],
    events: ({ cast }, { signal } = {}) =>
      castEvents((onEvent, stop) => perform('cast.watch', { cast }, { onEvent, signal: stop }), within(signal)),
    async close() {
      closing.abort();
      await Promise.allSettled(running);
      await open?.workspace.close();
    },
  };
}

function methodsOf(perform: Perform): Methods<CallOptions> {
  const methods: Record<string, unknown> = {};
  for (const name of Object.keys(OPERATIONS) as OperationName[]) {
    const method = (given?: Given, options?: CallOptions) => perform(name, given, options);
    const [first = name, verb] = name.split('.');
    methods[first] = verb === undefined ? method : { ...(methods[first] as object | undefined), [verb]: method };
  }
  return methods as Methods<CallOptions>;
}

export type WatchedNews = { readonly kind: 'fact'; readonly fact: LoggedFact } | LiveNews;

/** The last one is the end. Its verdict says whether the cast ended, waits, was left, or does not exist. */
export type CastEvent = WatchedNews | { readonly kind: 'end'; readonly verdict: Verdict };

const LIVE_WAITING_MAX = 1_000;

/**
 * What happens in a cast, for a program that reads at its own pace. Every fact is delivered, in order. Live news are dropped for a slow
 * reader. Watching begins with the first request for an event and ends when the reader stops.
 */
async function* castEvents(
  watch: (onEvent: (event: OperationEvent) => void, signal: AbortSignal) => Promise<Verdict>,
  signal: AbortSignal,
): AsyncGenerator<CastEvent, void, void> {
  const stop = new AbortController();
  const waiting: CastEvent[] = [];
  let wake = () => {};
  const put = (...events: readonly CastEvent[]) => {
    waiting.push(...events);
    wake();
  };
  const onEvent = (event: OperationEvent) => {
    if (event.kind !== 'value') return;
    const news = event.value as NewsOfWatch;
    if (news.kind === 'entries') put(...news.entries.map((entry) => ({ kind: 'fact', fact: flat(entry) }) as const));
    else if (waiting.length < LIVE_WAITING_MAX) put(news);
  };
  const over = watch(onEvent, AbortSignal.any([signal, stop.signal]));
  void over.then((verdict) => put({ kind: 'end', verdict }));
  try {
    for (;;) {
      const events = waiting.splice(0);
      for (const event of events) {
        yield event;
        if (event.kind === 'end') return;
      }
      if (waiting.length === 0) await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    stop.abort();
    await over;
  }
}
