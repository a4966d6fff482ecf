// One payload against its contract, or lines of a stream of them, one value each; and what a code means.
import { resolve } from 'node:path';
import {
  misuseOf,
  type PayloadInput,
  type ValidateOptions,
  type Validator,
  validatorFor,
} from '../../contracts/validate.ts';
import { memberText, parseJsonText } from '../../dialects/json-text.ts';
import { ANSWERS } from '../../kernel/codes.ts';
import { isObject, isString, type Json, type JsonObject } from '../../kernel/json.ts';
import { nearestName } from '../../kernel/text.ts';
import { allow, deny, type Verdict } from '../../kernel/verdict.ts';
import { UsageError } from '../../workspace/locate.ts';
import type { Operation } from './table.ts';

export const validatePayload: Operation<'validate'> = async ({ cwd }, input, { onEvent }) => {
  const { kind, payload, lines, registry } = input;
  const found = await validatorFor(kind);
  if (!found) throw new UsageError(`there is no kind ${kind}`);
  const validator = registry === undefined ? startingAt(cwd, found) : found;
  const given: Given = {
    strict: input.strict ?? false,
    registry: registry === undefined ? null : resolve(cwd, registry),
    now: new Date().toISOString(),
    options: optionsIn(input.options),
  };
  if (Array.isArray(lines)) {
    const misuse = misuseOf(validator, given);
    if (misuse) throw new UsageError(misuse.reason);
    for (const line of lines) onEvent({ kind: 'value', value: answerTo(kind, validator, given, line) });
    return allow();
  }
  if (payload === undefined) throw new UsageError('payload is missing: the payload, a value or its text');
  return validator(payloadOf(payload, input.bytes), given);
};

function payloadOf(payload: Json, bytes: string | undefined): PayloadInput {
  if (!isString(payload)) return { value: payload };
  return { text: payload, ...(bytes === undefined ? {} : { bytes: Buffer.from(bytes, 'base64') }) };
}

/** Where no registry is named for all, a relative one of a payload's own options begins in the folder of the caller. */
function startingAt(cwd: string, validator: Validator): Validator {
  return (payload, given) => {
    const { options = {} } = given;
    if (!isString(options.registry)) return validator(payload, given);
    return validator(payload, { ...given, options: { ...options, registry: resolve(cwd, options.registry) } });
  };
}

/** The same object that a line has. It holds where a line says nothing else. */
function optionsIn(given: Json | undefined): JsonObject {
  if (given === undefined || isObject(given)) return given ?? {};
  const parsed = isString(given) ? parseJsonText(given) : null;
  if (!parsed?.ok || !isObject(parsed.value)) throw new UsageError('--options must be a JSON object');
  return parsed.value;
}

/** What holds for all lines; a line's own options go before these. */
type Given = ValidateOptions & { readonly options: JsonObject };

/** Every line is answered; one that cannot be read is answered too. */
function answerTo(kind: string, validator: Validator, given: Given, line: Json): JsonObject {
  const { id, verdict } = isString(line)
    ? answer(kind, validator, given, line)
    : isObject(line) && isString(line.base64)
      ? unread(validator, given, Buffer.from(line.base64, 'base64'))
      : { id: null, verdict: notALine(isObject(line) && isString(line.fault) ? line.fault : 'it is no text') };
  return { id, ...verdict };
}

/** A line that is no text gets the answer that a file with its bytes would get. */
function unread(validator: Validator, given: Given, bytes: Buffer): { id: Json; verdict: Verdict } {
  const text = bytes.toString('utf8');
  const members = readLine(text);
  const { id = null, options } = typeof members === 'string' ? {} : members;
  const verdict = validator({ text, bytes }, withOptions(given, isObject(options) ? options : {}));
  // An id in which a byte was replaced is not the one that was sent.
  return { id: JSON.stringify(id).includes('\uFFFD') ? null : id, verdict };
}

function answer(kind: string, validator: Validator, given: Given, line: string): { id: Json; verdict: Verdict } {
  const members = readLine(line);
  if (typeof members === 'string') return { id: null, verdict: notALine(members) };
  const { id = null, input, input_raw: raw } = members;
  const fault = faultOfMembers(kind, members);
  if (fault !== null) return { id, verdict: deny('BAD_USAGE', fault) };
  const own = withOptions(given, isObject(members.options) ? members.options : {});
  if (isString(raw)) return { id, verdict: validator({ text: raw }, own) };
  const value = input ?? null;
  const written = memberText(line, 'input');
  return { id, verdict: validator({ value, ...(written === null ? {} : { written }) }, own) };
}

const MEMBERS = ['id', 'kind', 'input', 'input_raw', 'options'];

/** A misspelt member must not loosen a contract in silence either. */
function faultOfMembers(kind: string, members: JsonObject): string | null {
  const unknown = Object.keys(members).find((name) => !MEMBERS.includes(name));
  if (unknown !== undefined) {
    return `a line has no member ${JSON.stringify(unknown.slice(0, 60))}; it has: ${MEMBERS.join(', ')}`;
  }
  const { kind: named, input, input_raw: raw, options = null } = members;
  if (named !== undefined && named !== kind) return `the line is of another kind than ${kind}`;
  if (options !== null && !isObject(options)) return 'options must be an object';
  if (raw !== undefined && !isString(raw)) return 'input_raw must be a string';
  return input === undefined && raw === undefined ? 'the line has neither input nor input_raw' : null;
}

function withOptions(given: Given, own: JsonObject): Given {
  return { ...given, options: { ...given.options, ...own } };
}

function notALine(why: string): Verdict {
  return deny('BAD_USAGE', `the line is not {"id", "input" | "input_raw", "options"?}: ${why}`);
}

/** The line itself is only taken apart: what its payload may hold is for the validator to say. */
function readLine(line: string): JsonObject | string {
  try {
    const value = JSON.parse(line.replace(/^\uFEFF/, '')) as Json;
    return isObject(value) ? value : 'it is no object';
  } catch (error) {
    return (error as Error).message;
  }
}

export const explainCode: Operation<'explain'> = async ({ program }, { code: word }) => {
  if (word === undefined) return allow('all codes', { codes: ANSWERS as unknown as JsonObject });
  // A finding may carry its value or place after a colon; the row is that of its family.
  const code = (word.split(':')[0] ?? word).toUpperCase();
  if (!Object.hasOwn(ANSWERS, code))
    throw new UsageError(`there is no code ${word}${guess(code)}; \`${program} explain\` lists them`);
  const row = ANSWERS[code as keyof typeof ANSWERS];
  return allow(row.means, { code, ...row });
};

function guess(code: string): string {
  const near = nearestName(code, Object.keys(ANSWERS));
  return near === null ? '' : ` (did you mean ${near}?)`;
}
