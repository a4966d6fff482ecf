// The beginning every payload shares, and the way from any value to a payload that can be checked.
import { isObject, type JsonObject, nameOfType } from '../../kernel/json.ts';
import { type Denied, deny } from '../../kernel/verdict.ts';
import { JSON_DEPTH_MAX } from '../json-text.ts';
import { checkUtcTimestamp } from './field.ts';
import type { Findings } from './findings.ts';
import { checkRunId } from './identifiers.ts';
import { checkVersion } from './version.ts';

const NODES_MAX = 2_000_000;

export type Payload =
  | { readonly ok: true; readonly payload: JsonObject }
  | { readonly ok: false; readonly verdict: Denied };

/** Anything but an object of plain JSON is refused here, so that no check behind it can be surprised. */
export function payloadOf(input: unknown): Payload {
  if (!isObject(input)) {
    const message = `expected a JSON object, not ${nameOfType(input)}`;
    return { ok: false, verdict: refuse(message) };
  }
  let fault: string | null;
  try {
    fault = faultOf(input);
  } catch {
    fault = 'it holds something that cannot be read'; // A getter of a caller's own object may throw.
  }
  return fault === null ? { ok: true, payload: input } : { ok: false, verdict: refuse(fault) };
}

/** The run, and the optional time of writing. */
export function checkHead(found: Findings, payload: JsonObject): void {
  checkRunId(found, payload.run_id);
  if (payload.generated_at !== undefined) checkUtcTimestamp(found, payload.generated_at, 'generated_at');
}

/** Gate inputs need no version and no run, but what they state must be right. */
export function checkOptionalHead(found: Findings, payload: JsonObject): void {
  if (payload.schema_version !== undefined) checkVersion(found, payload.schema_version);
  if (payload.run_id !== undefined) checkRunId(found, payload.run_id);
  if (payload.generated_at !== undefined) checkUtcTimestamp(found, payload.generated_at, 'generated_at');
}

function refuse(message: string): Denied {
  const issues = [{ code: 'SCHEMA_INVALID', path: '$', message }];
  return deny('SCHEMA_INVALID', `The payload is not usable: ${message}.`, { path: '$', issues });
}

/** What keeps a value from being JSON of a sane size. Cycles end at the depth limit, shared parts at the count. */
function faultOf(input: object): string | null {
  const open: { value: unknown; depth: number }[] = [{ value: input, depth: 1 }];
  let nodes = 0;
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, depth } = next;
    if (++nodes > NODES_MAX) return 'it holds too many values';
    if (typeof value === 'number' && !Number.isFinite(value)) return 'it holds a number that JSON cannot write';
    if (typeof value === 'bigint' || typeof value === 'symbol' || typeof value === 'function') {
      return `it holds a ${typeof value}, which JSON cannot write`;
    }
    if (typeof value !== 'object' || value === null) continue;
    if (depth > JSON_DEPTH_MAX) return `it is nested deeper than ${JSON_DEPTH_MAX} levels`;
    for (const item of Object.values(value)) open.push({ value: item, depth: depth + 1 });
  }
  return null;
}
