// A script keeps the promises of an agent, as far as it can break them; and two of its own.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { scripted } from '../../src/agents/scripted.ts';
import { agentPromises } from './conformance.ts';
import { type Ground, ground, packet, SCRIPTED } from './contenders.ts';

agentPromises(SCRIPTED);

let at: Ground;
beforeEach(() => {
  at = ground();
});
afterEach(() => at.remove());

const run = (script: { turn?: string }) =>
  scripted.run(packet(SCRIPTED, { scripted: script }), at.place(), new AbortController().signal);

test('an answer that is too long is not cut, so that it is refused as too long', async () => {
  expect(await run({ turn: 'x'.repeat(20_000) })).toMatchObject({ kind: 'output', output: 'x'.repeat(20_000) });
});

test('having nothing to say is a fault, and never an answer', async () => {
  expect(await run({})).toMatchObject({ kind: 'fault', fault: 'unscripted' });
});
