// Every kind of payload that can be checked on its own, by name. A kind's validator is loaded when it is asked for, so
// that checking one kind does not pay for the others.
import { faultOfPlain, parseJsonText } from '../dialects/json-text.ts';
import { KINDS, OPERATOR_KINDS } from '../kernel/capabilities.ts';
import type { Code } from '../kernel/codes.ts';
import { isObject, isString, type Json, type JsonObject } from '../kernel/json.ts';
import { allow, type Denied, deny, type Verdict } from '../kernel/verdict.ts';

/** `text` is the exact text of a payload; `value` is a payload that is JSON already, with its text where that is known. */
export type PayloadInput =
  | { readonly text: string /** Where the text was read from. */; readonly bytes?: Uint8Array }
  | { readonly value: Json; readonly written?: string };

export type ValidateOptions = {
  /** The options of the kind, as a line of `--jsonl` gives them. */
  readonly options?: JsonObject;
  readonly strict?: boolean;
  /** The registry folder for `governed/handoff`. */
  readonly registry?: string | null;
  /** The present time for `governed/handoff`, where the options name none; without either nothing can be judged. */
  readonly now?: string;
};

export type Validator = (payload: PayloadInput, given: ValidateOptions) => Verdict;

/** The options of each kind, in addition to the common ones. */
const OPTIONS: Readonly<Record<string, readonly string[]>> = {
  materia: ['generator', 'utility', 'requires', 'assign', 'schema'],
  gaia: ['injected_context', 'task_agent_id'],
  'gaia/merge': [],
  'gaia/transition': [],
  ...Object.fromEntries(OPERATOR_KINDS.map((name) => [`operator/${name}`, ['checkers', 'previous', 'outcome']])),
  'governed/handoff': ['registry', 'seen_handoff_ids', 'max_age_s', 'max_skew_s'],
};
const ANY_OPTIONS: readonly string[] = ['strict', 'now'];

/** The validator of a kind, or null for a name that is none. */
export async function validatorFor(kind: string): Promise<Validator | null> {
  if (!(KINDS as readonly string[]).includes(kind)) return null;
  const known = [...(OPTIONS[kind] ?? []), ...ANY_OPTIONS];
  const validator = await load(kind);
  return (payload, given) => {
    // A misspelt option must not loosen a contract in silence.
    const { options = {} } = given;
    const unknown = Object.keys(options).find((name) => !known.includes(name));
    if (unknown !== undefined) {
      const reason = `${kind} has no option ${JSON.stringify(unknown.slice(0, 60))}; it has: ${known.join(', ')}`;
      return deny('BAD_USAGE', reason);
    }
    const { strict, now } = options;
    if (strict !== undefined && typeof strict !== 'boolean') return deny('BAD_USAGE', STRICT_FAULT);
    if (now !== undefined && !isString(now)) return deny('BAD_USAGE', NOW_FAULT);
    return validator(payload, given);
  };
}

const STRICT_FAULT = 'options.strict must be true or false';
const NOW_FAULT = 'options.now must be the present time, like 2026-02-11T00:45:02Z';

/** The fault of the options whatever the payload is, or null. For options that are given once for many payloads. */
export function misuseOf(validator: Validator, given: ValidateOptions): Denied | null {
  // Every validator looks at its options first, and no empty object is wrong usage.
  const verdict = validator({ value: {} }, given);
  return !verdict.allow && verdict.code === 'BAD_USAGE' ? verdict : null;
}

async function load(kind: string): Promise<Validator> {
  const [dialect, name] = kind.split('/');
  if (dialect === 'materia') return materiaValidator();
  if (dialect === 'gaia') return gaiaValidator(name);
  return dialect === 'operator' ? operatorValidator(kind) : governedValidator();
}

/**
 * Checks one payload. Whatever it holds, the answer is a verdict; only an unknown kind, a mistake of the caller's own,
 * throws.
 */
