// Plays a cast in memory, without threads, disk or clock: the kernel, the dialects and a script. A test says what the
// agents say and reads what the cast did.
import canonicalize from 'canonicalize';
import { foldAll } from '../src/app/views/cast-view.ts';
import { textHere } from '../src/app/views/in-words.ts';
import { pathOf } from '../src/app/views/shown-cast.ts';
import { dialects } from '../src/dialects/index.ts';
import { apply } from '../src/kernel/apply.ts';
import type { Capabilities } from '../src/kernel/capabilities.ts';
import { packetOf } from '../src/kernel/cast/packet.ts';
import type { Cast, Turn } from '../src/kernel/cast/state.ts';
import { decide } from '../src/kernel/decide.ts';
import type { Entry, Fact } from '../src/kernel/fact.ts';
import { check } from '../src/kernel/graph/check.ts';
import type { Script } from '../src/kernel/graph/config.ts';
import { resolve } from '../src/kernel/graph/resolve.ts';
import type { Request } from '../src/kernel/input.ts';
import { isObject, type Json, type JsonObject } from '../src/kernel/json.ts';
import { type Effect, pending } from '../src/kernel/pending.ts';
import { emptyState, type State } from '../src/kernel/state.ts';
import type { Verdict } from '../src/kernel/verdict.ts';
import { withSeals } from './seal-requests.ts';

const STEPS_MAX = 10_000;

export type Play = {
  readonly cast: Cast;
  readonly state: State;
  readonly entries: readonly Entry[];
  readonly facts: readonly Fact[];
  /** `Socket-4 WI-1`, `Socket-5 WI-1`, … in the order the visits started. */
  readonly path: readonly string[];
  /** The one turn that is open. */
  readonly turn: Turn;
  /** What is owed now. */
  readonly owed: readonly Effect[];
  /** The facts of one kind, in order. */
  all<K extends Fact['kind']>(kind: K): readonly Extract<Fact, { kind: K }>[];
  /** The briefs sent to a socket, in order. */
  briefs(socket: string): readonly string[];
  /** Submits something a person or the clock says, then plays on. */
  say(request: Request, at?: number): Verdict;
  /** Submits something and stops there: nothing that is owed is answered. */
  tell(request: Request, at?: number): Verdict;
  /** Answers what is owed until nothing is. */
  run(): void;
};

export type Stage = {
  readonly config: JsonObject;
  readonly loadout?: string;
  readonly request?: string;
  readonly data?: JsonObject;
  /** Without a script every turn must be prepared and answered by the test. */
  readonly agents?: Readonly<Record<string, readonly Json[]>>;
  /** Stops before the play begins to answer dispatches. */
  readonly hold?: boolean;
  /** The worktree in which the cast works; else the workspace itself. */
  readonly root?: string;
  /** What its runners can do; else what they could in 0.1.0. */
  readonly capabilities?: Capabilities;
  /** Whether what was done for an item is taken out of the worktree at once; else the test does that. */
  readonly parks?: boolean;
};

