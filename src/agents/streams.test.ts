// Readers of foreign streams: nothing in them may throw, hang or be taken for more than it is.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject } from '../kernel/json.ts';
import { anthropic } from './anthropic.ts';
import { claude } from './claude.ts';
import { codex } from './codex.ts';
import { jsonLines, serverSentEvents } from './event-streams.ts';
import { openai } from './openai.ts';
import { pi } from './pi.ts';
import { EMPTY_REPORT } from './report.ts';

const RUNS = { numRuns: Number(process.env.FUZZ_RUNS ?? 500) };

test.each<[string, string[], JsonObject[]]>([
  ['one line', ['{"a":1}\n'], [{ a: 1 }]],
  ['a line in pieces', ['{"a"', ':1}', '\n{"b":2}\n'], [{ a: 1 }, { b: 2 }]],
  ['other text between', ['Reading input\n{"a":1}\n[1]\n"x"\n{oops}\n'], [{ a: 1 }]],
  ['a carriage return', ['{"a":1}\r\n'], [{ a: 1 }]],
  ['a line that is too long', [`{"a":"${'x'.repeat(50)}"}\n{"b":2}\n`], [{ b: 2 }]],
])('lines: %s', (_what, chunks, events) => {
  const lines = jsonLines(40);
  expect(chunks.flatMap((chunk) => lines.push(chunk))).toEqual(events);
});

test('lines: the last one may lack its end, and may still get it', () => {
  const lines = jsonLines();
  expect(lines.push('{"a":1}')).toEqual([]);
  expect(lines.rest()).toEqual([{ a: 1 }]);
  expect(lines.push('\n')).toEqual([{ a: 1 }]);
});

test.each<[string, string[], JsonObject[]]>([
  ['one event', ['event: x\ndata: {"a":1}\n\n'], [{ a: 1 }]],
  ['without a space', ['data:{"a":1}\n\n'], [{ a: 1 }]],
  ['in pieces', ['da', 'ta: {"a"', ':1}\r\n\r', '\n'], [{ a: 1 }]],
  ['data in several lines', ['data: {"a":\ndata: 1}\n\n'], [{ a: 1 }]],
  ['comments and the end', [': ping\n\ndata: [DONE]\n\ndata: {"a":1}\n\n'], [{ a: 1 }]],
  ['an event that is too long', [`data: {"a":"${'x'.repeat(50)}"}\n\ndata: {"b":2}\n\n`], [{ b: 2 }]],
  ['an event that does not end', ['data: {"a":1}\n'], []],
])('events: %s', (_what, chunks, events) => {
  const stream = serverSentEvents(40);
  expect(chunks.flatMap((chunk) => stream.push(chunk))).toEqual(events);
});

test('a very long stream without an end is read in one go', () => {
  const lines = jsonLines(1_000);
  const stream = serverSentEvents(1_000);
  for (let turn = 0; turn < 20_000; turn += 1) {
    lines.push('{"a":["'.repeat(10));
    stream.push('data: {'.repeat(10));
  }
  expect([lines.rest(), stream.push('\n\n')]).toEqual([[], []]);
});

/** Events that begin like real ones and then are anything. */
const TYPES = [
  ...['system', 'assistant', 'user', 'result', 'stream_event', 'thread.started', 'item.started', 'item.completed'],
  ...['turn.completed', 'turn.failed', 'error', 'session', 'message_end', 'message_update', 'tool_execution_end'],
  ...['message_start', 'content_block_delta', 'message_delta', 'message_stop', 'response.completed', 'response.failed'],
];
const NAMES = [
  ...['message', 'content', 'usage', 'item', 'error', 'event', 'delta', 'response', 'choices', 'text', 'session_id'],
  ...['subtype', 'result', 'is_error', 'permission_denials', 'role', 'stopReason', 'errors', 'type', 'status'],
];
const leaf = fc.oneof(fc.string({ maxLength: 8 }), fc.integer(), fc.boolean(), fc.constant(null));
const members = (value: fc.Arbitrary<unknown>) => fc.dictionary(fc.constantFrom(...NAMES), value, { maxKeys: 4 });
const branch = (value: fc.Arbitrary<unknown>) =>
  fc.oneof(leaf, members(value), fc.array(members(value), { maxLength: 2 }));
const tree = branch(branch(branch(leaf)));
const event = fc
  .tuple(fc.option(fc.constantFrom(...TYPES)), members(tree))
  .map(([type, rest]) => ({ ...rest, ...(type === null ? {} : { type }) }) as unknown as JsonObject);

test.each([claude, codex, pi])('$name: whatever comes, there is a report of the right shape', (program) => {
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(
          event.map((one) => JSON.stringify(one)),
          fc.string(),
        ),
        { maxLength: 8 },
      ),
      (printed) => {
        const reader = program.reader();
        for (const live of reader.push(printed.join('\n'))) expect(typeof live.kind).toBe('string');
        expectShape(reader.report());
      },
    ),
    RUNS,
  );
});

test.each([anthropic, openai])('$name: whatever comes, there is a report of the right shape', (api) => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 8 }), (events) => {
      for (const live of events.flatMap(api.live)) expect(typeof live.kind).toBe('string');
      expectShape(events.reduce(api.fold, EMPTY_REPORT));
    }),
    RUNS,
  );
});

function expectShape(report: typeof EMPTY_REPORT): void {
  expect(typeof report.text).toBe('string');
  expect(typeof report.isFinished).toBe('boolean');
  for (const name of [...report.toolCalls, ...report.denials]) expect(typeof name).toBe('string');
  for (const name of [report.model, report.sessionId]) expect(name === null || typeof name === 'string').toBe(true);
  if (report.usage) for (const used of Object.values(report.usage)) expect(used).toBeGreaterThanOrEqual(0);
  if (report.error) expect(typeof report.error.message).toBe('string');
  // A report is told on as JSON.
  expect(JSON.parse(JSON.stringify(report))).toEqual(report);
}