export async function validate(kind: string, payload: PayloadInput, given: ValidateOptions = {}): Promise<Verdict> {
  const validator = await validatorFor(kind);
  if (!validator) throw new Error(`there is no kind ${kind}; there are ${KINDS.join(', ')}`);
  const misuse = faultOfCall(payload, given);
  if (misuse !== null) return deny('BAD_USAGE', misuse);
  const fault = 'text' in payload ? null : faultOfPlain(payload.value);
  if (fault !== null) return deny(notJsonCode(kind), `the payload is not JSON: ${fault}`, { message: fault });
  // An option that is undefined is one that was not given.
  const options = Object.fromEntries(Object.entries(given.options ?? {}).filter(([, value]) => value !== undefined));
  const wrong = faultOfPlain(options);
  if (wrong !== null) return deny('BAD_USAGE', `the options are not JSON: ${wrong}`);
  return validator(payload, { ...given, options });
}

const KNOWN_BESIDE: readonly string[] = ['options', 'strict', 'registry', 'now'];

/** Callers without a compiler get an answer too. */
function faultOfCall(payload: unknown, given: unknown): string | null {
  if (!isObject(payload) || !('text' in payload || 'value' in payload)) {
    return 'the payload must be {text}, the text that was written, or {value}, what it was parsed to';
  }
  if ('text' in payload && !isString(payload.text))
    return 'text must be a string; hand a parsed payload over as {value}';
  if (payload.bytes !== undefined && !((payload.bytes as unknown) instanceof Uint8Array)) return 'bytes must be bytes';
  if (payload.written !== undefined && !isString(payload.written)) return 'written must be the text of value';
  if (!isObject(given)) return 'what is known besides the payload must be an object';
  const unknown = Object.keys(given).find((name) => given[name] !== undefined && !KNOWN_BESIDE.includes(name));
  if (unknown !== undefined) {
    return `besides the payload nothing is called ${JSON.stringify(unknown.slice(0, 60))}; there are: ${KNOWN_BESIDE.join(', ')}`;
  }
  return given.options === undefined || given.options === null || isObject(given.options)
    ? null
    : 'options must be an object';
}

/** The code under which a kind refuses a text that is no JSON. */
function notJsonCode(kind: string): Code {
  if (kind.startsWith('operator/')) return 'SCHEMA_INVALID';
  return kind.startsWith('governed/') ? 'PARSE' : 'NOT_JSON';
}

async function materiaValidator(): Promise<Validator> {
  const { readMateria } = await import('../dialects/materia/read.ts');
  return (payload, { options = {}, strict = false }) => {
    const fault = faultOfOptions(options);
    if (fault) return deny('BAD_USAGE', fault);
    if (!isUtf8(payload)) return notUtf8('NOT_JSON');
    const raw = rawOf(payload);
    const reading = readMateria(raw, {
      dialect: 'materia',
      generator: options.generator === true,
      utility: options.utility === true,
      requires: Array.isArray(options.requires) ? options.requires.filter(isString) : [],
      assign: isObject(options.assign) ? stringsOf(options.assign) : {},
      schema: isObject(options.schema) ? options.schema : null,
      strict: strict || options.strict === true,
    });
    if (!reading.ok) return reading.verdict;
    return allow('the handoff keeps its contract', { handoff: reading.handoff.payload });
  };
}

/** For materia a string is the raw text of an answer; any other value is judged as it was written. */
function rawOf(payload: PayloadInput): string {
  if ('text' in payload) return payload.text;
  return isString(payload.value) ? payload.value : (payload.written ?? JSON.stringify(payload.value));
}

