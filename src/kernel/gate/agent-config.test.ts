// Which files of a project give orders to agent programs, and who may change them.
import { expect, test } from 'vitest';
import { AGENT_CONFIG } from '../capabilities.ts';
import { configuredBy, isNamed, isOfRules, refusalOfAgentConfig } from '../ledger/scope.ts';
import { deny } from '../verdict.ts';

test.each<[path: string, by: string | null]>([
  ['.claude/settings.json', '.claude'],
  ['.claude/settings.local.json', '.claude'],
  ['.claude/hooks/check.sh', '.claude'],
  ['.claude/agents/a.md', '.claude'],
  ['.claude/commands/a.md', '.claude'],
  ['.claude/skills/a/SKILL.md', '.claude'],
  ['.claude', '.claude'],
  ['.Claude/Settings.json', '.Claude'],
  ['packages/a/.claude/settings.json', 'packages/a/.claude'],
  ['.mcp.json', '.mcp.json'],
  ['packages/a/.mcp.json', 'packages/a/.mcp.json'],
  ['.codex/config.toml', '.codex'],
  ['.codex/hooks.json', '.codex'],
  ['.codex/rules/default.rules', '.codex'],
  ['.pi/settings.json', '.pi'],
  ['.pi/extensions/x.ts', '.pi'],
  ['.git/hooks/pre-commit', '.git'],
  ['.git/config', '.git'],
  ['.git/info/attributes', '.git'],
  ['.git/worktrees/c/config.worktree', '.git'],
  ['.git/modules/m/hooks/x', '.git'],
  ['.git', '.git'],
  ['.git/HEAD', null],
  ['.github/hooks/x', null],
  ['CLAUDE.md', null],
  ['.claude/CLAUDE.md', null],
  ['.claude/plans/p.md', null],
  ['.claude.json/settings.json', null],
  ['.mcp.json/a', null],
  ['settings.json', null],
  ['.agents/skills/a/SKILL.md', null],
  ['toString', null],
])('%s gives orders by %s', (path, by) => {
  expect(configuredBy(path)).toBe(by);
});

test('these are all of them in one folder', () => {
  expect([...AGENT_CONFIG].sort()).toEqual([
    '.claude/agents',
    '.claude/commands',
    '.claude/hooks',
    '.claude/scheduled_tasks.json',
    '.claude/settings.json',
    '.claude/settings.local.json',
    '.claude/skills',
    '.claude/workflows',
    '.codex/agents',
    '.codex/config.toml',
    '.codex/hooks',
    '.codex/hooks.json',
    '.codex/rules',
    '.gemini/.env',
    '.gemini/agents',
    '.gemini/commands',
    '.gemini/extensions',
    '.gemini/hooks',
    '.gemini/policies',
    '.gemini/settings.json',
    '.gemini/skills',
    '.mcp.json',
    '.opencode',
    '.pi/extensions',
    '.pi/settings.json',
    'opencode.json',
    'opencode.jsonc',
  ]);
});

test.each<[path: string, scope: string[], isNamed: boolean]>([
  ['.claude/settings.json', [], false],
  ['.claude/settings.json', ['.'], false],
  ['.claude/settings.json', ['src'], false],
  ['.claude/settings.json', ['.', '.claude'], true],
  ['.claude/settings.json', ['.claude/settings.json'], true],
  ['.claude/settings.json', ['.claude/skills'], false],
  ['.claude/skills/a/SKILL.md', ['.claude/skills/a'], true],
  ['a/.claude/settings.json', ['a'], false],
  ['a/.claude/settings.json', ['.claude'], false],
  ['a/.claude/settings.json', ['a/.claude'], true],
  ['.mcp.json', ['.mcp.json'], true],
  ['.Claude/Settings.json', ['.claude'], true],
  ['.gitlab/.mcp.json', ['.gitlab/.mcp.json'], true],
  ['.git/hooks/pre-commit', ['.git'], false],
  ['.git/config', ['.git/config'], false],
  ['src/a.ts', ['src'], false],
])('%s is named by %j: %s', (path, scope, expected) => {
  expect(isNamed(path, scope)).toBe(expected);
});

test('the refusal names the file, how many more there are, and the way out', () => {
  const refusal = refusalOfAgentConfig('Socket-1', ['a.txt', '.pi/settings.json', '.mcp.json'], ['.', '.mcp.json']);
  expect(refusal?.code).toBe('SCOPE_VIOLATION');
  expect(refusal?.reason).toContain('Socket-1 changed ".pi/settings.json", by which');
  expect(refusal?.reason).toContain('name ".pi" in their lockScope');
  expect(refusal?.details).toMatchObject({ scope: '.pi', outside: ['.pi/settings.json'], count: 1 });
  expect(refusalOfAgentConfig('Socket-1', ['.pi/settings.json', '.mcp.json'], ['.'])?.reason).toContain('(and 1 more)');
  expect(refusalOfAgentConfig('Socket-1', ['a.txt', 'CLAUDE.md'], ['.'])).toBe(null);
});

test('files of git have a refusal of their own, which names five of them', () => {
  const hooks = [1, 2, 3, 4, 5, 6].map((n) => `.git/hooks/h${n}`);
  const refusal = refusalOfAgentConfig('Socket-1', [...hooks, '.mcp.json'], ['.', '.git']);
  expect(refusal?.reason).toContain('Socket-1 changed ".git/hooks/h1", ');
  expect(refusal?.reason).toContain('".git/hooks/h5" and 1 more, by which git runs commands');
  expect(refusal?.details).toEqual({ socket: 'Socket-1', scope: '.git', outside: hooks, count: 6 });
  const five = refusalOfAgentConfig('Socket-1', hooks.slice(0, 5), ['.']);
  expect(five?.reason).toContain('".git/hooks/h5", by which git');
  expect(refusalOfAgentConfig('Socket-1', ['.gitlab/.mcp.json'], ['.'])?.reason).toContain('by which agent programs');
});

test('a refusal lists twenty paths and counts all', () => {
  for (const folder of ['.claude/hooks', '.git/hooks']) {
    const paths = Array.from({ length: 25 }, (_, index) => `${folder}/h${index}`);
    const refusal = refusalOfAgentConfig('Socket-1', paths, []);
    expect(refusal?.details).toMatchObject({ outside: paths.slice(0, 20), count: 25 });
  }
});

test('only a change of rules or orders keeps the next attempt from beginning', () => {
  expect(isOfRules(deny('SCOPE_VIOLATION', 'no', { scope: '.claude' }))).toBe(true);
  expect(isOfRules(deny('SCOPE_VIOLATION', 'no', { outside: ['a'] }))).toBe(false);
  expect(isOfRules(deny('LOCK_CONFLICT', 'no', { scope: '.claude' }))).toBe(false);
});
