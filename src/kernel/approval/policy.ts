// The `approvals` section of the configuration: the tiers of commands, what can never be approved, and how long requests and
// grants last.
import { given, isObject, isPositiveInteger, isText, type Json } from '../json.ts';
import { TIERS, type Tier } from './request.ts';

export const HOOK_MODES = ['off', 'ask', 'deny'] as const;
export type HookMode = (typeof HOOK_MODES)[number];

export type ApprovalPolicy = {
  /** By the words a command begins with. They count before our own table. */
  readonly tiers: Readonly<Record<string, Tier>>;
  /** The words with which commands begin that nobody may approve. */
  readonly blocked: readonly string[];
  /** Variables that are bound besides those that always are. */
  readonly env: readonly string[];
  /** The tier of a write within the workspace, by redirection or by a program that does nothing else. */
  readonly writes: Tier;
  /** Null where nothing is said: then a hook asks for approvals within a gaia turn only. */
  readonly hook: HookMode | null;
  readonly pendingHours: number;
  readonly grantMinutes: number;
};

export const DEFAULT_POLICY: ApprovalPolicy = {
  tiers: {},
  blocked: [],
  env: [],
  writes: 'T1',
  hook: null,
  pendingHours: 168,
  grantMinutes: 60,
};

/** The policy that a section which was checked describes. */
export function policyOf(section: Json | undefined): ApprovalPolicy {
  if (!isObject(section)) return DEFAULT_POLICY;
  const [tiers, writes, hook] = [given(section, 'tiers'), given(section, 'writes'), given(section, 'hook')];
  const [hours, minutes] = [given(section, 'pendingHours'), given(section, 'grantMinutes')];
  return {
    tiers: isObject(tiers) ? Object.fromEntries(Object.entries(tiers).filter(isTierRow)) : {},
    blocked: texts(given(section, 'blocked')),
    env: texts(given(section, 'env')),
    writes: isTier(writes) ? writes : DEFAULT_POLICY.writes,
    hook: HOOK_MODES.find((mode) => mode === hook) ?? null,
    pendingHours: isPositiveInteger(hours) ? hours : DEFAULT_POLICY.pendingHours,
    grantMinutes: isPositiveInteger(minutes) ? minutes : DEFAULT_POLICY.grantMinutes,
  };
}

function isTier(value: unknown): value is Tier {
  return TIERS.some((tier) => tier === value);
}

function isTierRow(row: [string, Json]): row is [string, Tier] {
  return isTier(row[1]);
}

function texts(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter(isText) : [];
}
