// The contracts on their own: read, brief and validate payloads without the engine.
import { faultOfOptions } from './contracts/validate.ts';
import { dialects } from './dialects/index.ts';
import { faultOfPlain } from './dialects/json-text.ts';
import type { ContractName } from './kernel/capabilities.ts';
import type { Contract, Dialect, Reading } from './kernel/dialect.ts';
import { isObject, isString, type JsonObject } from './kernel/json.ts';
import { type Denied, deny } from './kernel/verdict.ts';
import { governed } from './trust/dialect.ts';

export { type PayloadInput as Payload, type ValidateOptions, validate } from './contracts/validate.ts';
export { KINDS } from './kernel/capabilities.ts';
export { ANSWERS as CODES, type Code } from './kernel/codes.ts';
export type { Contract, Handoff, Reading } from './kernel/dialect.ts';
export type { Allowed, Denied, Verdict } from './kernel/verdict.ts';

/** What is asked of a payload, and in which dialect. */
type Wanted = Omit<Contract, 'dialect'> & { readonly dialect: ContractName | 'governed' };

/** A contract with nothing asked of it; name what you need. What is undefined counts as not named. */
export function contract(wanted: Partial<Wanted> = {}): Wanted {
  const named = Object.fromEntries(Object.entries(wanted ?? {}).filter(([, value]) => value !== undefined));
  return { dialect: 'materia', generator: false, utility: false, requires: [], assign: {}, schema: null, ...named };
}

/** One canonical handoff, or one refusal. Never throws: a contract that is none is refused as `BAD_USAGE`. */
export function read(raw: string, wanted: Partial<Wanted> = {}): Reading {
  const whole = wholeOf(wanted);
  if (typeof raw !== 'string') return misused('read takes the text that an agent wrote, as a string');
  return typeof whole === 'string' ? misused(whole) : dialectOf(whole).read(raw, asContract(whole));
}

/** The words for an agent about the format of its answer. Throws for a contract that is none, which only the caller can correct. */
export function brief(wanted: Partial<Wanted> = {}): string {
  const whole = usable(wanted);
  return dialectOf(whole).brief(asContract(whole));
}

/** The words for an agent after a refusal. Throws as `brief` does. */
export function repair(refusal: Denied, raw: string, wanted: Partial<Wanted> = {}): string {
  const whole = usable(wanted);
  return dialectOf(whole).repair(refusal, raw, asContract(whole));
}

function misused(why: string): Reading {
  return { ok: false, verdict: deny('BAD_USAGE', why) };
}

function usable(wanted: unknown): Wanted {
  const whole = wholeOf(wanted);
  if (typeof whole === 'string') throw new TypeError(whole);
  return whole;
}

/** The contract with all its parts, or what is wrong with it. Callers without a compiler get an answer too. */
function wholeOf(wanted: unknown): Wanted | string {
  if (wanted !== undefined && wanted !== null && !isObject(wanted)) return 'the contract must be an object';
  try {
    const whole = contract(wanted as Partial<Wanted>);
    return faultOf(whole) ?? whole;
  } catch {
    return 'the contract holds something that cannot be read'; // A getter or proxy of the caller may throw.
  }
}

const PARTS = ['dialect', 'generator', 'utility', 'requires', 'assign', 'schema', 'maxBytes', 'strict', 'turn'];
const TURN_PARTS = ['agentId', 'input'];

/** A misspelt part must not loosen a contract in silence. */
function unknownPart(object: object, known: readonly string[], where: string): string | null {
  const unknown = Object.keys(object).find((name) => !known.includes(name));
  return unknown === undefined
    ? null
    : `${where} has no part ${JSON.stringify(unknown.slice(0, 60))}; it has: ${known.join(', ')}`;
}

function faultOf(whole: Wanted): string | null {
  const { dialect, generator, utility, requires, assign, schema, maxBytes, strict, turn } = whole;
  const unknown = unknownPart(whole, PARTS, 'the contract');
  if (unknown !== null) return unknown;
  if (dialect !== 'governed' && !Object.hasOwn(dialects, dialect)) {
    const known = [...Object.keys(dialects), 'governed'].join(', ');
    return `there is no dialect ${String(dialect)}; there are: ${known}`;
  }
  const fault = faultOfOptions({ generator, utility, requires, assign, schema } as JsonObject);
  if (fault !== null) return fault.replace('options.', 'the contract: ');
  if (!isPlain(schema)) return 'the contract: schema must be plain JSON';
  if (maxBytes !== undefined && !(Number.isInteger(maxBytes) && maxBytes >= 0)) {
    return 'the contract: maxBytes must be a number of bytes';
  }
  if (strict !== undefined && typeof strict !== 'boolean') return 'the contract: strict must be true or false';
  if (turn === undefined) return null;
  if (!isObject(turn)) return 'the contract: turn must be {agentId, input}';
  const strange = unknownPart(turn, TURN_PARTS, 'the turn of the contract');
  if (strange !== null) return strange;
  const { agentId = null, input = null } = turn as Partial<NonNullable<Wanted['turn']>>;
  if (agentId !== null && !isString(agentId)) return 'the contract: turn.agentId must be a string or null';
  return (input === null || isObject(input)) && isPlain(input)
    ? null
    : 'the contract: turn.input must be an INPUT envelope of plain JSON, or null';
}

const plain = new WeakSet<object>();

/** Whether a part of a contract is JSON. A contract is mostly used for many reads, and is looked through for the first. */
function isPlain(part: object | null): boolean {
  if (part === null || plain.has(part)) return true;
  if (faultOfPlain(part) !== null) return false;
  plain.add(part);
  return true;
}

function dialectOf({ dialect }: Wanted): Dialect {
  return dialect === 'governed' ? governed : dialects[dialect];
}

/** No socket speaks governed; its dialect asks nothing of the name. */
function asContract(wanted: Wanted): Contract {
  return { ...wanted, dialect: wanted.dialect === 'governed' ? 'materia' : wanted.dialect };
}
