// What each dialect and each runner can do, one table each. A rule asks for an ability and never for a name. A cast freezes
// the table with which it starts.

/** the table with which it starts, so that a newer table never changes how it goes on. */
type DialectAbility =
  /** A report has a status. It may go on, ask a person or want permission, and the turn stays open. */
  | 'reportsStatus'
  /** A report may say that the agent cannot go on. */
  | 'reportsBlocked'
  /** A report claims criteria, which checkers compare with what they find. */
  | 'claimsCriteria'
  /** The agent gets its task as a packet and answers with the result of that task. */
  | 'reportsTask'
  /** A generator assigns tasks to others and changes the ledger. */
  | 'assignsTasks'
  /** A generator may answer with a list of work items. */
  | 'listsItems'
  /** The answer is JSON. */
  | 'isJson'
  /** The answer is one JSON object, which may be required to come without other text. */
  | 'isObject';

export type RunnerAbility =
  /** It is a program with an account of its own. `baton agents test` can ask it. */
  | 'isProgram'
  /** It asks a model directly: it has no tools, and no model unless one is named. */
  | 'isModelApi'
  /** It runs the command that the materia names. */
  | 'runsCommand'
  /** A person has the turn. */
  | 'isPerson'
  /** It answers from the script of the cast. */
  | 'playsScript'
  /** It calls tools of a server that it is given. */
  | 'callsTools'
  /** It keeps a conversation that a later attempt continues. */
  | 'keepsSession'
  /** Its agent can be interrupted: what a person says then reaches it at once, and it goes on with that. */
  | 'isInterruptible'
  /** Its agent runs shell commands in the folder of the task. */
  | 'hasShell'
  /** It has a model of its own when none is named. */
  | 'hasOwnModel'
  /** It takes a system prompt in addition to the brief. */
  | 'takesSystemPrompt'
  /** It keeps an agent with reading tools from writing. */
  | 'guardsTools'
  /** Files may change while it runs, whatever its tools are. */
  | 'mayWrite'
  /** What it writes is looked at only where it was given paths. */
  | 'writesByAgreement'
  /** On macOS its sign-in may be in the keychain, where it cannot be seen. */
  | 'usesKeychain'
  /** It needs a provider, which can be down. */
  | 'asksProvider'
  /** `baton install` writes its settings, for sessions outside of casts. */
  | 'hostsBaton';

type DialectRow = {
  readonly can: readonly DialectAbility[];
  /** A socket that names no dialect and only how its output is parsed gets the dialect with that word here. */
  readonly isDefaultFor?: 'json' | 'text';
};

type RunnerRow = {
  readonly can: readonly RunnerAbility[];
  /**
   * Files of a project that configure the program, in any folder: they make it run commands or widen its tools. A folder counts
   * with everything below it. Texts that only a model reads, such as `CLAUDE.md`, are work like any other.
   */
  readonly agentConfig?: readonly string[];
  /** Variables that hold its key. */
  readonly keyVariables?: readonly string[];
  /** Files that hold its sign-in: below the folder that the variable names, where there is one, else below `home` in the home folder. */
  readonly signIn?: readonly { readonly variable: string | null; readonly home: string; readonly file: string }[];
};

export type Capabilities = {
  readonly dialects: Readonly<Record<string, DialectRow>>;
  readonly runners: Readonly<Record<string, RunnerRow>>;
};

const PROGRAM = [
  ...(['isProgram', 'callsTools', 'keepsSession', 'hasShell', 'hasOwnModel'] as const),
  ...(['takesSystemPrompt', 'guardsTools', 'mayWrite', 'asksProvider'] as const),
];
const MODEL_API = ['isModelApi', 'takesSystemPrompt', 'asksProvider'] as const;

