// A verdict answers one question with one code. A refusal is a value; a throw is a bug.
import type { Code } from './codes.ts';
import type { JsonObject } from './json.ts';

export type Details = JsonObject;
export type Allowed = { readonly allow: true; readonly code: 'OK'; readonly reason: string; readonly details: Details };
export type Denied = { readonly allow: false; readonly code: Code; readonly reason: string; readonly details: Details };
export type Verdict = Allowed | Denied;

export function allow(reason = 'ok', details: Details = {}): Allowed {
  return { allow: true, code: 'OK', reason, details };
}

export function deny(code: Code, reason: string, details: Details = {}): Denied {
  return { allow: false, code, reason, details };
}
