// Which files of a project give orders to agent programs, and who may change them.
import { expect, test } from 'vitest';
import { isNamed, ORDERS, orderedBy, refusalOfOrders } from './orders.ts';

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
  expect(orderedBy(path)).toBe(by);
});

test('these are all of them in one folder', () => {
  expect([...ORDERS].sort()).toEqual([
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
    '.mcp.json',
    '.pi/extensions',
    '.pi/settings.json',
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
  ['.git/hooks/pre-commit', ['.git'], false],
  ['.git/config', ['.git/config'], false],
  ['src/a.ts', ['src'], false],
])('%s is named by %j: %s', (path, scope, expected) => {
  expect(isNamed(path, scope)).toBe(expected);
});

test('the refusal names the file, how many more there are, and the way out', () => {
  const refusal = refusalOfOrders('Socket-1', ['a.txt', '.pi/settings.json', '.mcp.json'], ['.', '.mcp.json']);
  expect(refusal?.code).toBe('SCOPE_VIOLATION');
  expect(refusal?.reason).toContain('Socket-1 changed ".pi/settings.json", by which');
  expect(refusal?.reason).toContain('name ".pi" in their lockScope');
  expect(refusal?.details).toMatchObject({ scope: '.pi', outside: ['.pi/settings.json'], count: 1 });
  expect(refusalOfOrders('Socket-1', ['.pi/settings.json', '.mcp.json'], ['.'])?.reason).toContain('(and 1 more)');
  expect(refusalOfOrders('Socket-1', ['a.txt', 'CLAUDE.md'], ['.'])).toBe(null);
});
