// What the requested tools and level of thinking mean for each program. Programs name their tools differently, and codex has only
// sandboxes. A request that a program cannot meet gives a warning, never more rights than requested.
import { isToolScope, type ToolScope, type Tools } from '../kernel/graph/config.ts';

/** The tools of a scope in one program's names, and what had to be left out. */
type GrantedTools = { readonly tools: readonly string[]; readonly warnings: readonly string[] };

/** Our names, which are pi's, with Claude's names. Claude lists folders with the tool that finds files. */
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

/** Other tools of Claude Code. It silently drops unknown names. */
const CLAUDE_MORE = [
  ...['Agent', 'Task', 'TaskStop', 'SendMessage', 'ListAgents', 'Workflow', 'Monitor', 'Skill', 'ToolSearch'],
  ...['NotebookEdit', 'WebFetch', 'WebSearch', 'EnterWorktree', 'ExitWorktree', 'ReportFindings', 'DesignSync'],
  ...['CronCreate', 'CronDelete', 'CronList', 'ScheduleWakeup'],
];
const CLAUDE_KNOWN: ReadonlySet<string> = new Set([...Object.values(CLAUDE_NAMES), ...CLAUDE_MORE]);

const READING = ['read', 'grep', 'find', 'ls'];
const RUNNING = [...READING, 'bash'];
const CODING = [...RUNNING, 'edit', 'write'];
const TOOL_NAMES: Readonly<Record<ToolScope, readonly string[]>> = {
  none: [],
  readOnly: READING,
  readAndRun: RUNNING,
  coding: CODING,
};

export function claudeTools(scope: Tools): GrantedTools {
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
export function piTools(scope: Tools): GrantedTools {
  const tools = [...new Set(namesOf(scope).map((name) => PI_NAMES[name] ?? name))];
  const unknown = tools.filter((name) => !CODING.includes(name));
  const warnings = unknown.map((name) => `pi brings no tool ${name}; it is left out unless an extension has it`);
  return { tools, warnings };
}

/** By our names. A rule for single commands would become more than was asked for, and is left out. */
const GEMINI_NAMES: Readonly<Record<string, string>> = {
  read: 'read_file',
  grep: 'grep_search',
  find: 'glob',
  ls: 'list_directory',
  edit: 'replace',
  write: 'write_file',
  bash: 'run_shell_command',
};
const GEMINI_MORE = ['read_many_files', 'web_fetch', 'google_web_search', 'write_todos'];

const OPENCODE_NAMES: Readonly<Record<string, string>> = {
  read: 'read',
  grep: 'grep',
  find: 'glob',
  ls: 'list',
  edit: 'edit',
  write: 'write',
  bash: 'bash',
};
const OPENCODE_MORE = ['apply_patch', 'webfetch', 'websearch', 'codesearch', 'todowrite', 'lsp'];

export const geminiTools = (scope: Tools) => namedTools('gemini', scope, GEMINI_NAMES, GEMINI_MORE);
export const opencodeTools = (scope: Tools) => namedTools('opencode', scope, OPENCODE_NAMES, OPENCODE_MORE);

function namedTools(
  program: string,
  scope: Tools,
  names: Readonly<Record<string, string>>,
  more: readonly string[],
): GrantedTools {
  const known = new Set([...Object.values(names), ...more]);
  const asked = [...new Set(namesOf(scope).map((name) => names[PI_NAMES[name] ?? name] ?? name))];
  const unknown = asked.filter((name) => !known.has(name));
  const warnings = unknown.map((name) => `${program} has no tool ${name}; it was left out`);
  return { tools: asked.filter((name) => known.has(name)), warnings };
}

type Sandbox = {
  readonly mode: 'read-only' | 'workspace-write';
  readonly shell: boolean;
  readonly warnings: readonly string[];
};

export function codexSandbox(scope: Tools): Sandbox {
  // Checks write caches, so a turn that runs them needs a sandbox that lets it. Its other changes are restored.
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
  return isToolScope(scope) ? TOOL_NAMES[scope] : scope.tools;
}

const THINKING_LEVELS = ['off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

type Thinking = { readonly level: string | null; readonly warnings: readonly string[] };

/** The program's level for ours. Of two that are equally near the lower one is taken, because it costs less. */
export function nearestLevel(program: string, wanted: string | null, supported: readonly string[]): Thinking {
  if (wanted === null || supported.includes(wanted)) return { level: wanted, warnings: [] };
  const place = THINKING_LEVELS.indexOf(wanted as (typeof THINKING_LEVELS)[number]);
  if (place < 0) return { level: null, warnings: [`${wanted} is no level of thinking; ${program} uses its own`] };
  const distance = (level: string) =>
    Math.abs(THINKING_LEVELS.indexOf(level as (typeof THINKING_LEVELS)[number]) - place);
  let nearest: string | null = null;
  for (const level of THINKING_LEVELS) {
    if (supported.includes(level) && (nearest === null || distance(level) < distance(nearest))) nearest = level;
  }
  return { level: nearest, warnings: [`${program} cannot think ${wanted}; it thinks ${nearest} instead`] };
}
