// Where the story of a golden log is played: a decider on a log in memory, a clock of its own, and agents who say what their
// script has for them. Every step is decided by the kernel; a step that is not answered as the story expects ends it.

import { approvalsIn } from '../../../src/approvals/open-approvals.ts';
import { dialects } from '../../../src/dialects/index.ts';
import { Decider } from '../../../src/engine/decider.ts';
import { grantLease, leaseNamesOf } from '../../../src/engine/lease.ts';
import { CAPABILITIES } from '../../../src/kernel/capabilities.ts';
import type { Packet } from '../../../src/kernel/cast/packet.ts';
import type { Usage } from '../../../src/kernel/cast/state.ts';
import type { Code } from '../../../src/kernel/codes.ts';
import type { Entry, Fact } from '../../../src/kernel/fact.ts';
import { check } from '../../../src/kernel/graph/check.ts';
import type { Script } from '../../../src/kernel/graph/config.ts';
import { resolve } from '../../../src/kernel/graph/resolve.ts';
import { type Request, runNamed } from '../../../src/kernel/input.ts';
import { isObject, type Json, type JsonObject } from '../../../src/kernel/json.ts';
import type { Effect } from '../../../src/kernel/pending.ts';
import type { Verdict } from '../../../src/kernel/verdict.ts';
import { MemoryLog } from '../../../src/log/memory.ts';
import { withSeals } from '../../seal-requests.ts';

const WHO = 'user:golden';
const START = Date.parse('2026-01-01T00:00:00.000Z');
/** Every look at the clock takes so long. */
const TICK_MS = 250;
const SNAPSHOT_EVERY = 20;
/** The commit with the work of a parked item. */
const KEPT = '0123456789abcdef0123456789abcdef01234567';
/** The seal of the workspace before and after every turn: nobody changes what governs the agents. */
export const SEAL = 'seal of .baton';

export type Attempt = { readonly cast: string; readonly turn: number; readonly attempt: number };

export type Opening = {
  readonly config: JsonObject;
  readonly loadout?: string;
  readonly request?: string;
  readonly script?: Script;
  readonly root?: string;
  readonly runId?: string;
};

/** What `turn.prepared`, `attempt.output` and so on say beside the attempt they are about. */
/** What is owed to nobody on the stage: the story lets time pass and tells what is seen. */
const UNPLAYED: readonly Effect['kind'][] = ['timer', 'probe'];

type Beside<K extends Request['kind']> = Omit<Extract<Request, { kind: K }>, 'kind' | keyof Attempt>;

export class Stage {
  readonly log = new MemoryLog();
  #decider: Decider | null = null;
  #now = START;
  readonly #stamps = new Map<string, number>();
  readonly #fences = new Map<string, number>();

