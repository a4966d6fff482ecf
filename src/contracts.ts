// The contracts on their own: read, brief and validate payloads without the engine.
import { governed } from './dialects/governed/index.ts';
import { dialects } from './dialects/index.ts';
import type { Contract, Dialect, Reading } from './kernel/dialect.ts';
import type { ContractName } from './kernel/graph/config.ts';
import { type Denied, deny } from './kernel/verdict.ts';

export { KINDS, type Payload, type ValidateOptions, validate } from './dialects/validate.ts';
export { CODES, type Code } from './kernel/codes.ts';
export type { Contract, Handoff, Reading } from './kernel/dialect.ts';
export type { Allowed, Denied, Verdict } from './kernel/verdict.ts';

/** What is asked of a payload, and in which dialect. */
export type Wanted = Omit<Contract, 'dialect'> & { readonly dialect: ContractName | 'governed' };

/** A contract with nothing asked of it; name what you need. */
export function contract(wanted: Partial<Wanted> = {}): Wanted {
  return { dialect: 'materia', generator: false, utility: false, requires: [], assign: {}, schema: null, ...wanted };
}

/** One canonical handoff, or one refusal. Never throws. */
export function read(raw: string, wanted: Partial<Wanted> = {}): Reading {
  const refusal = misuse(raw, wanted);
  if (refusal) return { ok: false, verdict: refusal };
  const whole = contract(wanted);
  return dialectOf(whole).read(raw, asContract(whole));
}

/** Callers without a compiler get an answer too. */
function misuse(raw: unknown, wanted: unknown): Denied | null {
  if (typeof raw !== 'string')
    return deny('CONTRACT_VIOLATION', 'read takes the text that an agent wrote, as a string');
  const { dialect = 'materia' } = (typeof wanted === 'object' && wanted !== null ? wanted : {}) as Partial<Wanted>;
  if (dialect === 'governed' || Object.hasOwn(dialects, dialect)) return null;
  const known = [...Object.keys(dialects), 'governed'].join(', ');
  return deny('CONTRACT_VIOLATION', `there is no dialect ${String(dialect)}; there are: ${known}`);
}

/** What an agent is told about the format of its answer. */
export function brief(wanted: Wanted): string {
  return dialectOf(wanted).brief(asContract(wanted));
}

/** What an agent is told after a refusal. */
export function repair(refusal: Denied, raw: string, wanted: Wanted): string {
  return dialectOf(wanted).repair(refusal, raw, asContract(wanted));
}

function dialectOf({ dialect }: Wanted): Dialect {
  return dialect === 'governed' ? governed : dialects[dialect];
}

/** No socket speaks governed; its dialect asks nothing of the name. */
function asContract(wanted: Wanted): Contract {
  return { ...wanted, dialect: wanted.dialect === 'governed' ? 'materia' : wanted.dialect };
}
