// A call of `baton exec` in a line of shell: what counts as the call alone, and what is told of everything else.
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import type { Approval } from '../kernel/approval/state.ts';
import { execCall } from './exec-call.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 500);
/** Any program that is there will do for ours. */
const SELF = process.execPath;
const HERE = { cwd: '/', path: '', program: SELF };
const approval = {
  id: 'P-1',
  sealed: { commands: [{ display: 'deploy one' }, { display: 'deploy two' }] },
} as unknown as Approval;

const E = './baton exec --approval P-1 -- deploy one';

test('another command is none', () => {
  for (const line of ['ls', 'baton approvals', 'baton exec x', 'exec --approval P-1 -- ls'])
    expect(execCall(line, HERE)).toBeNull();
});

const nothing = (name: string, given: string) => ({ part: 'line', name, approved: 'nothing', given: `"${given}"` });

test.each<[string, readonly object[]]>([
  [`${E} > out`, [nothing('after', ' > out')]],
  [`${E} ; rm x`, [nothing('after', ' ; rm x')]],
  ['./baton exec --approval P-1 -- deploy two | tee log', [nothing('after', ' | tee log')]],
  [`cd sub && ${E}`, [nothing('before', 'cd sub && ')]],
  [`(${E}) &`, [nothing('before', '('), nothing('after', ') &')]],
  [`A=1 B='two words' ${E}`, [nothing('before', 'A=... B=... ')]],
  [`GITHUB_TOKEN=ghp_${'a1B2'.repeat(9)} ${E}`, [nothing('before', 'GITHUB_TOKEN=... ')]],
  [`A=abc\\ pw B=(a pw) C=$(echo pw) ${E}`, [nothing('before', 'A=... B=... C=... ')]],
  [
    `${E.replace('deploy one', "X='a pw'")} &`,
    [{ part: 'line', name: 'line', approved: '"deploy one"', given: '"X=... &"' }],
  ],
  [`sudo ${E}`, [nothing('before', 'sudo ')]],
  [`bash -c '${E}'`, [nothing('before', "bash -c '"), nothing('after', "'")]],
  [E.replace('one', '$X'), [{ part: 'line', name: 'line', approved: '"one"', given: '"$X"' }]],
  [
    `${E.replace('-- ', '-C sub -- ')} &`,
    [{ part: 'line', name: 'line', approved: '"-- deploy one"', given: '"-C sub -- deploy one &"' }],
  ],
  [`${E}\u200b | sh`, [nothing('after', '\\u{200b} | sh')]],
  [E, [{ part: 'program', name: './baton', approved: expect.any(String), given: 'none is found' }]],
])('%j is told by what differs', (line, differences) => {
  const call = execCall(line, HERE);
  expect(call).toMatchObject({ kind: 'changed', ids: ['P-1'] });
  expect(call?.kind === 'changed' && call.differencesTo(approval)).toEqual(differences);
});

test.each<[string, string]>([
  ['./baton exec --approval P-1 -- deploy one', 'alone'],
  ['./baton exec --approval=P-1 -- deploy one', 'alone'],
  ['./baton exec --json --approval P-1 -- deploy one', 'alone'],
  ['./baton exec --approval= -- deploy one', 'unclear'],
  ['./baton exec --approval P-1 --cwd=/x -- deploy one', 'changed'],
  ['./other exec --approval P-1 -- deploy one', 'none'],
])('%s is %s', (line, kind) => {
  const cwd = mkdtempSync(join(tmpdir(), 'baton-call-'));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  symlinkSync(SELF, join(cwd, 'baton'));
  const call = execCall(line, { ...HERE, cwd });
  expect(call?.kind ?? 'none').toBe(kind);
  const argv = call?.kind === 'alone' ? [call.id, ...call.argv] : null;
  expect(argv).toEqual(kind === 'alone' ? ['P-1', 'deploy', 'one'] : null);
});

test('of several calls each names its approval', () => {
  const line = `${E} && ./baton exec --approval=P-2 -- x; ${E}`;
  expect(execCall(line, HERE)).toMatchObject({ kind: 'changed', ids: ['P-1', 'P-2'] });
});

test('a call without the two dashes is told like any other that differs', () => {
  const cwd = mkdtempSync(join(tmpdir(), 'baton-call-'));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  symlinkSync(SELF, join(cwd, 'baton'));
  const call = execCall('./baton exec --approval P-1 deploy one', { ...HERE, cwd });
  expect(call).toMatchObject({ kind: 'changed', ids: ['P-1'] });
  const differences = [{ part: 'line', name: 'line', approved: '"--"', given: 'nothing' }];
  expect(call?.kind === 'changed' && call.differencesTo(approval)).toEqual(differences);
});

test('a call that names no approval that can be seen is refused without one', () => {
  expect(execCall('./baton exec --approval', HERE)).toMatchObject({
    kind: 'unclear',
    refusal: { code: 'APPROVAL_MISMATCH' },
  });
});

test('whatever stands around a call, something is told, and not much', () => {
  const piece = fc.oneof(
    fc.string(),
    fc.constantFrom(' ', "'", '"', ';', '&&', '$(', ')', 'A=', '`', '\n', '|', '\u202e'),
  );
  const text = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''));
  fc.assert(
    fc.property(text, text, (before, after) => {
      const call = execCall(`${before}${E}${after}`, HERE);
      if (call?.kind !== 'changed') return;
      const differences = call.differencesTo(approval);
      expect(differences.length).toBeGreaterThan(0);
      for (const { given } of differences) expect(given.length).toBeLessThan(1_000);
      expect(JSON.stringify(differences)).not.toMatch(/[^\x20-\x7e…]/);
    }),
    { numRuns: RUNS },
  );
});
