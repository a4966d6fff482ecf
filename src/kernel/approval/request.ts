// Approvals as data: the requests, the facts, and the policy in the configuration. A request brings everything that was
// looked up outside the kernel.
import type { Code } from '../codes.ts';
import { given, isObject, isPositiveInteger, isText, type Json } from '../json.ts';
import type { Denied } from '../verdict.ts';

export const TIERS = ['T0', 'T1', 'T2', 'T3'] as const;
/** Read-only, local validation, simulation, changes state. */
export type Tier = (typeof TIERS)[number];

/** The real place of a program and the digest of its bytes. */
export type ProgramSeal = { readonly path: string; readonly digest: string };

/** One command as it was sealed. The parts in clear hold no secret; marks and seal are made with a key. */
export type SealedCommand = {
  /** The command as a line of shell, without secrets. */
  readonly display: string;
  /** The SHA-256 of the canonical form of what is displayed. */
  readonly digest: string;
  /** Over everything the approval is bound to. */
  readonly seal: string;
  readonly tier: Tier;
  /** Why it has this tier. */
  readonly because: string;
  /** The arguments in clear; null where one of them holds a secret. */
  readonly argv: readonly string[] | null;
  /** One for each argument, so that the one that differs can be named. */
  readonly marks: readonly string[];
  /** By the word that names it; null where there was none. */
  readonly programs: Readonly<Record<string, ProgramSeal | null>>;
  /** Where the paths that its arguments name really lie. */
  readonly places: Readonly<Record<string, string>>;
  /** The digests of the files that it names, by their real paths. */
  readonly files: Readonly<Record<string, string>>;
};

export type SealedRequest = {
  /** `P-` and 32 hexadecimal digits. */
  readonly id: string;
  /** None where permission is asked for something that is no command. */
  readonly commands: readonly SealedCommand[];
  /** The real path of the folder in which the commands run. */
  readonly cwd: string;
  /** Names of the variables that are handed to the commands and set. */
  readonly env: readonly string[];
  /** All variables that are handed to the commands: the mark of the value, or null where it is not set. */
  readonly envMarks: Readonly<Record<string, string | null>>;
  /** Language, terminal and time zone. The commands run with them, whatever they are by then. Older requests have none. */
  readonly plainEnv?: Readonly<Record<string, string>>;
  /** Where programs are looked for. The commands run with it, whatever it is by then. */
  readonly path: string;
  /** The files of all commands. */
  readonly files: Readonly<Record<string, string>>;
  /** The digest of the policy in force. */
  readonly policy: string;
  readonly requester: string;
  /** The mark of the log it is asked in. */
  readonly log: string;
  readonly operation: string;
  readonly scope: string;
  readonly riskLevel: string;
  readonly rationale: string;
  /** Null where the request does not say how to undo it. */
  readonly rollback: string | null;
  readonly verification: string | null;
  /** Until when it waits for a decision. */
  readonly expiresAt: number;
  /** How long a decision holds. */
  readonly grantMs: number;
  /** Equal for equal requests, whenever they come and under any id. */
  readonly fingerprint: string;
  /** Tells keys apart without giving them away. */
  readonly keyId: string;
  /** The approval that the agent says it was given already. */
  readonly relays: string | null;
  /** Why this cannot be approved at all. */
  readonly refusal: Denied | null;
  /** The places in the list that was asked for which name no command. */
  readonly leftOut?: readonly number[];
};

/** Whether an entry of the list that is asked for names a command. */
export function namesCommand(one: Json): one is { readonly command: string } {
  return isObject(one) && isText(one.command);
}

/** What of a list was left out, in words; none where nothing was. */
export function leftOutOf({ leftOut = [] }: Pick<SealedRequest, 'leftOut'>): readonly string[] {
  return leftOut.map((index) => `approval_request.command_set.${index}: it names no command and is left out`);
}

/** The value where the request is silent. */
export const NOT_SAID = 'not said';

/** Notes about the commands for people. They are not sealed, because they change nothing that runs. */
export type Words = Partial<Pick<SealedRequest, 'operation' | 'scope' | 'rollback' | 'verification'>>;

/** A decision and its seal, as it is made outside. */
export type SealedDecision = {
  /** The canonical form of the decision. */
  readonly text: string;
  readonly mac: string;
};

/** The turn whose agent asks. */
export type Origin = { readonly cast: string; readonly turn: number; readonly attempt: number };

/** The process that carries a command out. */
export type Executor = {
  readonly host: string;
  readonly pid: number;
  readonly startTime: string;
  readonly machine?: string;
  readonly namespace?: string;
};

/** The executors that were looked for and are gone. Any other counts as running: it may have begun since. */
export type Gone = readonly Executor[];

/** A command as it is about to be run, looked at in the same way as when it was sealed. */
export type Presented = {
  /** Null where one of them holds a secret. */
  readonly argv: readonly string[] | null;
  readonly marks: readonly string[];
  readonly seal: string;
  readonly cwd: string;
  readonly programs: Readonly<Record<string, ProgramSeal | null>>;
  readonly places: Readonly<Record<string, string>>;
  readonly files: Readonly<Record<string, string | null>>;
  readonly envMarks: Readonly<Record<string, string | null>>;
  readonly policy: string;
  readonly log: string;
  readonly keyId: string;
  /** The decision under which it runs, sealed with the key of this machine. Null before a decision. */
  readonly decision: SealedDecision | null;
};

