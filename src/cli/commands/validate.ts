// `baton validate`: one payload against its contract, or a stream of them, one JSON line each.

import { resolve } from 'node:path';
import { parseJsonText } from '../../dialects/json-text.ts';
import { memberText } from '../../dialects/member-text.ts';
import { KINDS, type ValidateOptions, type Validator, validatorFor } from '../../dialects/validate.ts';
import { isObject, isString, type Json, type JsonObject } from '../../kernel/json.ts';
import { deny, type Verdict } from '../../kernel/verdict.ts';
import { type Call, EXIT, flag, outJson, outJsonLine, text, UsageError } from '../command.ts';
import { readBytes } from '../read-input.ts';

const PAYLOAD_BYTES_MAX = 16 * 1024 * 1024;

export async function run(call: Call): Promise<number> {
  const [kind, file, ...more] = call.words;
  if (kind === undefined) throw new UsageError(`say which kind: ${KINDS.join(', ')}`);
  if (more.length > 0) throw new UsageError('validate one file at a time, or many payloads with --jsonl');
  const validator = await validatorFor(kind);
  if (!validator) throw new UsageError(`there is no kind ${kind}; there are: ${KINDS.join(', ')}`);
  const registry = text(call.values, 'registry');
  const given = {
    strict: flag(call.values, 'strict'),
    registry: registry === undefined ? null : resolve(call.cwd, registry),
    now: new Date().toISOString(),
  };
  if (flag(call.values, 'jsonl')) {
    if (file !== undefined) throw new UsageError('--jsonl reads standard input; leave the file out');
    return lines(validator, given);
  }
  const bytes = await readBytes(call, file ?? '-');
  const verdict = validator({ text: bytes.toString('utf8'), bytes }, { ...given, options: optionsOf(call) });
  outJson(verdict);
  return verdict.allow ? EXIT.ok : EXIT.denied;
}

/** Every line is answered, in order; a line that cannot be read is answered too. */
async function lines(validator: Validator, given: Omit<ValidateOptions, 'options'>): Promise<number> {
  for await (const line of linesOf(process.stdin)) {
    if (line.trim() === '') continue;
    const { id, verdict } = answer(validator, given, line);
    outJsonLine({ id, ...verdict });
  }
  return EXIT.ok;
}

function answer(
  validator: Validator,
  given: Omit<ValidateOptions, 'options'>,
  line: string,
): { id: Json; verdict: Verdict } {
  const members = readLine(line);
  if (typeof members === 'string') {
    const reason = `the line is not {"id", "input" | "input_raw", "options"?}: ${members}`;
    return { id: null, verdict: deny('BAD_USAGE', reason) };
  }
  const { id = null, input, input_raw: raw } = members;
  const options = members.options ?? {};
  if (!isObject(options)) return { id, verdict: deny('BAD_USAGE', 'options must be an object') };
  if (isString(raw)) return { id, verdict: validator({ text: raw }, { ...given, options }) };
  if (raw !== undefined) return { id, verdict: deny('BAD_USAGE', 'input_raw must be a string') };
  if (input === undefined) return { id, verdict: deny('BAD_USAGE', 'the line has neither input nor input_raw') };
  const written = memberText(line, 'input');
  const payload = { value: input, ...(written === null ? {} : { written }) };
  return { id, verdict: validator(payload, { ...given, options }) };
}

/** The line itself is only taken apart: what its payload may hold is for the validator to say. */
function readLine(line: string): JsonObject | string {
  if (Buffer.byteLength(line) > PAYLOAD_BYTES_MAX) return `it is larger than ${PAYLOAD_BYTES_MAX} bytes`;
  try {
    const value = JSON.parse(line.replace(/^\uFEFF/, '')) as Json;
    return isObject(value) ? value : 'it is no object';
  } catch (error) {
    return (error as Error).message;
  }
}

/** Lines end at a line feed and nowhere else: other separators may stand in a JSON string. */
async function* linesOf(input: NodeJS.ReadableStream): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of input) {
    rest += typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true });
    let from = 0;
    for (let end = rest.indexOf('\n'); end !== -1; end = rest.indexOf('\n', from)) {
      yield rest.slice(from, end);
      from = end + 1;
    }
    rest = rest.slice(from);
  }
  rest += decoder.decode();
  if (rest !== '') yield rest;
}

/** `--options` takes the same object that a line of `--jsonl` has. */
function optionsOf(call: Call): JsonObject {
  const given = text(call.values, 'options');
  if (given === undefined) return {};
  const parsed = parseJsonText(given);
  if (!parsed.ok || !isObject(parsed.value)) throw new UsageError('--options must be a JSON object');
  return parsed.value;
}
