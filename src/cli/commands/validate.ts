// `baton validate`: one payload against its contract, or a stream of them, one JSON line each.

import { resolve } from 'node:path';
import { parseJsonText } from '../../dialects/json-text.ts';
import { memberText } from '../../dialects/member-text.ts';
import { KINDS, misuseOf, type ValidateOptions, type Validator, validatorFor } from '../../dialects/validate.ts';
import { isObject, isString, type Json, type JsonObject } from '../../kernel/json.ts';
import { deny, type Verdict } from '../../kernel/verdict.ts';
import { type Call, EXIT, exitOf, flag, outJson, outJsonLine, text, UsageError } from '../command.ts';
import { readBytes } from '../read-input.ts';
import { type Line, linesIn } from './validate-lines.ts';

const LINE_BYTES_MAX = 16 * 1024 * 1024;

export async function run(call: Call): Promise<number> {
  const [kind, file, ...more] = call.words;
  if (kind === undefined) throw new UsageError(`say which kind: ${KINDS.join(', ')}`);
  if (more.length > 0) throw new UsageError('validate one file at a time, or many payloads with --jsonl');
  const found = await validatorFor(kind);
  if (!found) throw new UsageError(`there is no kind ${kind}; there are: ${KINDS.join(', ')}`);
  const registry = text(call.values, 'registry');
  const validator = registry === undefined ? startingAt(call.cwd, found) : found;
  const given = {
    strict: flag(call.values, 'strict'),
    registry: registry === undefined ? null : resolve(call.cwd, registry),
    now: new Date().toISOString(),
    options: optionsOf(call),
  };
  if (flag(call.values, 'jsonl')) {
    if (file !== undefined) throw new UsageError('--jsonl reads standard input; leave the file out');
    const misuse = misuseOf(validator, given);
    if (misuse) throw new UsageError(misuse.reason);
    return lines(kind, validator, given);
  }
  const bytes = await readBytes(call, file ?? '-');
  const verdict = validator({ text: bytes.toString('utf8'), bytes }, given);
  outJson(verdict);
  return exitOf(verdict);
}

/** Where no registry is named for all, a relative one of a payload's own options begins in the folder the command acts on. */
function startingAt(cwd: string, validator: Validator): Validator {
  return (payload, given) => {
    const { options = {} } = given;
    if (!isString(options.registry)) return validator(payload, given);
    return validator(payload, { ...given, options: { ...options, registry: resolve(cwd, options.registry) } });
  };
}

/** What holds for all lines; a line's own options go before these. */
type Given = ValidateOptions & { readonly options: JsonObject };

/** Every line is answered, in order; a line that cannot be read is answered too. */
async function lines(kind: string, validator: Validator, given: Given): Promise<number> {
  for await (const line of linesIn(process.stdin, LINE_BYTES_MAX)) {
    if ('text' in line && line.text.trim() === '') continue;
    const { id, verdict } = 'text' in line ? answer(kind, validator, given, line.text) : unread(validator, given, line);
    outJsonLine({ id, ...verdict });
  }
  return EXIT.ok;
}

/** A line that was not read as text gets the answer that a file with its bytes would get. */
function unread(
  validator: Validator,
  given: Given,
  line: Exclude<Line, { text: string }>,
): { id: Json; verdict: Verdict } {
  if ('tooLong' in line) return { id: null, verdict: notALine(`it is larger than ${LINE_BYTES_MAX} bytes`) };
  const text = line.bytes.toString('utf8');
  const members = readLine(text);
  const { id = null, options } = typeof members === 'string' ? {} : members;
  const verdict = validator({ text, bytes: line.bytes }, withOptions(given, isObject(options) ? options : {}));
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

/** `--options` takes the same object that a line of `--jsonl` has, and is what holds where a line says nothing else. */
function optionsOf(call: Call): JsonObject {
  const given = text(call.values, 'options');
  if (given === undefined) return {};
  const parsed = parseJsonText(given);
  if (!parsed.ok || !isObject(parsed.value)) throw new UsageError('--options must be a JSON object');
  return parsed.value;
}
