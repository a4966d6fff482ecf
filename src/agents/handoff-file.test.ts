import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import type { AttemptDirs, AttemptResult, Runner } from '../engine/ports.ts';
import type { Packet } from '../kernel/cast/packet.ts';
import { keepHandoff, submittedHandoff, takingSubmissions } from './handoff-file.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 500);
const here = { cast: 'C', turn: 2, attempt: 1 };
const STOPPED = 'after its handoff by tool call it did not come to its end and was stopped at its timeout (x)';
const usage = { input: 1, output: 2, cost: 0 };

function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'baton-handoff-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

test.each<[string, AttemptResult, AttemptResult]>([
  ['last words', { kind: 'output', output: 'bye', usage, truncated: true }, { kind: 'output', output: '{}', usage }],
  [
    'what the agent told of itself',
    { kind: 'output', output: 'bye', agent: { runner: 'pi', model: 'm' } },
    { kind: 'output', output: '{}', agent: { runner: 'pi', model: 'm' } },
  ],
  [
    'a crash',
    { kind: 'fault', fault: 'crash', reason: 'x', usage },
    { kind: 'output', output: '{}', usage, agent: { warnings: ['after its handoff by tool call it failed (x)'] } },
  ],
  [
    'a timeout',
    { kind: 'fault', fault: 'timeout', reason: 'x', agent: { runner: 'pi', warnings: ['w'] } },
    { kind: 'output', output: '{}', agent: { runner: 'pi', warnings: ['w', STOPPED] } },
  ],
  [
    'a dropped line',
    { kind: 'fault', fault: 'transport', reason: 'x' },
    { kind: 'output', output: '{}', agent: { warnings: ['after its handoff by tool call it failed (x)'] } },
  ],
  [
    'a runner that is not to be had',
    { kind: 'fault', fault: 'unscripted', reason: 'x' },
    { kind: 'fault', fault: 'unscripted', reason: 'x' },
  ],
  [
    'an attempt that was cut off',
    { kind: 'lost', mayHaveRun: true, reason: 'x' },
    { kind: 'lost', mayHaveRun: true, reason: 'x' },
  ],
])('a submitted handoff and %s', async (_, result, expected) => {
  const attemptDir = folder();
  await keepHandoff(attemptDir, here, '{}');
  const forgotten: string[] = [];
  const inner: Runner = {
    run: async () => result,
    recover: async () => result,
    forget: async (place) => void forgotten.push(place.attemptDir),
  };
  const packet = here as Packet;
  const place: AttemptDirs = { cwd: '/', attemptDir, configDir: '/' };
  const runner = takingSubmissions({ runnerFor: () => inner }).runnerFor(packet);
  const { signal } = new AbortController();
  expect(await runner.run(packet, place, signal)).toEqual(expected);
  expect(await runner.recover(packet, place, signal)).toEqual(expected);
  const other = { ...packet, attempt: 2 };
  expect(await runner.run(other, place, signal)).toEqual(result);
  await runner.forget?.(place);
  expect(forgotten).toEqual([attemptDir]);
});

test('the last of several counts, and a link is not followed', async () => {
  const dir = folder();
  await keepHandoff(dir, here, 'one');
  await keepHandoff(dir, here, 'two');
  expect(await submittedHandoff(dir, here)).toBe('two');
  const other = folder();
  symlinkSync(join(dir, 'handoff.json'), join(other, 'handoff.json'));
  expect(await submittedHandoff(other, here)).toBe(null);
});

test('whatever stands in the file, the answer is a text or null', async () => {
  const dir = folder();
  const record = fc.record({ cast: fc.constant('C'), turn: fc.nat(3), attempt: fc.nat(2), output: fc.jsonValue() });
  const content = fc.oneof(
    fc.string(),
    fc.json(),
    record.map((one) => JSON.stringify(one)),
  );
  await fc.assert(
    fc.asyncProperty(content, async (text) => {
      writeFileSync(join(dir, 'handoff.json'), text);
      const found = await submittedHandoff(dir, here);
      expect(found === null || typeof found === 'string').toBe(true);
      if (found !== null) expect(JSON.parse(text)).toEqual({ ...here, output: found });
    }),
    { numRuns: Math.ceil(RUNS / 4) },
  );
});
