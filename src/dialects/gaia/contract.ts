// The words of the agent_contract_handoff, and how its values are asked. Checks, brief and schemas share these lists, so they
// promise the same.
import { isObject, isString, type Json, type JsonObject } from '../../kernel/json.ts';
import { type Finding, isEmpty, textOf } from '../../kernel/knowledge/live-state.ts';
import type { PlanStatus } from '../../kernel/report/status.ts';
import { JSON_DEPTH_MAX } from '../json-text.ts';

/** Names the fence of the OUTPUT block, and one section of the INPUT envelope. */
export const TAG = 'agent_contract_handoff';

export const STATUS_MEANS: Readonly<Record<PlanStatus, string>> = {
  IN_PROGRESS: 'you are in the middle of the work, or its verification failed and you will try again',
  APPROVAL_REQUEST: 'a command needs the consent of a person; fill in approval_request',
  COMPLETE: 'the increment is finished and evidence_report.verification.result is "pass"',
  BLOCKED: 'you cannot go on alone; name the gap in evidence_report.open_gaps',
  NEEDS_INPUT: 'a person has to decide; list the options in next_action',
};

export const OWNERSHIP_ASSESSMENTS = ['owned_here', 'cross_surface_dependency', 'not_my_surface'] as const;

export const APPROVAL_BLOCKING_KEYS = ['rollback', 'verification'] as const;
export const APPROVAL_ADVISORY_KEYS = ['operation', 'exact_content', 'scope', 'risk_level'] as const;
export const RISK_LEVELS = ['LOW', 'MEDIUM', 'HIGH', 'CRITICAL'] as const;

const AGENT_ID = /^a[0-9a-f]{5,}$/;

/** Whether a repair can be routed back to an agent of this name. */
export function isAgentId(value: unknown): value is string {
  return typeof value === 'string' && AGENT_ID.test(value);
}

export function isOneOf<T extends string>(words: readonly T[], value: unknown): value is T {
  return words.some((word) => word === value);
}

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

// Presence: a status field only has to be there; a field of a consolidation report or an approval has to hold something.

/** An object with at least one key; anything else cannot be used as a section. */
export function usable(value: Json | undefined): JsonObject | null {
  return isObject(value) && !isEmpty(value) ? value : null;
}

/** The value under a key written as documented or all in capitals; the documented spelling wins when it says something. */
export function either(section: JsonObject | null, key: string): Json | undefined {
  if (section === null) return undefined;
  const value = section[key];
  return value === undefined || value === null ? (section[key.toUpperCase()] ?? value) : value;
}

// Bounds of parsed values: depth, finite numbers, no key that poisons prototypes. The JSON reader applies the same to text.

/** What is wrong with the value, or null. */
export function faultOfValue(value: Json): string | null {
  const open: { value: Json; depth: number }[] = [{ value, depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value: current, depth } = next;
    if (typeof current === 'number' && !Number.isFinite(current)) return 'a number is too large';
    if (typeof current !== 'object' || current === null) continue;
    if (depth >= JSON_DEPTH_MAX) return `the JSON is nested deeper than ${JSON_DEPTH_MAX} levels`;
    if (isObject(current) && Object.hasOwn(current, '__proto__')) return 'the key "__proto__" is not allowed here';
    for (const child of Object.values(current) as Json[]) open.push({ value: child, depth: depth + 1 });
  }
  return null;
}

/** Whether the OUTPUT must carry a consolidation_report. Any value that holds something sets a flag, even `"false"`. */
export function consolidationRequired(injectedContext: JsonObject | null): boolean {
  if (injectedContext === null) return false;
  // Envelopes built by older runtimes keep the brief under its former name.
  const briefs = [injectedContext.agent_contract_handoff, injectedContext.investigation_brief];
  const asked = briefs.some((brief) => isSet(brief, 'consolidation_required') || isSet(brief, 'cross_check_required'));
  return asked || isSet(injectedContext.surface_routing, 'multi_surface');
}

function isSet(section: Json | undefined, flag: string): boolean {
  return isObject(section) && !isEmpty(section[flag]);
}

/** The sections the INPUT allows to be written; null when there was no INPUT to say so. */
export function sectionsToWrite(injectedContext: JsonObject | null): readonly string[] | null {
  if (injectedContext === null) return null;
  const { write_permissions: permissions } = injectedContext;
  const sections = isObject(permissions) ? permissions.writable_sections : undefined;
  return Array.isArray(sections) ? sections.filter(isString) : [];
}
