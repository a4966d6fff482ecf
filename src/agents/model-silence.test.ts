import { expect, onTestFinished, test, vi } from 'vitest';
import { modelSilence, silenceEvent } from './model-silence.ts';

function listening(limitMs: number) {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const told: number[] = [];
  const state = { isAsked: true, ended: 0 };
  const silence = modelSilence(limitMs, {
    isAsked: () => state.isAsked,
    report: (silentMs) => told.push(Math.round(silentMs / 1_000)),
    giveUp: () => {
      state.ended += 1;
    },
  });
  return { silence, told, state };
}

test('a silence is reported every 30 s, and ends the call at its limit', () => {
  const { told, state } = listening(100_000);
  vi.advanceTimersByTime(99_000);
  expect([told, state.ended]).toEqual([[30, 60, 90], 0]);
  vi.advanceTimersByTime(200_000);
  expect([told, state.ended]).toEqual([[30, 60, 90], 1]);
});

test('what is heard, and a tool that works, begin the silence from the start', () => {
  const { silence, told, state } = listening(100_000);
  vi.advanceTimersByTime(90_000);
  silence.heard();
  vi.advanceTimersByTime(90_000);
  state.isAsked = false;
  vi.advanceTimersByTime(500_000);
  state.isAsked = true;
  vi.advanceTimersByTime(29_000);
  expect([told, state.ended]).toEqual([[30, 60, 90, 30, 60, 90], 0]);
  silence.stop();
  vi.advanceTimersByTime(500_000);
  expect(state.ended).toBe(0);
});

test('a message says how long the silence is', () => {
  expect(silenceEvent('claude', 61_000)).toMatchObject({ reason: 'claude has got nothing from its model for 61 s' });
});