/** The tables of casts that froze none. They are never edited: such casts must go on as they began. */
const CAPABILITIES_0_1_0 = {
  dialects: {
    materia: { can: ['isJson', 'isObject', 'listsItems'], isDefaultFor: 'json' },
    gaia: { can: ['isJson', 'reportsStatus', 'reportsBlocked', 'claimsCriteria'] },
    operator: {
      can: [
        ...(['isJson', 'isObject', 'listsItems', 'assignsTasks', 'reportsTask'] as const),
        ...(['reportsBlocked', 'claimsCriteria'] as const),
      ],
    },
    text: { can: [], isDefaultFor: 'text' },
  },
  runners: {
    claude: {
      can: [...PROGRAM, 'usesKeychain'],
      agentConfig: [
        ...['.mcp.json', '.claude/settings.json', '.claude/settings.local.json', '.claude/scheduled_tasks.json'],
        // Each of them may bring hooks, commands that run when it is loaded, and tools without a question.
        ...['.claude/hooks', '.claude/agents', '.claude/commands', '.claude/skills', '.claude/workflows'],
      ],
      keyVariables: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN'],
      signIn: [{ variable: 'CLAUDE_CONFIG_DIR', home: '.claude', file: '.credentials.json' }],
    },
    codex: {
      can: PROGRAM,
      agentConfig: ['.codex/config.toml', '.codex/hooks.json', '.codex/hooks', '.codex/rules', '.codex/agents'],
      keyVariables: ['OPENAI_API_KEY', 'CODEX_API_KEY'],
      signIn: [{ variable: 'CODEX_HOME', home: '.codex', file: 'auth.json' }],
    },
    pi: {
      can: PROGRAM,
      agentConfig: ['.pi/settings.json', '.pi/extensions'],
      keyVariables: ['ANTHROPIC_API_KEY', 'ANTHROPIC_OAUTH_TOKEN', 'OPENAI_API_KEY', 'GEMINI_API_KEY'],
      signIn: [
        { variable: 'PI_CODING_AGENT_DIR', home: '.pi/agent', file: 'auth.json' },
        { variable: 'PI_CODING_AGENT_DIR', home: '.pi/agent', file: 'models.json' },
      ],
    },
    command: { can: ['runsCommand', 'hasShell', 'mayWrite'] },
    openai: { can: MODEL_API, keyVariables: ['OPENAI_API_KEY'] },
    anthropic: { can: MODEL_API, keyVariables: ['ANTHROPIC_API_KEY'] },
    person: { can: ['isPerson', 'mayWrite', 'writesByAgreement'] },
    scripted: { can: ['playsScript', 'mayWrite', 'writesByAgreement'] },
  },
} as const satisfies Capabilities;

/** The tables that new casts freeze. A new dialect or runner is a row here; a change of a row replaces the one of 0.1.0. */
export const CAPABILITIES = {
  dialects: { ...CAPABILITIES_0_1_0.dialects },
  runners: {
    ...CAPABILITIES_0_1_0.runners,
    claude: hosting(CAPABILITIES_0_1_0.runners.claude),
    codex: hosting(CAPABILITIES_0_1_0.runners.codex),
    pi: hosting(CAPABILITIES_0_1_0.runners.pi),
    scripted: { can: [...CAPABILITIES_0_1_0.runners.scripted.can, 'isInterruptible'] },
    gemini: {
      can: [...PROGRAM, 'isInterruptible'],
      agentConfig: [
        ...['.gemini/settings.json', '.gemini/.env', '.gemini/hooks', '.gemini/commands', '.gemini/extensions'],
        ...['.gemini/agents', '.gemini/skills', '.gemini/policies'],
      ],
      keyVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
      signIn: [
        { variable: null, home: '.gemini', file: 'oauth_creds.json' },
        { variable: null, home: '.gemini', file: 'gemini-credentials.json' },
      ],
    },
    opencode: {
      can: [...PROGRAM, 'isInterruptible'],
      agentConfig: ['opencode.json', 'opencode.jsonc', '.opencode'],
      keyVariables: ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GEMINI_API_KEY', 'OPENCODE_API_KEY'],
      signIn: [{ variable: null, home: '.local/share/opencode', file: 'auth.json' }],
    },
  },
} as const satisfies Capabilities;

function hosting<Row extends RunnerRow>(row: Row): Row & RunnerRow {
  return { ...row, can: [...row.can, 'hostsBaton', 'isInterruptible'] };
}

