// A workspace for programs: each function does what the command or the tool of the same name does, by the same code, and
// answers with its verdict. Nothing throws, and nothing is held open in between: casts run in processes of their own.

import type { InputOf } from '../app/fields.ts';
import type { OperationEvent } from '../app/operation.ts';
import type { FieldsOf, OperationName } from '../app/operations/table.ts';
import { answer, type Given } from '../app/perform.ts';
import type { CastView } from '../app/views/shown-cast.ts';
import type { Why } from '../app/views/why/why.ts';
import { Workspace } from '../app/workspace.ts';
import type { CastSummary } from '../kernel/cast/summary.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import type { TaskStatus } from '../kernel/ledger/state.ts';
import { type Denied, deny, type Verdict } from '../kernel/verdict.ts';
import { callTool, keptFrom, toolNamed } from '../mcp/call-tool.ts';
import type { Said } from '../mcp/command-line.ts';
import type { Scene } from '../mcp/tool.ts';
import { locate } from '../workspace/locate.ts';
import { type CastEvent, castEvents } from './cast-events.ts';
import { sceneIn } from './scene.ts';

/** Timers of the runtime count no further. */
const TIMEOUT_MS_MAX = 2_147_483_647;

/** A verdict whose details have a known shape when it allows. */
export type Answer<Details> =
  | { readonly allow: true; readonly code: 'OK'; readonly reason: string; readonly details: Details }
  | Denied;

/** A cast, and whether it stands: it is over, paused, or waits for a person. */
export type StandingCast = CastView & { readonly stands: boolean };

/** Keep the fence: whoever works on the task shows it afterwards. */
export type Claimed = JsonObject & Claim & { readonly run: string };

/** Which claim is meant. Below an attempt of a cast, that of its turn where nothing is said. */
export type Claim = { readonly task: string; readonly owner: string; readonly fence: number; readonly run?: string };

export type TaskCalls = {
  /** Takes one assignment packet into the ledger. */
  create(packet: JsonObject): Promise<Verdict>;
  list(which?: {
    readonly run?: string;
    readonly status?: TaskStatus;
  }): Promise<Answer<{ readonly tasks: readonly JsonObject[] }>>;
  /** Claims the task and all its paths in one step. */
  claim(task: string, by: { readonly owner: string; readonly run?: string }): Promise<Answer<Claimed>>;
  /** Finds the best task that can start now, and claims it in the same step. */
  next(by: { readonly owner: string; readonly run?: string }): Promise<Answer<Claimed>>;
  heartbeat(claim?: Claim): Promise<Verdict>;
  /** Adds one entry to the worklog of the claimed task. The time and what the claim says are filled in. */
  worklog(entry: JsonObject, claim?: Claim): Promise<Verdict>;
  /** Hands in the result envelope. */
  finish(result: JsonObject, claim: { readonly fence: number }): Promise<Verdict>;
};

export type OpenWorkspace = {
  /** Starts a cast in a process of its own and answers as soon as it is in the log. */
  cast(request: string, how?: { readonly loadout?: string; readonly agents?: string }): Promise<Answer<CastView>>;
  casts(how?: {
    readonly limit?: number;
  }): Promise<Answer<{ readonly casts: readonly CastSummary[]; readonly count: number }>>;
  show(cast: string, how?: { readonly turns?: boolean }): Promise<Answer<StandingCast>>;
  /** Waits until the cast stands, for as long as that takes where no time is named. */
  wait(
    cast: string,
    how?: { readonly timeoutMs?: number; readonly signal?: AbortSignal },
  ): Promise<Answer<StandingCast>>;
  /** Why the cast is where it is, since when, and the commands that carry it on. */
  why(cast: string): Promise<Answer<Why>>;
  /** Everything that happens in the cast, from its first fact on, and what its agents do meanwhile. */
  events(cast: string, how?: { readonly signal?: AbortSignal }): AsyncIterableIterator<CastEvent>;
  /** Carries on a cast that has stopped, in the way that fits, in a process of its own. */
  continue(cast?: string): Promise<Answer<StandingCast>>;
  /** Stops a cast and its running agents. */
  abort(
    cast: string,
    how?: Pick<InputOf<FieldsOf<'cast.abort'>>, 'reason'>,
  ): Promise<Answer<{ readonly casts: readonly string[] }>>;
  /** A person's yes to what an agent asks for; the cast goes on in a process of its own. */
  approve(id: string, how?: Omit<InputOf<FieldsOf<'approval.approve'>>, 'id'>): Promise<Verdict>;
  /** A person's no; the agent is told the reason. */
  reject(id: string, how?: Omit<InputOf<FieldsOf<'approval.reject'>>, 'id'>): Promise<Verdict>;
  /** Gives the answer of a turn that a person takes. */
  answer(cast: string, text: string, how?: { readonly turn?: number }): Promise<Answer<StandingCast>>;
  readonly task: TaskCalls;
  /** Any operation of the table by its name, typed by its fields: `perform('registry.verify', { strict: true })`. */
  perform<N extends OperationName>(
    name: N,
    input: InputOf<FieldsOf<N>>,
    how?: { readonly signal?: AbortSignal },
  ): Promise<Verdict>;
  /** Any other command, with `--json`: its exit code and the value it printed. */
  command(args: readonly string[], how?: { readonly input?: string; readonly signal?: AbortSignal }): Promise<Said>;
  /** Ends the waiting of this program. Casts go on. */
  close(): Promise<void>;
};

