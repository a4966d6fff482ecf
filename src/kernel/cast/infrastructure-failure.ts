// A utility that could not do its job is told apart from one that did it and is not satisfied: only the latter routes.
import { isObject, isText, type Json } from '../json.ts';

/**
 * Why a utility's result stands for a failure of what it works with, or null when it is an ordinary result. It is one
 * when `satisfied` is false and some part of its state says `ok: false`; the first such part gives the reason.
 */
export function infrastructureFailure(payload: Json): string | null {
  if (!isObject(payload) || payload.satisfied !== false || !isObject(payload.state)) return null;
  for (const [name, part] of Object.entries(payload.state)) {
    if (!isObject(part) || part.ok !== false) continue;
    const told = [part.error, payload.context, part.message, payload.message].find(isText);
    return told ?? `the utility reported ok: false in state.${name} and gave no reason`;
  }
  return null;
}
