// Who may act for the holder of a token: what a listening server of ours started, and nobody who only says so.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isServed, isServer } from './who-acts.ts';

const main = join(import.meta.dirname, '../../bin/main.cjs');

test.each([
  [['node', '--disable-warning=ExperimentalWarning', main, 'mcp', '--http', '0'], true],
  [['node', '--no-warnings', '--max-semi-space-size=4', main, 'mcp', '--http', '0'], true],
  [['node', main, '-C', '/w', 'mcp', '--http=7'], true],
  [['node', main, 'mcp'], false],
  [['node', main, 'approve', 'P-1'], false],
  [['node', '--require', './evil.js', main, 'mcp', '--http', '0'], false],
  [['node', '/elsewhere/main.cjs', 'mcp', '--http', '0'], false],
  [['bash', '-c', 'x', main, 'mcp', '--http', '0'], false],
])('%j', (words, isIt) => {
  expect(isServer(`${words.join('\0')}\0`, main)).toBe(isIt);
});

test('who has no server above him is not served', () => {
  expect(isServed(process.pid, main)).toBe(false);
});
