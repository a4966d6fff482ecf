import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import type { AttemptDirs, AttemptResult, LiveEvent } from '../engine/ports.ts';
import type { Packet } from '../kernel/cast/packet.ts';
import { LIVE_FILE, liveReader, openLiveFile, withLiveFile } from './live-watch.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 500);
const made: string[] = [];
afterEach(() => {
  for (const dir of made.splice(0)) rmSync(dir, { recursive: true, force: true });
});
const folder = () => {
  const dir = mkdtempSync(join(tmpdir(), 'baton-live-'));
  made.push(dir);
  return dir;
};
const says = (text: string): LiveEvent => ({ kind: 'text', text });
const readAll = (dir: string) => liveReader().push(readFileSync(join(dir, LIVE_FILE), 'utf8'));

test('what is heard can be read in the order it was said', async () => {
  const dir = join(folder(), 'a');
  const file = openLiveFile(dir);
  const events: LiveEvent[] = [
    says('one '),
    says('two'),
    { kind: 'tool', name: 'Read' },
    { kind: 'denied', name: 'Bash' },
    { kind: 'waiting', forMs: 5, reason: 'busy' },
  ];
  for (const event of events) file.take(event);
  await file.close();
  expect(readAll(dir)).toEqual(events);
  expect(statSync(join(dir, LIVE_FILE)).mode & 0o077).toBe(0);
});

test('a file that is full is cut, and goes on with what comes after', async () => {
  const dir = folder();
  const file = openLiveFile(dir, 100);
  for (let word = 0; word < 20; word += 1) {
    file.take(says(`word ${word}`));
    await file.close();
  }
  expect(statSync(join(dir, LIVE_FILE)).size).toBeLessThan(200);
  expect(readAll(dir).at(-1)).toEqual(says('word 19'));
});

test('what comes faster than it can be written is lost, and nobody waits', async () => {
  const dir = folder();
  const file = openLiveFile(dir);
  const flood = says('x'.repeat(10_000));
  for (let word = 0; word < 100; word += 1) file.take(flood);
  await file.close();
  expect(statSync(join(dir, LIVE_FILE)).size).toBeLessThan(100_000);
});

test('a folder that cannot be made loses everything and disturbs nobody', async () => {
  const dir = folder();
  writeFileSync(join(dir, 'file'), '');
  const file = openLiveFile(join(dir, 'file', 'below'));
  file.take(says('x'));
  await expect(file.close()).resolves.toBe(undefined);
  expect(readFileSync(join(dir, 'file'), 'utf8')).toBe('');
});

test('a runner is heard by both, and leaves nothing when its outcome is recorded', async () => {
  const dir = join(folder(), 'c-1.1');
  const result: AttemptResult = { kind: 'output', output: 'done' };
  const heard: LiveEvent[] = [];
  const runner = withLiveFile({
    run: async (_packet, { onEvent }) => {
      onEvent?.(says('hello'));
      return result;
    },
    recover: async () => result,
  });
  const place: AttemptDirs = { cwd: '/', configDir: '/', attemptDir: dir, onEvent: (event) => heard.push(event) };
  expect(await runner.run({} as Packet, place, new AbortController().signal)).toBe(result);
  expect(heard).toEqual([says('hello')]);
  expect(readAll(dir)).toEqual(heard);
  await runner.forget?.(place);
  expect(() => statSync(dir)).toThrow();
});

test('whatever stands in the file, only events come out', () => {
  const line = fc.oneof(
    fc.string(),
    fc.json(),
    fc
      .record({
        kind: fc.constantFrom('text', 'tool', 'denied', 'waiting', 'x'),
        text: fc.oneof(fc.string(), fc.jsonValue()),
        name: fc.oneof(fc.string(), fc.jsonValue()),
        reason: fc.oneof(fc.string(), fc.jsonValue()),
        forMs: fc.oneof(fc.nat(), fc.jsonValue()),
      })
      .map((one) => JSON.stringify(one)),
  );
  const shapes: readonly object[] = [
    { kind: 'text', text: expect.any(String) },
    { kind: 'tool', name: expect.any(String) },
    { kind: 'denied', name: expect.any(String) },
    { kind: 'waiting', forMs: expect.any(Number), reason: expect.any(String) },
  ];
  let many = 0;
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      const events = liveReader().push(`${lines.join('\n')}\n`);
      if (events.length > 0) many += 1;
      for (const event of events) {
        expect(event).toEqual(shapes.find((shape) => 'kind' in shape && shape.kind === event.kind));
        expect(liveReader().push(`${JSON.stringify(event)}\n`)).toEqual([event]);
      }
    }),
    { numRuns: RUNS },
  );
  expect(many).toBeGreaterThan(RUNS / 10);
});
