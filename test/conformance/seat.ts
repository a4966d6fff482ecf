// A decider with everything around it that a test wants to see.
import { dialects } from '../../src/dialects/index.ts';
import { Decider, type DeciderOptions } from '../../src/engine/decider.ts';
import type { Log } from '../../src/engine/ports.ts';
import type { Entry } from '../../src/kernel/fact.ts';
import type { Request } from '../../src/kernel/input.ts';
import { MemoryLog } from '../../src/log/memory.ts';
import { ProbedLog } from './probed-log.ts';
import { startOf } from './round.ts';

export const NOON = Date.parse('2026-01-01T12:00:00.000Z');

/** A decider on a log of its own, or on one that is given. Its clock ticks once for every look at it. */
export async function seat({ memory = new MemoryLog(), ...options }: DeciderOptions & { memory?: Log } = {}) {
  const log = new ProbedLog(memory);
  let time = NOON;
  const decider = await Decider.open(log, dialects, { now: () => time++, ...options });
  const told: Entry[] = [];
  const listen = () => decider.listen((entries) => told.push(...entries));
  const submit = (request: Request) => decider.submit(request, 'test');
  const kinds = async () => (await memory.read({ after: 0 })).map(({ fact }) => fact.kind);
  return { decider, log, memory, told, listen, submit, kinds };
}

export const pause = (cast: string): Request => ({ kind: 'cast.pause', cast, reason: 'test' });
export const abort = (cast: string): Request => ({ kind: 'cast.abort', cast, reason: 'test' });
export const budget = (cast: string, maxTokens: number): Request => ({ kind: 'budget.change', cast, maxTokens });
export const names = (count: number) => Array.from({ length: count }, (_, index) => `c${index}`);
/** No rules at all: the kernel cannot decide this. */
export const poison = (cast: string) => ({ ...startOf(cast), rules: null }) as unknown as Request;
/** Decided, but no log can hold it. */
export const unwritable = (cast: string) => ({ ...startOf(cast), data: { n: Number.NaN } }) as Request;
