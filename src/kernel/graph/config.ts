// The configuration as people write it (`.baton/config.json`), and a loadout as the kernel runs it. Authored values are
// untrusted until `check` has passed. `resolve` fills in every default, so the rules of a cast never ask what a missing
// field means. Checkers are declared here by people; packets only name them, so no agent's text becomes a command.
import {
  CAPABILITIES,
  type ContractName,
  type RunnerName,
  runnersThat,
  type WithCapabilities,
} from '../capabilities.ts';
import { isObject, isPositiveInteger, isString, isText, type Json, type JsonObject, objectAt } from '../json.ts';
import type { KnowledgeRules } from '../knowledge/rules.ts';
import { normalPath } from '../ledger/path.ts';

export const CONDITIONS = ['always', 'satisfied', 'not_satisfied'] as const;
export type Condition = (typeof CONDITIONS)[number];
export const END = 'end';

export type Scalar = string | number | boolean;

export function isScalar(value: unknown): value is Scalar {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

/** Asks for the value of one field of the answer. A missing field matches nothing. */
export type FieldCondition = {
  readonly field: string;
  /** The object of the answer that holds the field, where a dialect does not keep it at the top. */
  readonly section?: string;
} & ({ readonly is: Scalar } | { readonly isNot: Scalar } | { readonly in: readonly Scalar[] });

/** What an edge may ask for. `advance` and the exits of loops know only the three names. */
export type EdgeCondition = Condition | FieldCondition;

export const CONTRACT_NAMES = Object.keys(CAPABILITIES.dialects) as readonly ContractName[];

/** `target path → source path`. */
export type Assign = Readonly<Record<string, string>>;

export type Edge = {
  readonly when: EdgeCondition;
  readonly to: string;
  readonly maxTraversals: number | null;
  /** What happens when it was taken as often as it may be; without it the cast fails. */
  readonly then?: Exclude<EdgeEnd, 'fail'>;
};
export const EDGE_ENDS = ['fail', 'park', 'ask'] as const;
export type EdgeEnd = (typeof EDGE_ENDS)[number];
export type Advance = { readonly cursor: string; readonly items: string; readonly when: Condition | null };
/** What a loop (or a `foreach` socket) walks over. `cursorKey` is unique among the loops of a loadout. */
export type Iterator = {
  readonly items: string;
  readonly as: string;
  readonly cursor: string;
  readonly cursorKey: string;
};
export type ExitRoute = {
  readonly id: string;
  readonly from: string;
  readonly condition: Condition;
  readonly targetSocketId: string;
};

export type Socket = {
  readonly id: string;
  /** What people call it. */
  readonly label?: string;
  readonly materia: string;
  readonly contract: ContractName;
  readonly parse: 'text' | 'json';
  /** `[target path, source path]` in the order they apply. A list, because the log keeps no order of members. */
  readonly assign: readonly (readonly [string, string])[];
  readonly edges: readonly Edge[];
  readonly advance: Advance | null;
  readonly foreach: Iterator | null;
  readonly limits: { readonly maxOutputBytes: number; readonly timeoutMs: number };
  readonly schema: JsonObject | null;
  /** Its answer is one JSON object without text around it. */
  readonly strict?: true;
  /** The paths its turns may change, as templates; null where the materia says. */
  readonly lockScope: readonly string[] | null;
  /** The checkers that run after its turns, in the place of those that run after every turn. */
  readonly checkers?: readonly string[];
};

export type Loop = {
  readonly id: string;
  readonly sockets: readonly string[];
  readonly consumes: string | null;
  readonly iterator: Iterator | null;
  readonly exits: readonly ExitRoute[];
  /** How many of its items may be in progress at the same time, where they go side by side. */
  readonly maxConcurrency: number;
  /** Its items go side by side, because the loop or its generator says so. Without it only tasks that a planner assigned do. */
  readonly isParallel?: true;
  /** What the loop waits for before it is left. Without it an item that fails ends the cast at once. */
  readonly barrier?: Barrier;
  /** The sockets between a parallel generator and the loop, in their order. They run once for each stream. */
  readonly prelude?: readonly string[];
};

/** A failed item lets the others finish. `all`: then the cast fails. `settled`: then the loop is left with what was done. */
export const BARRIERS = ['all', 'settled'] as const;
type Barrier = (typeof BARRIERS)[number];

/** The graph of one loadout with every default filled in. */
export type Graph = {
  readonly name: string;
  readonly entry: string;
  readonly sockets: Readonly<Record<string, Socket>>;
  /** In declaration order, which decides ties. */
  readonly loops: readonly Loop[];
  /** The names of the values that a cast is started with. They are data under `inputs`, and nothing changes them. */
  readonly inputs?: readonly string[];
};

/** From nothing to everything. `readAndRun` has a shell to run checks with, and no tool that edits files. */
export const TOOL_SCOPES = ['none', 'readOnly', 'readAndRun', 'coding'] as const;
export type ToolScope = (typeof TOOL_SCOPES)[number];
export type Tools = ToolScope | { readonly type: 'custom'; readonly tools: readonly string[] };

export function isToolScope(value: unknown): value is ToolScope {
  return TOOL_SCOPES.some((scope) => scope === value);
}

export type AgentMateria = {
  readonly type: 'agent';
  readonly id: string;
  readonly label: string;
  readonly generator: boolean;
  readonly multiTurn: boolean;
  readonly prompt: string;
  readonly tools: Tools;
  readonly runner: string;
  readonly model: string | null;
  readonly thinking: string | null;
  readonly identity: string | null;
  readonly onCrash: 'rerun' | 'wait';
  /** What its program runs in. */
  readonly sandbox?: 'bwrap';
  /** The folder in which it works, below that of the cast; absent for that one itself. */
  readonly cwd?: string;
  readonly lockScope: readonly string[] | null;
  /** Permanent instructions in addition to the brief. */
  readonly system?: string;
  /** Names of variables that it gets from our environment besides the usual ones. */
  readonly env?: readonly string[];
  /** Added to the arguments of its program as they are. */
  readonly args?: readonly string[];
  /** Where its model is, when that is not the provider's own place. */
  readonly baseUrl?: string;
  /** For the runner `openai`: which of its two interfaces is spoken there. */
  readonly wire?: ApiStyle;
  /** For models that are asked directly: the variable that holds the key, when it is not the provider's usual one. */
  readonly keyVariable?: string;
  /** For the runner `command`: the program and its arguments, with slots. */
  readonly command?: CommandTemplate;
  /** Who is tried instead when it is not available, in order. */
  readonly fallbacks?: readonly Choice[];
  /** It is not offered our own tools, and can answer in its own words only. */
  readonly mcp?: false;
};

/** OpenAI's two interfaces, Responses and Chat Completions. */
export const WIRES = ['responses', 'chat'] as const;
export type ApiStyle = (typeof WIRES)[number];

/** A runner, its model and, where that is not the provider's own, the place of it. */
export type Choice = { readonly runner: string; readonly model: string | null } & Pick<
  AgentMateria,
  'baseUrl' | 'wire' | 'keyVariable'
>;

/** The program first. Arguments in a list of their own are left out together when one of their slots has no value. */
export type CommandTemplate = readonly (string | readonly string[])[];

/** The arguments of a command, with `{{prompt}}` and other slots. `session` is the same in every attempt of a turn. */
export const COMMAND_SLOTS = ['prompt', 'system', 'model', 'thinking', 'session'] as const;

export const RUNNERS = Object.keys(CAPABILITIES.runners) as readonly RunnerName[];

/** What a million tokens of a model cost; `cached` is what of the input was read from the provider's cache. */
export type Price = { readonly input: number; readonly output: number; readonly cached?: number };

/** Null for no limit. */
export type RunnerLimits = { readonly maxConcurrent: number | null; readonly perMinute: number | null };

/** What a wait is for. The texts may have slots, as prompts have. */
export type WaitRules =
  | { readonly kind: 'time'; readonly forMs: number | null; readonly until: string | null }
  | {
      readonly kind: 'command';
      readonly command: readonly string[];
      readonly everyMs: number;
      /** The exit codes that mean "not yet"; without them every code but 0 does. */
      readonly pending?: readonly number[];
    }
  | { readonly kind: 'cast'; readonly cast: string };

export type UtilityMateria = {
  readonly type: 'utility';
  readonly id: string;
  readonly label: string;
  readonly generator: boolean;
  /** A built-in alias, a command without a shell, or a shipped script by name. Exactly one is not null, or it waits. */
  readonly utility: string | null;
  readonly command: readonly string[] | null;
  readonly script: string | null;
  /** It runs nothing and waits. */
  readonly wait?: WaitRules;
  readonly params: JsonObject;
  /** Names of the variables that it gets from our environment besides the usual ones; without it, it gets all. */
  readonly env?: readonly string[];
  /** Must not run twice: after a crash that leaves its outcome unknown it waits for a person. */
  readonly once: boolean;
  /** Files that it is known to change. They take no lock; a change of one while it runs is its own. */
  readonly writes?: readonly string[];
  /** What its program runs in. */
  readonly sandbox?: 'bwrap';
  /** The folder in which it works, below that of the cast; absent for that one itself. */
  readonly cwd?: string;
  readonly lockScope: readonly string[] | null;
};

export type Materia = AgentMateria | UtilityMateria;

export type Budget = {
  readonly maxTokens: number | null;
  readonly maxCost: number | null;
  readonly maxDurationMs: number | null;
  readonly warnAtPercent: number;
  /** What all casts of the workspace may use in a day. */
  readonly maxTokensPerDay?: number;
  readonly maxCostPerDay?: number;
};

export type Limits = {
  readonly maxNoAdvanceCycles: number;
  readonly repairTurnsMax: number;
  readonly maxBriefBytes: number;
  /** How long a model may be silent after a request; else the default. */
  readonly modelSilenceMs?: number;
};

/** Everything a cast needs to know, frozen when it starts. */
export type Rules = KnowledgeRules &
  WithCapabilities & {
    readonly graph: Graph;
    readonly materia: Readonly<Record<string, Materia>>;
    readonly budget: Budget;
    readonly limits: Limits;
    /** The checkers that people declared, by name. */
    readonly checkers: JsonObject;
    /** Limits by runner. */
    readonly runners?: Readonly<Record<string, RunnerLimits>>;
    /** Prices that people wrote down, by the beginning of a model's name. They count before those that are known. */
    readonly prices?: Readonly<Record<string, Price>>;
    /** How the worktree of the cast is set up, where that is written down; null where it works in the directory itself. */
    readonly worktree?: WorktreeRules | null;
  };

export const DEFAULTS = {
  maxOutputBytes: 1_048_576,
  agentTimeoutMs: 1_800_000,
  utilityTimeoutMs: 30_000,
  waitTimeoutMs: 86_400_000,
  waitEveryMs: 30_000,
  maxNoAdvanceCycles: 3,
  repairTurnsMax: 1,
  maxBriefBytes: 65_536,
  modelSilenceMs: 600_000,
  warnAtPercent: 75,
  maxConcurrency: 4,
} as const;

/** What the output of a socket may measure at most, whatever it asks for: all of it is read, searched and kept at once. */
export const OUTPUT_BYTES_MAX = 8_388_608;

/** One finding of the static checks. */
export type Issue = {
  readonly code: import('../codes.ts').Code;
  readonly level: 'error' | 'warning';
  /** Starts at `loadouts.<name>` or `materia.<id>`. */
  readonly path: string;
  readonly message: string;
};

/** Agents' turns by socket or materia id, for casts without a model. */
export type Script = Readonly<Record<string, readonly Json[]>>;

/** Runners that can take the place of one another: each asks a model with the same brief. */
export const MODEL_RUNNERS: readonly string[] = runnersThat('asksProvider');

export type WorktreeRules = {
  /** Programs with their arguments, run one after the other in the new worktree, without a shell. */
  readonly setup: readonly (readonly string[])[];
  /** Files and folders that git ignores and that are copied from the workspace. */
  readonly copy: readonly string[];
  /** For each program. */
  readonly timeoutMs: number;
  /** Folders of installed packages that the worktree shares with the workspace; absent: those that are found. */
  readonly link?: readonly string[];
  /** What becomes of a turn while which files of the main checkout changed; absent: it is refused. */
  readonly mainCheckout?: MainCheckout;
};

/** Whether a change of the main checkout refuses the turn that ran meanwhile, or is only reported. */
export type MainCheckout = (typeof MAIN_CHECKOUT)[number];

export const MAIN_CHECKOUT = ['refuse', 'warn'] as const;

export const SETUP_TIMEOUT_MS = 600_000;

export const HOOK_RULES = ['remove', 'git-discard', 'git-force-push', 'git-history', 'sleep'] as const;

export type HookRule = (typeof HOOK_RULES)[number];

/** A rule that is not named is on. With `allow` it is on, except for the commands that are listed. */
export type HookRuleSettings = Readonly<Partial<Record<HookRule, boolean | { readonly allow: readonly string[] }>>>;

export type Checker =
  /** Runs a program, without a shell, and looks at its exit code. */
  | {
      readonly kind: 'command';
      readonly command: readonly string[];
      readonly exitCode: number;
      readonly timeoutMs: number;
    }
  | { readonly kind: 'file'; readonly file: string; readonly exists: boolean; readonly contains: string | null }
  /** The value at a place of a JSON file. */
  | { readonly kind: 'json'; readonly file: string; readonly at: readonly string[]; readonly equals: Json }
  /** Nothing was changed but these paths and what lies below them. */
  | { readonly kind: 'diff'; readonly paths: readonly string[] };

export const CHECKER_TIMEOUT_MS = 300_000;

/** The checker that a definition declares, or null where it declares none. */
export function readChecker(definition: Json | undefined): Checker | null {
  if (!isObject(definition)) return null;
  const { command, file, json, diff } = definition;
  if (isCommand(command)) {
    const { exitCode, timeoutMs } = definition;
    return {
      kind: 'command',
      command,
      exitCode: typeof exitCode === 'number' ? exitCode : 0,
      timeoutMs: isPositiveInteger(timeoutMs) ? timeoutMs : CHECKER_TIMEOUT_MS,
    };
  }
  if (isPath(file)) {
    const { exists, contains } = definition;
    return { kind: 'file', file, exists: exists !== false, contains: isString(contains) ? contains : null };
  }
  if (isPath(json)) return { kind: 'json', file: json, at: placeOf(definition), equals: definition.equals ?? null };
  return isPaths(diff) ? { kind: 'diff', paths: diff } : null;
}

/** The names under which checkers are declared. */
export function checkerNames(config: JsonObject): readonly string[] {
  const declared = objectAt(config, 'checkers');
  return Object.keys(declared).filter((name) => readChecker(declared[name]) !== null);
}

/** After each turn that writes code, or for the whole work before it is merged. */
export const CHECKER_TIMES = ['turn', 'merge'] as const;
export type CheckerTime = (typeof CHECKER_TIMES)[number];
/** The names of the declared checkers that run at this time, in their order; without `when`, after each turn. */
export function checkersAt(declared: JsonObject, time: CheckerTime): readonly string[] {
  return Object.entries(declared).flatMap(([name, definition]) => {
    if (!isObject(definition) || readChecker(definition) === null) return [];
    return (definition.when === 'merge' ? 'merge' : 'turn') === time ? [name] : [];
  });
}

/** Those that run during a cast: after every turn, and where single sockets ask for them. */
export function checkersOfTurns(declared: JsonObject, sockets: Readonly<Record<string, Socket>>): readonly string[] {
  const named = Object.values(sockets).flatMap(({ checkers }) => checkers ?? []);
  return [...new Set([...checkersAt(declared, 'turn'), ...named])];
}

/** The steps to a value: those of a JSON pointer, or the names of a dotted path. */
function placeOf({ pointer, path }: JsonObject): readonly string[] {
  if (isString(pointer)) {
    return pointer
      .split('/')
      .slice(1)
      .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  }
  return isText(path) ? path.split('.') : [];
}

function isCommand(value: Json | undefined): value is readonly string[] {
  return Array.isArray(value) && isText(value[0]) && value.every(isString);
}

export function isPath(value: Json | undefined): value is string {
  if (!isText(value)) return false;
  const normal = normalPath(value);
  return normal.ok && !normal.path.startsWith('/');
}

function isPaths(value: Json | undefined): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every(isPath);
}
