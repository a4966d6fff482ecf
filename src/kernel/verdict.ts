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

/** A check of one list: its name, why it is at its place in the list, and the refusal it gives. */
export type NamedCheck<Context> = {
  readonly name: string;
  readonly why: string;
  check(context: Context): Denied | null;
};

/** The first check that refuses, with its refusal; null where all agree. The order of the list decides which code wins. */
export function firstRefusal<C extends NamedCheck<never>>(
  checks: readonly C[],
  context: Parameters<C['check']>[0],
): { readonly by: C; readonly refusal: Denied } | null {
  for (const by of checks) {
    const refusal = by.check(context as never);
    if (refusal) return { by, refusal };
  }
  return null;
}
