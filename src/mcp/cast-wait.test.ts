import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CODES } from '../kernel/codes.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import { type CastNews, castWait } from './cast-wait.ts';
import type { CommandLine } from './command-line.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 2000);

type Printed = { readonly watch: readonly Json[]; readonly show: Json | undefined; readonly exit?: number | null };

/** A command line on which `watch` prints these lines and `show` this value. */
function printing({ watch, show, exit = 0 }: Printed, asked: string[] = []): CommandLine {
  return async ([command = '', ...rest], { hear } = {}) => {
    asked.push([command, ...rest].join(' '));
    if (command === 'show') return { exit: 0, value: show, stderr: 'show said no' };
    for (const line of watch) hear?.(line as JsonObject);
    return { exit, value: exit === null ? undefined : watch.at(-1), stderr: 'watch said no' };
  };
}

const over = { cast: 'c', status: 'completed', code: null, reason: '' };
const runs = { ...over, status: 'running' };
const fact = { seq: 3, at: 'then', by: 'test', kind: 'turn.started', cast: 'c', status: 'odd' };
const said = { turn: 1, attempt: 1, socket: 'S-1', event: { kind: 'text', text: 'hm' } };
const left = AbortSignal.abort();

test.each<[string, Printed, AbortSignal | undefined, boolean, string, boolean | undefined]>([
  ['a cast that stands', { watch: [fact, said, over], show: runs }, undefined, true, 'is completed', true],
  [
    'one with items',
    { watch: [{ ...over, items: { total: 3, done: 1, skipped: 1, leftEarly: 0, leftOut: 0, open: 1 } }], show: runs },
    undefined,
    true,
    'is completed; 1 of 3 items done, 1 skipped, 1 open',
    true,
  ],
  [
    'one without an approved command',
    {
      watch: [{ ...over, notRun: [{ approval: 'P-1', command: 'deploy', outcome: 'approved and not run' }] }],
      show: runs,
    },
    undefined,
    true,
    'is completed; approved and not run: deploy',
    true,
  ],
  ['one that nobody drives', { watch: [runs], show: runs, exit: 1 }, undefined, false, 'nobody drives', false],
  ['one that was left', { watch: [fact], show: runs, exit: null }, left, true, 'is running', false],
  [
    'one that is unknown',
    { watch: [], show: { code: 'UNKNOWN_CAST', reason: 'no' } },
    undefined,
    false,
    'no',
    undefined,
  ],
  ['a watch that broke off', { watch: [fact], show: runs, exit: 3 }, undefined, false, 'watch said no', undefined],
])('%s', async (_, printed, signal, allow, reason, stands) => {
  const verdict = await castWait(printing(printed), 'c', signal ? { signal } : {});
  expect(verdict).toMatchObject({ allow, reason: expect.stringContaining(reason) });
  expect(verdict.details.stands).toBe(stands);
});

test('facts and live events are told apart, and facts are asked for by name', async () => {
  const heard: CastNews[] = [];
  const asked: string[] = [];
  const baton = printing({ watch: [fact, said, over], show: undefined }, asked);
  await castWait(baton, 'c', { hear: (news) => heard.push(news), withFacts: true });
  expect(heard).toEqual([
    { kind: 'fact', fact },
    { kind: 'live', ...said },
  ]);
  await castWait(baton, '--facts');
  expect(asked).toEqual(['watch --facts -- c', 'watch -- --facts']);
});

test('whatever is printed, waiting ends with a verdict', async () => {
  const line = fc.oneof(fc.jsonValue(), fc.constantFrom(over, runs, fact, said), fc.record({ seq: fc.jsonValue() }));
  await fc.assert(
    fc.asyncProperty(fc.array(line), line, fc.constantFrom(0, 1, 3, null), async (watch, show, exit) => {
      const lines = watch.filter((one) => typeof one === 'object' && one !== null && !Array.isArray(one)) as Json[];
      const verdict = await castWait(printing({ watch: lines, show: show as Json, exit }), 'c', {
        hear: () => undefined,
      });
      expect(verdict.allow ? verdict.code : Object.hasOwn(CODES, verdict.code)).toBe(verdict.allow ? 'OK' : true);
      expect(typeof verdict.reason).toBe('string');
    }),
    { numRuns: RUNS },
  );
});
