// The words of the agent_contract_handoff, their lists for checks and briefs, and the JSON Schemas. The schema of a report
// is stricter than the checks: what fits it is accepted, except for what the INPUT or a loop_state asks in addition.
import { jsonSchemaOf } from '../../kernel/field-schema.ts';
import type { Field, Fields } from '../../kernel/fields.ts';
import { isObject, isString, type Json, type JsonObject } from '../../kernel/json.ts';
import { type Finding, isEmpty, textOf } from '../../kernel/knowledge/live-state.ts';
import { MEMORIALIZE_CLASSES, MEMORIALIZE_TYPES } from '../../kernel/knowledge/memory.ts';
import { INPUT } from '../../kernel/report/envelope.ts';
import { CONSOLIDATION_KEYS, EVIDENCE_KEYS } from '../../kernel/report/sections.ts';
import { PLAN_STATUSES, type PlanStatus } from '../../kernel/report/status.ts';
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

/** Findings as the lists of a verdict. A payload can earn any number of warnings, so only the first are listed. */
export function asDetails(findings: readonly Finding[]): {
  missing: string[];
  invalid: string[];
  warnings: string[];
  issues: JsonObject[];
} {
  const warnings = findings.filter(({ kind }) => kind === 'warning').slice(0, WARNINGS_MAX);
  const inOrder = [...findings.filter(({ kind }) => kind !== 'warning'), ...warnings];
  const codes = (kind: Finding['kind']) => inOrder.filter((finding) => finding.kind === kind).map(({ code }) => code);
  return {
    missing: codes('missing'),
    invalid: codes('invalid'),
    warnings: codes('warning'),
    issues: inOrder.map(({ kind, code, path, message }) => ({ kind, code, path, message })),
  };
}

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

const ANY = { type: 'json' } as const;
const TEXT = { type: 'text' } as const;
const LIST = { type: 'list', of: ANY } as const;
const STRING = { type: 'text', mayBeEmpty: true } as const;
const NUMBER = { type: 'number', nullable: true } as const;

const required = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, { ...field, required: true }]));
const all = (names: readonly string[], field: Field): Fields => Object.fromEntries(names.map((name) => [name, field]));
const object = (fields: Fields): Field => ({ type: 'object', unknown: 'free', fields });

/** The shape of a report as it should be written. The checks accept more, and know what the turn asks for. */
const REPORT: Field = object({
  ...required({
    agent_status: object(
      required({
        plan_status: { type: 'choice', of: PLAN_STATUSES },
        agent_id: { type: 'text', form: '^a[0-9a-f]{5,}$' },
        pending_steps: LIST,
        next_action: TEXT,
      }),
    ),
    evidence_report: object({ ...required(all(EVIDENCE_KEYS, LIST)), verification: object({}) }),
  }),
  consolidation_report: {
    ...object(
      required({
        ...all(CONSOLIDATION_KEYS, LIST),
        ownership_assessment: { type: 'choice', of: OWNERSHIP_ASSESSMENTS },
        next_best_agent: TEXT,
      }),
    ),
    nullable: true,
  },
  approval_request: {
    ...object({
      ...required({
        ...all([...APPROVAL_ADVISORY_KEYS, ...APPROVAL_BLOCKING_KEYS], TEXT),
        risk_level: { type: 'choice', of: RISK_LEVELS },
      }),
      approval_id: { ...STRING, nullable: true },
    }),
    nullable: true,
  },
  loop_state: {
    ...object({
      ...all(['iteration', 'max_iterations'], { type: 'count' }),
      ...all(['metric', 'threshold'], NUMBER),
    }),
    nullable: true,
  },
  user_facing_summary: { ...STRING, nullable: true },
  memory_suggestions: { type: 'list', of: STRING },
  memorialize_suggestions: {
    type: 'list',
    of: object({
      ...required(all(['description', 'body'], TEXT)),
      ...all(['slug', 'rationale'], STRING),
      type: { type: 'choice', of: MEMORIALIZE_TYPES },
      class: { type: 'choice', of: MEMORIALIZE_CLASSES },
    }),
  },
  update_contracts: { type: 'list', of: object(required({ contract: TEXT, payload: object({}) })) },
  rollback_executed: { ...STRING, nullable: true },
  context_consumption: { ...object(all(['tokens_used', 'pct_window'], NUMBER)), nullable: true },
});

const WHEN_COMPLETE = {
  evidence_report: {
    required: ['verification'],
    properties: { verification: { required: ['result'], properties: { result: { const: 'pass' } } } },
  },
} as const;

export const REPORT_SCHEMA: JsonObject = {
  ...jsonSchemaOf(REPORT, { title: 'agent_contract_handoff' }),
  allOf: [
    { anyOf: [isNot('COMPLETE'), { properties: WHEN_COMPLETE }] },
    {
      anyOf: [
        isNot('APPROVAL_REQUEST'),
        { required: ['approval_request'], properties: { approval_request: { type: 'object' } } },
      ],
    },
  ],
};

function isNot(status: PlanStatus) {
  return { properties: { agent_status: { properties: { plan_status: { not: { const: status } } } } } };
}

/** Requests. A malformed entry or an unknown status fits: it is part of the answer. */
const MERGE = {
  type: 'object',
  unknown: 'free',
  fields: {
    base: { type: 'map', of: ANY, nullable: true, means: 'the stored sections by name; empty when left out' },
    entries: {
      type: 'list',
      of: ANY,
      nullable: true,
      means: 'objects of contract, the name of a section, and payload, an object',
      example: [{ contract: 'services', payload: { login: { port: 8080 } } }],
    },
    writable_sections: {
      type: 'list',
      of: { type: 'text', mayBeEmpty: true },
      nullable: true,
      means: 'none when left out',
    },
  },
} as const satisfies Field;

export const MERGE_SCHEMA: JsonObject = jsonSchemaOf(MERGE, { title: 'Entries to merge into stored sections' });

const TRANSITION = {
  type: 'object',
  unknown: 'free',
  fields: {
    reports: {
      type: 'list',
      of: ANY,
      itemsMin: 1,
      required: true,
      means: `each one of ${PLAN_STATUSES.join(', ')}`,
      example: ['IN_PROGRESS', 'COMPLETE'],
    },
  },
} as const satisfies Field;

export const TRANSITION_SCHEMA: JsonObject = jsonSchemaOf(TRANSITION, {
  title: 'The statuses one agent reported, in order',
});

/** INPUT. Flags are booleans here, although any value that holds something sets one. */
export const INPUT_SCHEMA: JsonObject = jsonSchemaOf(INPUT, { title: 'INPUT envelope of a gaia turn' });
