import { expect, test } from 'vitest';
import { claude } from './claude.ts';
import { codex } from './codex.ts';
import { detailOf, toolEvent } from './event-streams.ts';
import { pi } from './pi.ts';

test.each([
  [{ file_path: 'src/a.ts', old_string: 'x' }, 'src/a.ts'],
  [{ command: 'npm test', description: 'Run the tests' }, 'npm test'],
  [{ command: ['bash', '-lc', 'ls'] }, 'bash -lc ls'],
  [{ pattern: 'TODO', path: 'src' }, 'src'],
  [{ changes: [{ path: 'a.txt', kind: 'add' }] }, 'a.txt'],
  [{ path: 7 }, null],
  [{}, null],
])('a call with %j is at %j', (call, detail) => {
  expect(detailOf(call)).toBe(detail);
});

test('a long detail is cut, and an empty one is none', () => {
  expect(toolEvent('Bash', 'x'.repeat(1_000))).toEqual({ kind: 'tool', name: 'Bash', detail: 'x'.repeat(200) });
  expect(toolEvent('Bash', ' ')).toEqual({ kind: 'tool', name: 'Bash' });
});

const call = { type: 'tool_use', name: 'Edit', input: { file_path: 'src/a.ts' } };
test.each([
  ['claude', claude, { type: 'assistant', message: { content: [call] } }, { name: 'Edit', detail: 'src/a.ts' }],
  [
    'codex',
    codex,
    { type: 'item.started', item: { type: 'command_execution', command: 'npm test' } },
    { name: 'command_execution', detail: 'npm test' },
  ],
  [
    'pi',
    pi,
    { type: 'tool_execution_start', toolName: 'read', args: { path: 'src/b.ts' } },
    { name: 'read', detail: 'src/b.ts' },
  ],
] as const)('%s says what its tool is at', (_, program, event, expected) => {
  expect(program.reader().push(`${JSON.stringify(event)}\n`)).toEqual([{ kind: 'tool', ...expected }]);
});
