// What a check found in a payload: its code, where it stands, and what to do about it.
import type { Json, JsonObject } from '../../kernel/json.ts';

export type Finding = {
  /** `missing` and `invalid` break the contract; a `warning` never does. */
  readonly kind: 'missing' | 'invalid' | 'warning';
  readonly code: string;
  readonly path: string;
  readonly message: string;
};

const TEXT_CHARS_MAX = 200;
const WARNINGS_MAX = 100;

export function missing(code: string, path: string, message: string): Finding {
  return { kind: 'missing', code, path, message };
}

/** The code carries the value that was refused. */
export function invalid(code: string, value: Json, path: string, message: string): Finding {
  return { kind: 'invalid', code: `${code}:${textOf(value)}`, path, message };
}

export function warning(code: string, path: string, message: string): Finding {
  return { kind: 'warning', code, path, message };
}

/** Findings as the lists a verdict carries. A payload can earn any number of warnings, so only the first are told. */
export function asDetails(findings: readonly Finding[]): {
  missing: string[];
  invalid: string[];
  warnings: string[];
  issues: JsonObject[];
} {
  const warnings = findings.filter(({ kind }) => kind === 'warning').slice(0, WARNINGS_MAX);
  const told = [...findings.filter(({ kind }) => kind !== 'warning'), ...warnings];
  const codes = (kind: Finding['kind']) => told.filter((finding) => finding.kind === kind).map(({ code }) => code);
  return {
    missing: codes('missing'),
    invalid: codes('invalid'),
    warnings: codes('warning'),
    issues: told.map(({ kind, code, path, message }) => ({ kind, code, path, message })),
  };
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