  static async open(): Promise<Stage> {
    const stage = new Stage();
    await stage.append({ kind: 'workspace.opened', origin: 'golden' });
    const now = () => {
      stage.#now += TICK_MS;
      return stage.#now;
    };
    stage.#decider = await Decider.open(stage.log, dialects, {
      now,
      ticks: () => stage.#now,
      snapshotEvery: SNAPSHOT_EVERY,
    });
    return stage;
  }

  get now(): number {
    return this.#now;
  }

  wait(ms: number): void {
    this.#now += ms;
  }

  /** Facts that no request leads to: whoever keeps the log writes them. */
  async append(fact: Fact): Promise<void> {
    const { seq } = await this.log.head();
    await this.log.commit(seq, { decide: () => [{ fact, by: WHO, at: this.#now }] });
  }

  /** The request with the seals of decisions. */
  async sealed(request: Request): Promise<Request> {
    return withSeals(await approvalsIn(this.log), request, WHO, this.#now);
  }

  async entries(): Promise<readonly Entry[]> {
    return this.log.read({ after: 0 });
  }

  async submit(request: Request): Promise<Verdict> {
    const { verdict } = await this.#open.submit(request, WHO, this.#fences.get(runNamed(request) ?? '') ?? null);
    console.log(request.kind, verdict.code, verdict.reason);
    return verdict;
  }

  /** What is submitted about the cast from now on comes from its driver. */
  async drive(cast: string): Promise<void> {
    const driver = { host: 'golden', pid: 8, startTime: 'boot/then', namespace: 'pid:[7]' };
    await this.log.changeLeases(leaseNamesOf([cast]), (held) => {
      const { lease, changes } = grantLease(held, cast, driver, this.#now);
      this.#fences.set(cast, lease.fence);
      return changes;
    });
    this.#open.time.start(cast, 0);
  }

  /** Submits what has to be answered with this code. */
  async tell(request: Request, code: Code | 'OK' = 'OK'): Promise<Verdict> {
    const verdict = await this.submit(request);
    if (verdict.code !== code) throw new Error(`${request.kind}: ${code} was expected, and not ${verdict.code}`);
    return verdict;
  }

  async start(cast: string, { config, loadout = 'Flow', request, script, ...more }: Opening): Promise<void> {
    const errors = check(config).filter(({ level }) => level === 'error');
    if (errors.length > 0) throw new Error(JSON.stringify(errors));
    const rules = resolve(config, loadout);
    const asked = request ?? `golden ${loadout}`;
    const common = { cast, request: asked, loadout, rules, script: script ?? null, capabilities: CAPABILITIES };
    await this.tell({ kind: 'cast.start', ...common, ...more });
  }

  /** The open turn of a cast, by the task it works on where several are open. */
  async turn(cast: string, task?: string): Promise<Attempt> {
    const { turns = {} } = (await this.#open.cast(cast)) ?? {};
    const found = Object.values(turns).find((turn) => task === undefined || turn.task === task);
    if (!found) throw new Error(`${cast} has no open turn${task === undefined ? '' : ` on ${task}`}`);
    return { cast, turn: found.id, attempt: found.attempt };
  }

  /** Prepares everything of the cast that is owed. */
  async prepare(cast: string, beside: Beside<'turn.prepared'> = {}, code: Code | 'OK' = 'OK'): Promise<void> {
    for (const effect of this.#owed(cast)) {
      if (effect.kind !== 'prepare') continue;
      await this.tell({ kind: 'turn.prepared', ...placeOf(effect), ...beside }, code);
    }
  }

  /** The agent of the open turn answers. */
  async say(
    at: Attempt,
    output: Json,
    beside: Omit<Beside<'attempt.output'>, 'output'> = {},
    code: Code | 'OK' = 'OK',
  ): Promise<void> {
    await this.tell({ kind: 'attempt.output', ...at, output: asText(output), ...beside }, code);
  }

  /** What the turn did beside its answer was looked at. */
  async verify(
    at: Attempt,
    beside: Omit<Beside<'turn.verified'>, 'seal'> = {},
    code: Code | 'OK' = 'OK',
  ): Promise<void> {
    await this.tell({ kind: 'turn.verified', ...at, seal: SEAL, ...beside }, code);
  }

  /** Does what is owed until nothing is. */
  async play(cast: string): Promise<void> {
    await this.#playUntil(cast, null);
  }

  /** Does what is owed until the named socket is dispatched; answers that attempt. */
  async playTo(cast: string, socket: string): Promise<Attempt> {
    const at = await this.#playUntil(cast, socket);
    if (!at) throw new Error(`${cast} does not come to ${socket}`);
    return at;
  }

  async #playUntil(cast: string, socket: string | null): Promise<Attempt | null> {
    for (;;) {
      const owed = this.#open.owed(cast, () => true).find(({ effect }) => !UNPLAYED.includes(effect.kind));
      if (!owed || owed.effect.kind === 'timer') return null;
      const at = placeOf(owed.effect);
      if (owed.packet?.socket === socket) return at;
      await this.submit(this.#answerTo(owed.effect.kind, at, owed.packet ?? null));
    }
  }

  get #open(): Decider {
    if (!this.#decider) throw new Error('the stage is not open');
    return this.#decider;
  }

  #owed(cast: string): readonly Effect[] {
    return this.#open.owed(cast, () => false).map(({ effect }) => effect);
  }

  #answerTo(owed: Exclude<Effect['kind'], 'timer'>, at: Attempt, packet: Packet | null): Request {
    if (owed === 'verify') return { kind: 'turn.verified', ...at, seal: SEAL };
    if (owed === 'merge') return { kind: 'turn.merged', ...at, merge: { ok: true, commit: null } };
    if (owed === 'park')
      return { kind: 'turn.parked', ...at, kept: { ref: `refs/baton/${at.cast}/parked/WI-1`, commit: KEPT } };
    return packet ? this.#answerOf(packet) : { kind: 'turn.prepared', ...at };
  }

  #answerOf(packet: Packet): Request {
    const at = placeOf(packet);
    const { cast, scripted } = packet;
    if (!scripted) {
      const count = (this.#stamps.get(cast) ?? 0) + 1;
      this.#stamps.set(cast, count);
      return { kind: 'attempt.output', ...at, output: JSON.stringify({ stamps: count }) };
    }
    const said = scripted.turn;
    if (said === undefined) return { kind: 'attempt.failed', ...at, fault: 'unscripted', reason: 'nothing to say' };
    if (!isObject(said) || !isObject(said.$turn)) return { kind: 'attempt.output', ...at, output: asText(said) };
    const { output = '', usage, fail } = said.$turn;
    if (fail === 'crash') return { kind: 'attempt.failed', ...at, fault: 'crash', reason: 'it crashed' };
    const used = isObject(usage) ? { usage: usage as Usage } : {};
    return { kind: 'attempt.output', ...at, output: asText(output), ...used };
  }
}

function placeOf({ cast, turn, attempt }: Attempt): Attempt {
  return { cast, turn, attempt };
}

function asText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