type Ask = {
  readonly signal?: AbortSignal | undefined;
  readonly onEvent?: (event: OperationEvent) => void;
  readonly at?: Scene | Denied;
};

/** `dir` is the project directory; with `env` everything is done as in that environment. */
export function openWorkspace(
  dir: string,
  { env = process.env }: { readonly env?: NodeJS.ProcessEnv } = {},
): OpenWorkspace {
  const closing = new AbortController();
  const busy = new Set<Promise<unknown>>();
  const track = <T>(work: Promise<T>): Promise<T> => {
    busy.add(work);
    return work.finally(() => busy.delete(work));
  };
  const within = (signal: AbortSignal | undefined) =>
    signal ? AbortSignal.any([signal, closing.signal]) : closing.signal;

  let open: Workspace | null = null;
  /** Looked for anew each time: the folder may come and go. */
  const scene = (): Scene | Denied => {
    if (closing.signal.aborted) return deny('NOT_ALLOWED_NOW', 'this workspace was closed; open it again');
    const located = locate(dir, env, process.cwd());
    if (!located) return deny('BAD_USAGE', `there is no folder ${dir}; open an existing one`, { dir });
    if (open?.stateDir !== located.stateDir) {
      void open?.close().catch(() => undefined);
      open = new Workspace(located, { env });
    }
    const found = sceneIn(open);
    return { ...found, baton: (args, how) => track(found.baton(args, how)) };
  };
  const tool = async <D>(name: string, given: Readonly<Record<string, Json | undefined>>): Promise<Answer<D>> => {
    const at = scene();
    const called = toolNamed(name);
    if ('code' in at) return at;
    if (!called) return deny('INTERNAL', `there is no tool ${name}`);
    const wire = { signal: closing.signal, progress: async () => undefined };
    return (await track(callTool(at, called, without(given), wire))) as Answer<D>;
  };
  const operation = async <D>(
    name: OperationName,
    given: Given,
    { signal, onEvent = () => undefined, at = scene() }: Ask = {},
  ): Promise<Answer<D>> => {
    if ('code' in at) return at;
    const context = { actor: at.actor, signal: within(signal), onEvent };
    return (await track(answer(at.workspace, name, given, context))) as Answer<D>;
  };
  /** As by the tools, an agent within its attempt is shown no cast from outside. */
  const outside = (): Scene | Denied => {
    const at = scene();
    const tool = toolNamed('cast_wait');
    return 'code' in at ? at : ((tool && keptFrom(at, tool)) ?? at);
  };

  return {
    cast: (request, how = {}) => tool('cast_start', { request, ...how }),
    casts: (how = {}) => operation('cast.list', { limit: 20, ...how }),
    show: (cast, how = {}) => operation('cast.show', { cast, ...how }),
    answer: (cast, text, how = {}) => tool('cast_answer', { cast, answer: text, ...how }),
    continue: (cast) => tool('cast_continue', { cast }),
    abort: (cast, how = {}) => tool('cast_abort', { cast, ...how }),
    approve: (id, how = {}) => operation('approval.approve', { id, detach: true, ...how }),
    reject: (id, how = {}) => operation('approval.reject', { id, detach: true, ...how }),
    why: (cast) => operation('cast.why', { cast }, { at: outside() }),
    async wait(cast, { signal, timeoutMs } = {}) {
      if (timeoutMs !== undefined && !(timeoutMs >= 0 && timeoutMs <= TIMEOUT_MS_MAX))
        return deny(
          'BAD_USAGE',
          `timeoutMs must be from 0 to ${TIMEOUT_MS_MAX}, not ${timeoutMs}; leave it out to wait on`,
        );
      const time = timeoutMs === undefined ? {} : { timeout_seconds: timeoutMs / 1000 };
      return operation('cast.wait', { cast, ...time }, { signal, at: outside() });
    },
    events: (cast, { signal } = {}) =>
      castEvents(
        (onEvent, stop) => operation('cast.watch', { cast }, { onEvent, signal: stop, at: outside() }),
        within(signal),
      ),
    task: {
      create(packet) {
        return operation('task.create', { packet });
      },
      list: (which = {}) => operation('task.list', { ...which }),
      claim: (task, by) => operation('task.claim', { task, ...by }),
      next: (by) => operation('task.next', { ...by }),
      heartbeat: (claim) => operation('heartbeat', { ...named(claim), owner: claim?.owner }),
      worklog: (entry, claim) =>
        operation('worklog.add', {
          ...named(claim),
          entry: without({ run_id: claim?.run, actor: claim?.owner, ...entry }),
        }),
      finish: (result, { fence }) => operation('task.finish', { result, fence }),
    },
    perform: (name, input, { signal } = {}) => operation(name, input as Given, { signal }),
    async command(args, how = {}) {
      const at = scene();
      if (!('code' in at)) return at.baton(args, { ...how, signal: within(how.signal) });
      const value: Json = { allow: at.allow, code: at.code, reason: at.reason, details: { ...at.details } };
      return { exit: null, value, stderr: at.reason };
    },
    async close() {
      closing.abort();
      await Promise.allSettled(busy);
      await open?.close();
    },
  };
}

/** Whatever else the answer to a claim holds is not asked for. */
function named(claim: Claim | undefined) {
  return { task: claim?.task, fence: claim?.fence, run: claim?.run };
}

function without(given: Readonly<Record<string, Json | undefined>>): JsonObject {
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