/** The fault of the parts of a contract that a socket states. */
export function faultOfOptions({ generator, utility, requires, assign, schema }: JsonObject): string | null {
  if (generator !== undefined && typeof generator !== 'boolean') return 'options.generator must be true or false';
  if (utility !== undefined && typeof utility !== 'boolean') return 'options.utility must be true or false';
  if (requires !== undefined && !(Array.isArray(requires) && requires.every(isString))) {
    return 'options.requires must be a list of field names';
  }
  if (assign !== undefined && !(isObject(assign) && Object.values(assign).every(isString))) {
    return 'options.assign must map target paths to source paths';
  }
  return schema === undefined || schema === null || isObject(schema)
    ? null
    : 'options.schema must be a JSON Schema object';
}

async function gaiaValidator(name: string | undefined): Promise<Validator> {
  const { validateGaia, validateMerge, validateTransition } = await import('../dialects/gaia/validate.ts');
  const judge = name === 'merge' ? validateMerge : name === 'transition' ? validateTransition : validateGaia;
  return (payload, { options = {} }) => {
    if (isUtf8(payload))
      return judge(name === undefined || isTextual(payload) ? givenIn(payload) : exact(payload), options);
    // The details of a report in which nothing was found are those of one that cannot be read.
    const { code, reason, details } = judge('', options);
    return code === 'BAD_USAGE' ? deny(code, reason, details) : notUtf8('NOT_JSON', details);
  };
}

async function operatorValidator(kind: string): Promise<Validator> {
  const { validateOperator } = await import('../dialects/operator/read.ts');
  return (payload, { options = {}, strict = false }) => {
    if (!isUtf8(payload)) return notUtf8('SCHEMA_INVALID', { path: '$' });
    return validateOperator(kind, exact(payload), { ...options, ...(strict ? { strict } : {}) });
  };
}

async function governedValidator(): Promise<Validator> {
  const { validateGoverned } = await import('../trust/validate.ts');
  const { registryLoader } = await import('../trust/registry-folder.ts');
  // One loader for all lines: a folder is read once.
  const loaders = new Map<string | null, ReturnType<typeof registryLoader>>();
  return (payload, { options = {}, strict = false, registry = null, now }) => {
    const loader = loaders.get(registry) ?? registryLoader(registry);
    loaders.set(registry, loader);
    return validateGoverned(asWritten(payload), { now, ...options, ...(strict ? { strict } : {}) }, loader);
  };
}

/** JSON is UTF-8. A reader that replaces other bytes would judge a text that was never sent. */
function isUtf8(payload: PayloadInput): boolean {
  if (!('text' in payload) || !payload.bytes) return true;
  try {
    FATAL.decode(payload.bytes);
    return true;
  } catch {
    return false;
  }
}

const FATAL = new TextDecoder('utf-8', { fatal: true });

function notUtf8(code: 'NOT_JSON' | 'SCHEMA_INVALID', details: JsonObject = {}): Denied {
  const message = 'the payload is not UTF-8 text';
  return deny(code, message, { ...details, issues: [{ code, path: '$', message }] });
}

function givenIn(payload: PayloadInput): Json {
  return 'text' in payload ? payload.text : payload.value;
}

/** For the kinds of gaia a string is always a text to read. */
function isTextual(payload: PayloadInput): boolean {
  return isString(givenIn(payload));
}

/**
 * Validators parse a string; a payload that is itself a string must not be parsed. Where parsing hides a fault, such as a
 * key that is there twice, the text is judged.
 */
function exact(payload: PayloadInput): Json {
  if ('text' in payload) return payload.text;
  const { value, written } = payload;
  if (written !== undefined && !parseJsonText(written, {}, { value }).ok) return written;
  return isString(value) ? JSON.stringify(value) : value;
}

function asWritten(payload: PayloadInput): Json | Uint8Array {
  if ('text' in payload && payload.bytes) return payload.bytes;
  return 'written' in payload && payload.written !== undefined ? payload.written : exact(payload);
}

function stringsOf(object: JsonObject): Record<string, string> {
  return Object.fromEntries(Object.entries(object).filter((pair): pair is [string, string] => isString(pair[1])));
}
