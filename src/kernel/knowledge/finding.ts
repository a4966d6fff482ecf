// What a check found at one place of a payload: its code, where it stands, and what to do about it.
import type { Json } from '../json.ts';

export type Finding = {
  /** `missing` and `invalid` break the contract; a `warning` never does. */
  readonly kind: 'missing' | 'invalid' | 'warning';
  readonly code: string;
  readonly path: string;
  readonly message: string;
};

const TEXT_CHARS_MAX = 200;

export function warning(code: string, path: string, message: string): Finding {
  return { kind: 'warning', code, path, message };
}

/** A value as text: strings as they are, anything else as JSON; bounded, because it is repeated to people and agents. */
export function textOf(value: Json): string {
  return bounded(typeof value === 'string' ? value : JSON.stringify(value));
}

/** The path of a member or element; bounded, because keys may have any length and nesting repeats them. */
export function below(path: string, key: string | number): string {
  return path.endsWith('…') ? path : bounded(typeof key === 'number' ? `${path}[${key}]` : `${path}.${key}`);
}

function bounded(text: string): string {
  return text.length <= TEXT_CHARS_MAX ? text : `${text.slice(0, TEXT_CHARS_MAX)}…`;
}
