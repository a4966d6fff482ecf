// The contracts on their own: read, brief and validate payloads without the engine.
import { dialects } from './dialects/index.ts';
import type { Contract, Reading } from './kernel/dialect.ts';
import type { ContractName } from './kernel/graph/config.ts';
import type { Denied } from './kernel/verdict.ts';

export { KINDS, type Payload, type ValidateOptions, validate } from './dialects/validate.ts';
export { CODES, type Code } from './kernel/codes.ts';
export type { Contract, Handoff, Reading } from './kernel/dialect.ts';
export type { Allowed, Denied, Verdict } from './kernel/verdict.ts';

/** A contract with nothing asked of it; name what you need. */
export function contract(wanted: Partial<Contract> = {}): Contract {
  return { dialect: 'materia', generator: false, utility: false, requires: [], assign: {}, schema: null, ...wanted };
}

/** One canonical handoff, or one refusal. Never throws. */
export function read(raw: string, wanted: Contract): Reading {
  return dialectOf(wanted.dialect).read(raw, wanted);
}

/** What an agent is told about the format of its answer. */
export function brief(wanted: Contract): string {
  return dialectOf(wanted.dialect).brief(wanted);
}

/** What an agent is told after a refusal. */
export function repair(refusal: Denied, raw: string, wanted: Contract): string {
  return dialectOf(wanted.dialect).repair(refusal, raw, wanted);
}

function dialectOf(name: ContractName) {
  return dialects[name];
}