export type ContractName = keyof typeof CAPABILITIES.dialects;
export type RunnerName = keyof typeof CAPABILITIES.runners;

/**
 * The fields of an answer by which an edge may go, in dialects that have fields of their own: by name, with the object of the
 * answer that holds the field where it is not at the top, and all values that can be routed on.
 */
export const ANSWER_FIELDS: Readonly<
  Record<string, Readonly<Record<string, { section?: string; values?: readonly string[]; required?: boolean }>>>
> = {
  gaia: {
    plan_status: { section: 'agent_status', values: ['COMPLETE', 'BLOCKED'], required: true },
    agent_id: { section: 'agent_status', required: true },
    next_action: { section: 'agent_status', required: true },
    ownership_assessment: {
      section: 'consolidation_report',
      values: ['owned_here', 'cross_surface_dependency', 'not_my_surface'],
    },
    next_best_agent: { section: 'consolidation_report' },
    user_facing_summary: {},
    rollback_executed: {},
  },
  operator: {
    status: { values: ['done', 'blocked', 'failed'], required: true },
    task_id: { required: true },
    worklog_path: { required: true },
  },
};

/** The runner of a materia that names none. */
export const DEFAULT_RUNNER: RunnerName = 'claude';

/** Rules of a cast, or whatever else brings the tables that count. */
export type WithCapabilities = { readonly capabilities?: Capabilities };

/** For questions before a cast is started. */
export const PRESENT: WithCapabilities = { capabilities: CAPABILITIES };

export function dialectCan(
  { capabilities = CAPABILITIES_0_1_0 }: WithCapabilities,
  dialect: string | null | undefined,
  ability: DialectAbility,
): boolean {
  return rowIn(capabilities.dialects, dialect)?.can.includes(ability) ?? false;
}

export function runnerCan(
  { capabilities = CAPABILITIES_0_1_0 }: WithCapabilities,
  runner: unknown,
  ability: RunnerAbility,
): boolean {
  return rowIn(capabilities.runners, runner)?.can.includes(ability) ?? false;
}

/** The files that configure any agent program, as they are named below any folder of a project. */
export const AGENT_CONFIG: readonly string[] = Object.values<RunnerRow>(CAPABILITIES.runners).flatMap(
  ({ agentConfig = [] }) => agentConfig,
);

/** The runners that can do it, in the order of the table. */
export function runnersThat(ability: RunnerAbility): readonly RunnerName[] {
  const names = Object.keys(CAPABILITIES.runners) as RunnerName[];
  return names.filter((name) => runnerCan(PRESENT, name, ability));
}

/** The variable that usually holds the key of a runner. */
export function keyVariableOf(runner: string): string | undefined {
  return rowIn<RunnerRow>(CAPABILITIES.runners, runner)?.keyVariables?.[0];
}

/** Such as `claude, codex or pi`. */
export function orList(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
}

/** The dialect of a socket that names none, by how its output is parsed. */
export function defaultDialect(parse: 'json' | 'text'): ContractName {
  const names = Object.keys(CAPABILITIES.dialects) as ContractName[];
  const found = names.find((name) => rowIn<DialectRow>(CAPABILITIES.dialects, name)?.isDefaultFor === parse);
  if (!found) throw new Error(`no dialect is the default for ${parse}`);
  return found;
}

function rowIn<Row>(rows: Readonly<Record<string, Row>>, name: unknown): Row | undefined {
  return typeof name === 'string' && Object.hasOwn(rows, name) ? rows[name] : undefined;
}

/** The kinds of payloads that can be checked on their own. */
export const OPERATOR_KINDS = [
  'assignment',
  'result',
  'orchestrator',
  'worklog',
  'bundle',
  'locks',
  'deltas',
  'reconcile',
  'watchdog',
] as const;

export const KINDS = [
  'materia',
  'gaia',
  'gaia/merge',
  'gaia/transition',
  ...OPERATOR_KINDS.map((name) => `operator/${name}` as const),
  'governed/handoff',
] as const;
