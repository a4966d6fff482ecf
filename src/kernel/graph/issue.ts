// How the static checks speak: one finding, and the wording its sentence shares with the others.
import type { Code } from '../codes.ts';
import { type Json, nameOfType } from '../json.ts';
import type { Issue } from './config.ts';

/** Checks yield what they find; what they return is for the check that called them. */
export type Findings<Result = void> = Generator<Issue, Result>;

export function error(code: Code, path: string, message: string): Issue {
  return { code, level: 'error', path, message };
}

export function warning(code: Code, path: string, message: string): Issue {
  return { code, level: 'warning', path, message };
}

const SHOWN_MAX = 60;
const LISTED_MAX = 12;

/** A value as a sentence quotes it: short texts and numbers as they are, everything else by its type. */
export function shown(value: Json | undefined): string {
  if (typeof value === 'string') {
    return value.length > SHOWN_MAX ? `"${value.slice(0, SHOWN_MAX)}…"` : `"${value}"`;
  }
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : nameOfType(value);
}

/** Names as a sentence lists them; a long list ends with a count. */
export function listed(names: readonly string[]): string {
  if (names.length === 0) return 'none';
  const rest = names.length - LISTED_MAX;
  return names.slice(0, LISTED_MAX).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}
