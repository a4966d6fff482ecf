// What a tool scope means to each program. The programs name their tools differently, and codex names none that could be
// listed: it has sandboxes. What a program cannot grant as asked comes back as a warning, never as more than was asked.
import type { Tools } from '../kernel/graph/config.ts';

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

const READING = ['read', 'grep', 'find', 'ls'];
const CODING = [...READING, 'edit', 'write', 'bash'];

export function claudeTools(scope: Tools): Scope {
  const warnings: string[] = [];
  const tools = namesOf(scope).flatMap((name) => {
    const known = CLAUDE_NAMES[name];
    if (known !== undefined) return [known];
    // Its own names begin with a capital letter; those of servers with `mcp__`.
    if (/^(?:[A-Z]|mcp__)/.test(name)) return [name];
    warnings.push(`claude has no tool ${name}; it was left out`);
    return [];
  });
  return { tools: [...new Set(tools)], warnings };
}

/** Extensions may add tools of any name, so no name is unknown to pi. */
export function piTools(scope: Tools): Scope {
  return { tools: [...new Set(namesOf(scope).map((name) => PI_NAMES[name] ?? name))], warnings: [] };
}

export type Sandbox = {
  readonly mode: 'read-only' | 'workspace-write';
  readonly shell: boolean;
  readonly warnings: readonly string[];
};

export function codexSandbox(scope: Tools): Sandbox {
  if (scope === 'coding') return { mode: 'workspace-write', shell: true, warnings: [] };
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
  if (scope === 'none') return [];
  if (scope === 'readOnly') return READING;
  return scope === 'coding' ? CODING : scope.tools;
}
