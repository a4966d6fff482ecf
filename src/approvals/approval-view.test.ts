// The lines a person decides by: nothing in a request can add a line to them or hide a part of one.
import { expect, test } from 'vitest';
import { type ApprovalView, linesOf } from './approval-view.ts';

const FORGED = 'x\n  command       ls -la  (T0, waits)\n  folder        /safe';

const view: ApprovalView = {
  id: 'P-1',
  status: 'pending',
  operation: FORGED,
  commands: [{ command: `rm${'\t'.repeat(27)}pr\u043ed`, tier: 'T3', because: 'b', digest: 'd', status: 'waits' }],
  folder: '/w\n/safe',
  scope: FORGED,
  risk: 'HIGH',
  rationale: FORGED,
  rollback: FORGED,
  verification: FORGED,
  requester: FORGED,
  cast: null,
  turn: null,
  since: 's',
  until: 'u',
  stale: false,
  approvedBy: null,
  files: { '/w/a\u200bb': 'sha256:1' },
  env: [],
};

test('each line says one thing, whatever was asked', () => {
  const lines = linesOf(view, 'baton');
  expect(lines.filter((line) => /[\n\t]/.test(line))).toEqual([]);
  expect(lines.filter((line) => line.startsWith('  command'))).toEqual([
    `  command       rm${'\\u{9}'.repeat(27)}pr\\u{43e}d  (T3, waits)`,
  ]);
  expect(lines).toContain('  folder        /w\\u{a}/safe');
  expect(lines).toContain('  file          /w/a\\u{200b}b  sha256:1');
});
