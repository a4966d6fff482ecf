// What a tool scope becomes in each program's own words.
import { expect, test } from 'vitest';
import type { Tools } from '../kernel/graph/config.ts';
import { claudeTools, codexSandbox, nearestLevel, piTools } from './tool-scope.ts';

const custom = (...tools: string[]): Tools => ({ type: 'custom', tools });

test.each<[Tools, string[], number]>([
  ['none', [], 0],
  ['readOnly', ['Read', 'Grep', 'Glob'], 0],
  ['readAndRun', ['Read', 'Grep', 'Glob', 'Bash'], 0],
  ['coding', ['Read', 'Grep', 'Glob', 'Bash', 'Edit', 'Write'], 0],
  [custom('read', 'Bash(git *)', 'mcp__baton', 'read'), ['Read', 'Bash(git *)', 'mcp__baton'], 0],
  [custom('WebFetch', 'NotebookEdit'), ['WebFetch', 'NotebookEdit'], 0],
  [custom('read', 'teleport'), ['Read'], 1],
  [custom('Read', 'Nope', 'Nope(git *)'), ['Read'], 2],
])('claude: %j', (scope, tools, warnings) => {
  expect(claudeTools(scope).tools).toEqual(tools);
  expect(claudeTools(scope).warnings).toHaveLength(warnings);
});

test.each<[Tools, string[], string[]]>([
  ['none', [], []],
  ['readOnly', ['read', 'grep', 'find', 'ls'], []],
  ['readAndRun', ['read', 'grep', 'find', 'ls', 'bash'], []],
  ['coding', ['read', 'grep', 'find', 'ls', 'bash', 'edit', 'write'], []],
  [
    custom('Read', 'ask_question'),
    ['read', 'ask_question'],
    ['pi brings no tool ask_question; it is left out unless an extension has it'],
  ],
])('pi: %j', (scope, tools, warnings) => {
  expect(piTools(scope)).toEqual({ tools, warnings });
});

test.each<[Tools, string, boolean, number]>([
  ['none', 'read-only', false, 0],
  ['readOnly', 'read-only', true, 0],
  ['readAndRun', 'workspace-write', true, 0],
  ['coding', 'workspace-write', true, 0],
  [custom(), 'read-only', false, 0],
  [custom('read', 'bash'), 'read-only', true, 1],
  [custom('Write'), 'workspace-write', true, 1],
])('codex: %j', (scope, mode, shell, warnings) => {
  const made = codexSandbox(scope);
  expect([made.mode, made.shell, made.warnings.length]).toEqual([mode, shell, warnings]);
});

const FEW = ['low', 'medium', 'high'];
test.each<[string | null, string | null, number]>([
  [null, null, 0],
  ['medium', 'medium', 0],
  ['off', 'low', 1],
  ['max', 'high', 1],
  ['deep', null, 1],
])('thinking %s of three levels is %s', (wanted, level, warnings) => {
  const made = nearestLevel('x', wanted, FEW);
  expect([made.level, made.warnings.length]).toEqual([level, warnings]);
});

test('of two levels that are equally near the cheaper one is taken', () => {
  expect(nearestLevel('x', 'medium', ['low', 'high']).level).toBe('low');
});
