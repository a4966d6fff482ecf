// The last message of an agent, and whether it keeps the contract. The message comes with the event, or it is read from the
// end of the transcript.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { validatorFor } from '../contracts/validate.ts';
import type { ContractName } from '../kernel/capabilities.ts';
import { isObject, isString, type Json, type JsonObject } from '../kernel/json.ts';
import { type Denied, deny } from '../kernel/verdict.ts';
import type { HookInput } from './protocol.ts';

const TAIL_BYTES = 4 * 1_048_576;

/** Null where there is none. */
export function lastMessage({ lastMessage: given, transcript }: HookInput): string | null {
  return given ?? (transcript === null ? null : lastIn(tailOf(transcript)));
}

/** The text of the last assistant message in a transcript with one JSON object per line. */
export function lastIn(transcript: string): string | null {
  for (let end = transcript.length; end > 0; ) {
    const start = transcript.lastIndexOf('\n', end - 1) + 1;
    const text = textOf(transcript.slice(start, end));
    if (text !== null) return text;
    end = start - 1;
  }
  return null;
}

function textOf(line: string): string | null {
  // Most lines are long tool results. They are not parsed.
  if (!line.includes('"assistant"')) return null;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  if (!isObject(value) || value.type !== 'assistant' || !isObject(value.message)) return null;
  const { content } = value.message;
  if (isString(content)) return content;
  const parts = Array.isArray(content) ? content.filter((part): part is JsonObject => isObject(part)) : [];
  const texts = parts.flatMap(({ type, text }) => (type === 'text' && isString(text) ? [text] : []));
  return texts.length === 0 ? null : texts.join('\n');
}

function tailOf(file: string): string {
  let handle: number;
  try {
    handle = openSync(file, 'r');
  } catch {
    return '';
  }
  try {
    const { size } = fstatSync(handle);
    const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES));
    const read = readSync(handle, bytes, 0, bytes.length, Math.max(0, size - bytes.length));
    return bytes.subarray(0, read).toString('utf8');
  } catch {
    return '';
  } finally {
    closeSync(handle);
  }
}

const KINDS: Readonly<Record<Exclude<ContractName, 'text'>, string>> = {
  materia: 'materia',
  gaia: 'gaia',
  operator: 'operator/result',
};
const ISSUES_MAX = 20;

/** The reason lists every problem, because the agent sees nothing else. */
export async function refusalOfMessage(message: string, contract: ContractName, now: string): Promise<Denied | null> {
  if (contract === 'text') return message.trim() === '' ? deny('NO_OUTPUT', 'say what you did before you stop') : null;
  const validator = await validatorFor(KINDS[contract]);
  const verdict = validator?.({ text: message }, { now });
  if (!verdict) return deny('INTERNAL', `the contract ${contract} cannot be checked`);
  if (verdict.allow) return null;
  const issues = issuesIn(verdict.details);
  const list = issues.length === 0 ? '' : ` Correct this: ${issues.join('; ')}.`;
  const reason = `your last message does not keep the ${contract} contract: ${verdict.reason}.${list} Send the whole message again.`;
  return deny(verdict.code, reason.replace('..', '.'), verdict.details);
}

function issuesIn({ issues, missing, invalid }: Readonly<Record<string, Json>>): readonly string[] {
  const lists = [missing, invalid].flatMap((list) => (Array.isArray(list) ? list.map(String) : []));
  const described = Array.isArray(issues)
    ? issues.filter(isObject).map(({ path, message }) => `${String(path)} ${String(message)}`)
    : [];
  return [...described, ...lists].slice(0, ISSUES_MAX);
}
