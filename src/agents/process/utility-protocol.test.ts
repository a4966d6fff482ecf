import { expect, test } from 'vitest';
import type { AttemptEnd } from './attempt.ts';
import { unrun } from './attempt-folder.ts';
import { readUtility, resolveCommand, type UtilityCall, utilityStdin } from './utility-protocol.ts';

const call: UtilityCall = {
  cwd: '/work',
  runDir: '/run',
  castId: 'c1',
  socketId: 'Socket-2',
  materiaId: 'Stamp',
  materiaLabel: 'Stamp it',
  params: { depth: 2 },
  request: 'do it',
  state: { n: 1 },
  item: { title: 'a', context: 'b' },
  itemKey: 'WI-1',
  itemLabel: 'a',
  cursor: { name: 'workItemIndex', index: 0 },
  cursors: { workItemIndex: 0 },
  rework: [{ from: 'Socket-3', reason: 'tests fail' }],
};

test('a utility is told everything in one line', () => {
  const text = utilityStdin(call);
  expect(text.indexOf('\n')).toBe(text.length - 1);
  const base = { id: 'base', cwd: '/work', state: {}, exports: {} };
  expect(JSON.parse(text)).toEqual({ ...call, executionScope: base, baseScope: base });
});

test('a utility outside of any item is told so with nulls', () => {
  const message = JSON.parse(utilityStdin({ ...call, item: null, itemKey: null, itemLabel: null, cursor: null }));
  expect([message.item, message.itemKey, message.itemLabel, message.cursor]).toEqual([null, null, null, null]);
});

test('a lane has a scope of its own', () => {
  const lane = { id: 'lane-1', cwd: '/lane', state: { k: 1 }, exports: {} };
  const message = JSON.parse(utilityStdin({ ...call, cwd: '/lane', executionScope: lane }));
  expect([message.executionScope.id, message.baseScope.id]).toEqual(['lane-1', 'base']);
});

test.each([
  [
    ['./x.mjs', '-v'],
    [process.execPath, '/conf/x.mjs', '-v'],
  ],
  [['./sub/x.cjs'], [process.execPath, '/conf/sub/x.cjs']],
  [
    ['node', './x.js', './y.js'],
    ['node', '/conf/x.js', './y.js'],
  ],
  [
    ['node', '--trace-warnings', './x.js'],
    ['node', '--trace-warnings', './x.js'],
  ],
  [
    ['python3', './x.js'],
    ['python3', './x.js'],
  ],
  [['./x.sh'], ['./x.sh']],
  [['x.mjs'], ['x.mjs']],
  [['/abs/x.mjs'], ['/abs/x.mjs']],
])('%j is run as %j', (command, argv) => {
  expect(resolveCommand(command, '/conf')).toEqual(argv);
});

const end = (changes: Partial<AttemptEnd>): AttemptEnd => ({
  ...unrun({}),
  code: 0,
  lost: false,
  stdout: '{"satisfied":true}',
  stderr: '',
  ...changes,
});

test.each<[string, Partial<AttemptEnd>, string, RegExp]>([
  ['lost', { lost: true, aborted: true, code: null }, 'OUTCOME_UNKNOWN', /may have run/],
  ['stopped', { aborted: true, timedOut: true }, 'ABORTED', /stopped/],
  [
    'too slow',
    { timedOut: true, error: 'x' },
    'UTILITY_FAILED',
    /within 250 ms and was stopped; until then it had written {"satisfied":true}$/,
  ],
  ['not started', { error: 'jj was not found', code: null }, 'UTILITY_FAILED', /jj was not found/],
  [
    'killed',
    { signal: 'SIGSEGV', code: null, stderr: 'no disk' },
    'UTILITY_FAILED',
    /SIGSEGV: no disk; until then it had written {"satisfied":true}$/,
  ],
  ['exit code 3 with a valid result', { code: 3, stderr: 'no disk\n' }, 'UTILITY_FAILED', /exit code 3: no disk$/],
])('%s', (_name, changes, code, reason) => {
  const result = readUtility(end(changes), 250);
  expect(result).toMatchObject({ ok: false, code });
  expect(result.ok || result.reason).toMatch(reason);
});

test('exit code 0 gives the output, whatever stderr says', () => {
  expect(readUtility(end({ stderr: 'warning' }), 1)).toEqual({
    ok: true,
    output: '{"satisfied":true}',
    truncated: false,
  });
  expect(readUtility(end({ stdoutTruncated: true }), 1)).toMatchObject({ ok: true, truncated: true });
});

test('a reason holds at most the last 800 characters of stderr, none of them halved', () => {
  const result = readUtility(end({ code: 1, stderr: `${'🙂'.repeat(5000)} last words` }), 1);
  const told = result.ok ? '' : result.reason.replace('the utility ended with exit code 1: ', '');
  expect(told).toHaveLength(799);
  expect(told.isWellFormed() && told.endsWith('last words')).toBe(true);
});