export type ApprovalRequest =
  | {
      readonly kind: 'approval.request';
      readonly sealed: SealedRequest;
      readonly from: Origin | null;
      readonly gone?: Gone;
    }
  | {
      readonly kind: 'approval.decide';
      readonly id: string;
      readonly choice: 'approve' | 'reject';
      readonly reason: string;
      readonly isAgent: boolean;
      /** What may have run before a crash may run once more. */
      readonly again?: boolean;
      readonly gone?: Gone;
      /** Until when a yes holds, and the seal of the decision. */
      readonly sealing?: { readonly until: number; readonly decision: SealedDecision };
      /** The yes that is there carries no seal, or another one: it counts for nothing and may be given again. */
      readonly isUnsealed?: boolean;
    }
  | {
      readonly kind: 'approval.use';
      readonly id: string;
      readonly requester: string;
      /** Null where no such approval was found to compare with, or where it is not the call alone that is to be run. */
      readonly presented: Presented | null;
      /** What a line of shell has around the call, or makes of it. */
      readonly around?: readonly Difference[];
      readonly executor: Executor;
      readonly gone?: Gone;
      /** Only whether it would be allowed: nothing is used up. */
      readonly dry?: boolean;
    }
  | {
      readonly kind: 'approval.finish';
      readonly id: string;
      readonly index: number;
      /** Who carried it out: one that was given up on does not speak for the one that came after it. */
      readonly executor: Executor;
      /** Null where it was ended by a signal or could not be started. */
      readonly exit: number | null;
      readonly note?: string;
    }
  /** Ends what was not decided or used in time. */
  | { readonly kind: 'approval.sweep' };

export function isApprovalRequest<T extends { readonly kind: string }>(request: T): request is T & ApprovalRequest {
  return request.kind.startsWith('approval.');
}

/** One part of the command that differs from the approved one. */
export type Difference = {
  readonly part:
    | 'argument'
    | 'folder'
    | 'program'
    | 'place'
    | 'file'
    | 'environment'
    | 'policy'
    | 'log'
    | 'requester'
    | 'seal'
    /** The line of shell that holds the call. */
    | 'line';
  /** Which argument, program, path or variable, or which end of the line. */
  readonly name: string;
  readonly approved: string;
  readonly given: string;
};

type OfTurn = { readonly id: string; readonly cast?: string; readonly turn?: number };

export type ApprovalFact =
  | (OfTurn & { readonly kind: 'approval.requested'; readonly attempt?: number; readonly sealed: SealedRequest })
  /** A turn waits for an approval that was asked for outside of its report. */
  | {
      readonly kind: 'approval.linked';
      readonly id: string;
      readonly cast: string;
      readonly turn: number;
      readonly attempt: number;
      /** What the report says about it, where that is more than was known. */
      readonly words?: Words;
    }
  | (OfTurn & {
      readonly kind: 'approval.approved';
      /** The authenticated identity of who decided. */
      readonly by: string;
      readonly reason: string;
      readonly until: number;
      /** The seal of the decision, made with the user's key. */
      readonly mac?: string;
      /** The commands that may run once more although they may have run. */
      readonly again?: readonly number[];
      /** Repeated for a turn that began to wait after the decision. */
      readonly relayed?: true;
    })
  | (OfTurn & {
      readonly kind: 'approval.rejected';
      readonly by: string;
      readonly reason: string;
      /** The seal of the decision, made with the user's key. */
      readonly mac?: string;
      /** Repeated for a turn that began to wait after the decision. */
      readonly relayed?: true;
    })
  | (OfTurn & { readonly kind: 'approval.expired'; readonly what: 'request' | 'grant' })
  /** What asked for it ended, or went on without it. */
  | (OfTurn & { readonly kind: 'approval.withdrawn'; readonly what: 'request' | 'grant'; readonly reason: string })
  | (OfTurn & {
      readonly kind: 'approval.used';
      readonly index: number;
      /** 0 for the first time, then one more for each time a person allowed it again. */
      readonly round: number;
      readonly requester: string;
      readonly executor: Executor;
    })
  | (OfTurn & {
      readonly kind: 'approval.finished';
      readonly index: number;
      readonly exit: number | null;
      readonly note?: string;
    })
  /** A command began and its end is not known. */
  | (OfTurn & { readonly kind: 'approval.unknown'; readonly index: number })
  | (OfTurn & {
      readonly kind: 'approval.refused';
      readonly code: Code;
      readonly reason: string;
      readonly differences: readonly Difference[];
    });

export function isApprovalFact(fact: { readonly kind: string }): fact is ApprovalFact {
  return fact.kind.startsWith('approval.');
}

/**
 * The `approvals` section of the configuration: the tiers of commands, what can never be approved, and how long requests and
 * grants last.
 */
export const HOOK_MODES = ['off', 'ask', 'deny'] as const;
export type HookMode = (typeof HOOK_MODES)[number];

export type ApprovalPolicy = {
  /** By the words a command begins with. They count before our own table. */
  readonly tiers: Readonly<Record<string, Tier>>;
  /** The first words of commands that can never be approved. */
  readonly blocked: readonly string[];
  /** Variables that are bound besides those that always are. */
  readonly env: readonly string[];
  /** The tier of a write within the workspace, by redirection or by a program that does nothing else. */
  readonly writes: Tier;
  /** Null where the configuration is silent: then a hook asks for approvals within a gaia turn only. */
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
