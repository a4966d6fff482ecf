import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { LiveEvent } from '../engine/ports.ts';
import { liveProgress } from './operation-tools.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** What a client is told within a second of each of these moments, one inner list for each. */
async function told(moments: readonly (readonly (readonly [string, LiveEvent])[])[]): Promise<string[]> {
  const messages: string[] = [];
  const live = liveProgress(async (message) => void messages.push(message), 500);
  for (const moment of moments) {
    for (const [socket, event] of moment) live.add({ kind: 'live', turn: 1, attempt: 1, socket, event });
    await vi.advanceTimersByTimeAsync(1_000);
  }
  live.stop();
  return messages;
}

const says = (text: string) => ['S-1', { kind: 'text', text }] as const;

test.each<[string, Parameters<typeof told>[0], string[]]>([
  ['nothing where nothing is said', [[]], []],
  ['pieces of a text as one line', [[says('let '), says('me '), says('think')]], ['S-1 says: let me think']],
  ['what comes later in a message of its own', [[says('a')], [says('b')]], ['S-1 says: a', 'S-1 says: b']],
  [
    'tools beside words, each on a line',
    [[says('I look.'), ['S-1', { kind: 'tool', name: 'Read' }], ['S-2', { kind: 'denied', name: 'Bash' }], says('ok')]],
    ['S-1 says: I look.\nS-1 uses Read\nS-2 was refused Bash\nS-1 says: ok'],
  ],
  ['a pause', [[['S-1', { kind: 'waiting', forMs: 1_500, reason: '429' }]]], ['S-1 waits 2 s: 429']],
  ['no secret', [[says(`key ghp_${'a'.repeat(36)}`)]], [expect.not.stringContaining('ghp_')]],
])('a client is told %s', async (_, moments, messages) => {
  expect(await told(moments)).toEqual(messages);
});

test('a flood becomes one short message', async () => {
  const [message = '', ...more] = await told([Array.from({ length: 10_000 }, (_, index) => says(`word ${index} `))]);
  expect([message.length <= 500, message.startsWith('S-1 says: word 0'), message.endsWith('word 9999 '), more]).toEqual(
    [true, true, true, []],
  );
});

test('a client that does not take its message is sent no other meanwhile', async () => {
  let sent = 0;
  const live = liveProgress(() => {
    sent += 1;
    return new Promise(() => undefined);
  }, 500);
  for (let index = 0; index < 5; index += 1) {
    live.add({ kind: 'live', turn: 1, attempt: 1, socket: 'S-1', event: { kind: 'text', text: 'x' } });
    await vi.advanceTimersByTimeAsync(1_000);
  }
  live.stop();
  expect(sent).toBe(1);
});