export function play(stage: Stage): Play {
  const { config, loadout, request = 'do it', agents, data, hold = agents === undefined, root, parks = true } = stage;
  const name = loadout ?? Object.keys(config.loadouts as JsonObject)[0] ?? '';
  const errors = check(config).filter(({ level }) => level === 'error');
  if (errors.length > 0) throw new Error(`the stage does not check: ${JSON.stringify(errors)}`);
  const state = emptyState();
  const entries: Entry[] = [];
  let now = Date.parse('2026-01-01T00:00:00.000Z');
  const submit = (input: Request, at?: number): Verdict => {
    now = at ?? now + 1;
    const sealed = withSeals(state.approvals, input, 'test', now);
    const { verdict, facts, ranMs } = decide(dialects, state, { ...sealed, at: now, by: 'test' } as never);
    for (const [index, fact] of facts.entries()) {
      const time = { at: new Date(now).toISOString(), ...(ranMs.has(index) ? { ranMs: ranMs.get(index) ?? 0 } : {}) };
      entries.push({ v: 1, seq: entries.length + 1, ...time, prev: '', by: 'test', fact });
    }
    return verdict;
  };
  const run = () => {
    for (let step = 0; ; step++) {
      if (step > STEPS_MAX) throw new Error('the play does not end');
      const cast = state.casts.c;
      const effect = cast && pending(cast).find(({ kind }) => kind !== 'timer' && kind !== 'probe');
      if (!cast || !effect || effect.kind === 'timer') return;
      const { turn, attempt } = effect;
      if (effect.kind === 'interrupt') submit({ kind: 'attempt.interrupted', cast: 'c', turn, attempt });
      else if (effect.kind === 'prepare') submit({ kind: 'turn.prepared', cast: 'c', turn, attempt });
      else if (effect.kind === 'merge')
        submit({ kind: 'turn.merged', cast: 'c', turn, attempt, merge: { ok: true, commit: null } });
      else if (effect.kind === 'park') {
        if (!parks) return;
        submit({ kind: 'turn.parked', cast: 'c', turn, attempt, kept: null });
      } else submit(answerFor(cast, turn, attempt));
    }
  };
  const script = (agents as Script | undefined) ?? null;
  const rules = resolve(config, name);
  const start = { kind: 'cast.start', cast: 'c', request, loadout: name, rules, script } as const;
  const { capabilities } = stage;
  submit({
    ...start,
    ...(data ? { data } : {}),
    ...(root ? { root } : {}),
    ...(capabilities ? { capabilities } : {}),
  });
  if (!hold) run();
  const castNow = () => state.casts.c as Cast;
  const own = () => entries.filter(({ fact }) => !('cast' in fact) || fact.cast === 'c');
  return {
    get cast() {
      return castNow();
    },
    state,
    entries,
    get facts() {
      return entries.map(({ fact }) => fact);
    },
    get path() {
      return pathOf(foldAll(own())).map(({ socket, item }) => (item === null ? socket : `${socket} ${item}`));
    },
    get turn() {
      const [turn, ...others] = Object.values(castNow().turns);
      if (!turn || others.length > 0) throw new Error('there is not exactly one open turn');
      return turn;
    },
    get owed() {
      return pending(castNow());
    },
    all<K extends Fact['kind']>(kind: K) {
      return entries.flatMap(({ fact }) => (fact.kind === kind ? [fact as Extract<Fact, { kind: K }>] : []));
    },
    briefs(socket) {
      const { turns, attempts } = foldAll(own());
      return attempts.filter(({ turn }) => turns.get(turn)?.socket === socket).map(({ brief }) => textHere(brief));
    },
    say(input, at) {
      const verdict = submit(input, at);
      run();
      return verdict;
    },
    tell: submit,
    run,
  };
}

/** The state that the facts alone lead to, once they were written in the form of the log and read back. */
export function replayed(entries: readonly Entry[]): State {
  const read = (entry: Entry) => JSON.parse(canonicalize(entry) ?? '') as Entry;
  return entries.reduce((state, entry) => apply(state, read(entry)), emptyState());
}

/** What the script answers to a dispatch. */
export function answerFor(cast: Cast, turn: number, attempt: number): Request {
  const open = cast.turns[turn];
  if (!open) throw new Error(`there is no turn ${turn}`);
  const { scripted, socket } = packetOf(cast, open);
  const said = scripted?.turn;
  const common = { cast: cast.id, turn, attempt };
  if (said === undefined)
    return { kind: 'attempt.failed', ...common, fault: 'unscripted', reason: `no turn for ${socket}` };
  if (!isObject(said) || !isObject(said.$turn)) return { kind: 'attempt.output', ...common, output: asText(said) };
  const { output, fail, usage } = said.$turn;
  const used = usage === undefined ? {} : { usage: { input: 0, output: 0, cost: 0, ...(usage as object) } };
  if (fail === 'crash' || fail === 'timeout' || fail === 'transport') {
    return { kind: 'attempt.failed', ...common, fault: fail, reason: fail, ...used };
  }
  return { kind: 'attempt.output', ...common, output: asText(output ?? ''), ...used };
}

function asText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
