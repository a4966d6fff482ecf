// What a tool scope means to each program. The programs name their tools differently, and codex names none that could be
// listed: it has sandboxes. What a program cannot grant as asked comes back as a warning, never as more than was asked.
import { isToolScope, type ToolScope, type Tools } from '../kernel/graph/config.ts';

/** The tools of a scope in one program's names, and what had to be left out. */
export type Scope = { readonly tools: readonly string[]; readonly warnings: readonly string[] };

/** Our names, which are pi's, with Claude's beside them. Claude lists folders with the tool that finds files. */
const CLAUDE_NAMES: Readonly<Record<string, string>> = {
  read: 'Read',
  grep: 'Grep',
  find: 'Glob',
  ls: 'Glob',
  edit: 'Edit',
  write: 'Write',
  bash: 'Bash',
};
const PI_NAMES: Readonly<Record<string, string>> = {
  Read: 'read',
  Grep: 'grep',
  Glob: 'find',
  Edit: 'edit',
  Write: 'write',
  Bash: 'bash',
};

/** What Claude Code offers besides. A name that it does not know is dropped by it without a word. */
const CLAUDE_MORE = [
  ...['Agent', 'Task', 'TaskStop', 'SendMessage', 'ListAgents', 'Workflow', 'Monitor', 'Skill', 'ToolSearch'],
  ...['NotebookEdit', 'WebFetch', 'WebSearch', 'EnterWorktree', 'ExitWorktree', 'ReportFindings', 'DesignSync'],
  ...['CronCreate', 'CronDelete', 'CronList', 'ScheduleWakeup'],
];
const CLAUDE_KNOWN: ReadonlySet<string> = new Set([...Object.values(CLAUDE_NAMES), ...CLAUDE_MORE]);

const READING = ['read', 'grep', 'find', 'ls'];
const RUNNING = [...READING, 'bash'];
const CODING = [...RUNNING, 'edit', 'write'];
const NAMES: Readonly<Record<ToolScope, readonly string[]>> = {
  none: [],
  readOnly: READING,
  readAndRun: RUNNING,
  coding: CODING,
};

export function claudeTools(scope: Tools): Scope {
  const warnings: string[] = [];
  const tools = namesOf(scope).flatMap((name) => {
    const known = CLAUDE_NAMES[name];
    if (known !== undefined) return [known];
    // A rule such as `Bash(git *)` has the tool before its bracket; tools of servers begin with `mcp__`.
    if (CLAUDE_KNOWN.has(name.split('(')[0] ?? '') || name.startsWith('mcp__')) return [name];
    warnings.push(`claude has no tool ${name}; it was left out`);
    return [];
  });
  return { tools: [...new Set(tools)], warnings };
}

/** Extensions may add tools of any name: one that pi does not bring is handed on, and pi leaves it out if nothing has it. */
export function piTools(scope: Tools): Scope {
  const tools = [...new Set(namesOf(scope).map((name) => PI_NAMES[name] ?? name))];
  const unknown = tools.filter((name) => !CODING.includes(name));
  const warnings = unknown.map((name) => `pi brings no tool ${name}; it is left out unless an extension has it`);
  return { tools, warnings };
}

export type Sandbox = {
  readonly mode: 'read-only' | 'workspace-write';
  readonly shell: boolean;
  readonly warnings: readonly string[];
};

export function codexSandbox(scope: Tools): Sandbox {
  // Checks write caches, so a turn that runs them needs a sandbox that lets it. What it changes besides is put back.
  if (scope === 'coding' || scope === 'readAndRun') return { mode: 'workspace-write', shell: true, warnings: [] };
  if (scope === 'readOnly') return { mode: 'read-only', shell: true, warnings: [] };
  const names = namesOf(scope).map((name) => PI_NAMES[name] ?? name);
  if (names.length === 0) return { mode: 'read-only', shell: false, warnings: [] };
  const mode = names.includes('write') || names.includes('edit') ? 'workspace-write' : 'read-only';
  const warnings = [
    `codex cannot be limited to single tools; ${names.join(', ')} became a ${mode} sandbox with a shell`,
  ];
  return { mode, shell: true, warnings };
}

function namesOf(scope: Tools): readonly string[] {
  return isToolScope(scope) ? NAMES[scope] : scope.tools;
}
