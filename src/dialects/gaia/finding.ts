// What a check found in a payload: its code, where it stands, and what to do about it.
import type { Json, JsonObject } from '../../kernel/json.ts';
import { type Finding, textOf } from '../../kernel/knowledge/finding.ts';

export { below, type Finding, textOf, warning } from '../../kernel/knowledge/finding.ts';

const WARNINGS_MAX = 100;

export function missing(code: string, path: string, message: string): Finding {
  return { kind: 'missing', code, path, message };
}

/** The code carries the value that was refused. */
export function invalid(code: string, value: Json, path: string, message: string): Finding {
  return { kind: 'invalid', code: `${code}:${textOf(value)}`, path, message };
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
