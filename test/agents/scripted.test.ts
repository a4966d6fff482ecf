// A script keeps those promises of an agent that are about its answer and its end; it asks no model, so that none of those
// about providers, tools and conversations can be broken.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { scripted } from '../../src/agents/scripted.ts';
import type { Json } from '../../src/kernel/json.ts';
import { type Ground, ground, packet } from './contenders.ts';

const SAID = '{"satisfied":true,"context":"done — fertig ✓"}';
let at: Ground;
beforeEach(() => {
  at = ground();
});
afterEach(() => at.remove());

const run = (turn: Json | undefined, timeoutMs = 60_000, signal = new AbortController().signal) => {
  const contender = { name: 'scripted', model: 'none' };
  const scripting = turn === undefined ? {} : { turn };
  return scripted.run(packet(contender, { scripted: scripting, timeoutMs }), at.place(), signal);
};

test('its last words come back as they were said, with what they used', async () => {
  const usage = { input: 120, output: 30 };
  expect(await run({ $turn: { output: SAID, usage } })).toMatchObject({ kind: 'output', output: SAID, usage });
});

test('an answer that is too long is not cut, so that it is refused as too long', async () => {
  const result = await run('x'.repeat(20_000));
  expect(result.kind === 'output' && result.output.length).toBe(20_000);
});

test('an answer that does not come in time is given up', async () => {
  expect(await run({ $turn: { output: SAID, delayMs: 60_000 } }, 20)).toMatchObject({
    kind: 'fault',
    fault: 'timeout',
  });
});

test('an abort ends it at once, as lost', async () => {
  const stop = new AbortController();
  const running = run({ $turn: { output: SAID, delayMs: 60_000 } }, 120_000, stop.signal);
  stop.abort();
  expect(await running).toMatchObject({ kind: 'lost', mayHaveRun: true });
});

test('having nothing to say is a fault, and never an answer', async () => {
  expect(await run(undefined)).toMatchObject({ kind: 'fault', fault: 'unscripted' });
});
