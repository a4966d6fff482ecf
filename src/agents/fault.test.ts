// Each way of ending without an answer has its code; the rows stand in the order of the checks.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type FaultCode, faultOf, faultOfError, type ProcessEnd } from './fault.ts';
import { type AgentReport, EMPTY_REPORT } from './report.ts';

const GOOD: ProcessEnd = { code: 0, signal: null, timedOut: false, stdoutTruncated: false };
const heard = (more: Partial<AgentReport>): AgentReport => ({ ...EMPTY_REPORT, ...more });
const finished = heard({ text: 'done', isFinished: true });

test.each<[string, Partial<ProcessEnd>, string, AgentReport, FaultCode | null]>([
  ['a finished answer', {}, '', finished, null],
  ['a finished answer and a bad exit', { code: 1 }, 'oops', finished, null],
  ['a finished answer and a late exit', { timedOut: true, code: null, signal: 'SIGTERM' }, '', finished, null],
  ['an answer that was cut before its first word', {}, '', heard({ isFinished: true, isCut: true }), null],
  ['plain output and a good exit', {}, '', heard({ text: 'done', isFinished: null }), null],
  ['plain output and a bad exit', { code: 2 }, '', heard({ text: 'half', isFinished: null }), 'AGENT_CRASHED'],
  ['a finished answer and a flood', { stdoutTruncated: true, code: null, signal: 'SIGTERM' }, '', finished, null],
  ['a flood without an end', { stdoutTruncated: true }, '', heard({ text: 'half' }), 'OUTPUT_FLOOD'],
  ['a flood that ran out of time', { stdoutTruncated: true, timedOut: true }, '', heard({}), 'OUTPUT_FLOOD'],
  [
    'a flood of plain output and a good exit',
    { stdoutTruncated: true },
    '',
    heard({ text: 'half', isFinished: null }),
    'OUTPUT_FLOOD',
  ],
  [
    'a flood after an error',
    { stdoutTruncated: true },
    '',
    heard({ error: { message: 'x', status: 401 } }),
    'OUTPUT_FLOOD',
  ],
  ['no end in time', { timedOut: true, code: null, signal: 'SIGKILL' }, '', heard({ text: 'half' }), 'AGENT_TIMEOUT'],
  [
    'plain output and no end in time',
    { timedOut: true },
    '',
    heard({ text: 'half', isFinished: null }),
    'AGENT_TIMEOUT',
  ],
  ['a program that is not there', { code: null, error: 'x was not found' }, '', heard({}), 'AGENT_UNAVAILABLE'],
  ['an error it told', { code: 1 }, 'oops', heard({ error: { message: 'no', status: 401 } }), 'AUTH_REQUIRED'],
  ['an error it told with a good exit', {}, '', heard({ error: { message: 'x', status: 500 } }), 'PROVIDER_ERROR'],
  ['a good exit and nothing said', {}, '', heard({}), 'NO_OUTPUT'],
  ['a good exit and an empty answer', {}, '', heard({ text: ' \n', isFinished: true }), 'NO_OUTPUT'],
  ['a bad exit with its reason in prose', { code: 1 }, 'Error: not logged in', heard({}), 'AUTH_REQUIRED'],
  [
    'a bad exit with its reason where the answer would stand',
    { code: 1 },
    '',
    heard({ text: 'Error: rate limit reached', isFinished: null }),
    'RATE_LIMITED',
  ],
  [
    'a bad exit with its reason beside half an answer',
    { code: 1 },
    'not logged in',
    heard({ text: 'rate limit', isFinished: null }),
    'AUTH_REQUIRED',
  ],
  ['a bad exit without a reason', { code: 3 }, '', heard({}), 'AGENT_CRASHED'],
  ['a signal', { code: null, signal: 'SIGSEGV' }, '', heard({}), 'AGENT_CRASHED'],
])('%s', (_what, end, stderr, report, code) => {
  expect(faultOf('claude', { ...GOOD, ...end }, stderr, report)?.code ?? null).toBe(code);
});

test.each<[number, string, FaultCode]>([
  [401, 'x', 'AUTH_REQUIRED'],
  [403, 'x', 'AUTH_REQUIRED'],
  [429, 'x', 'RATE_LIMITED'],
  [402, 'insufficient credits', 'RATE_LIMITED'],
  [413, 'x', 'CONTEXT_OVERFLOW'],
  [404, 'model: x', 'MODEL_UNAVAILABLE'],
  [404, 'unexpected status 404 Not Found, url: http://127.0.0.1:1/responses', 'REQUEST_REFUSED'],
  [500, 'x', 'PROVIDER_ERROR'],
  [529, 'x', 'PROVIDER_ERROR'],
  [400, 'prompt is too long: 250429 tokens', 'CONTEXT_OVERFLOW'],
  [400, 'model_not_found: x', 'MODEL_UNAVAILABLE'],
  [400, 'The model `foo` does not exist', 'MODEL_UNAVAILABLE'],
  [400, 'foo/bar is not a valid model ID', 'MODEL_UNAVAILABLE'],
  [400, 'something at byte 429 is wrong', 'REQUEST_REFUSED'],
  [0, 'No conversation found with session ID: 1', 'SESSION_LOST'],
  [0, 'Your input exceeds the context window of this model', 'CONTEXT_OVERFLOW'],
  [0, 'exceeded retry limit, last status: 429 Too Many Requests', 'RATE_LIMITED'],
  [0, 'You have hit your usage limit', 'RATE_LIMITED'],
  [0, 'Invalid API key', 'AUTH_REQUIRED'],
  [0, 'Please run /login', 'AUTH_REQUIRED'],
  [0, 'unknown model x', 'MODEL_UNAVAILABLE'],
  [0, 'Overloaded', 'PROVIDER_ERROR'],
  [0, '{"error":{"type":"invalid_request_error"}}', 'REQUEST_REFUSED'],
  [0, 'stream disconnected before completion', 'PROVIDER_UNREACHABLE'],
  [0, 'terminated', 'PROVIDER_UNREACHABLE'],
  [0, 'nobody knows', 'PROVIDER_ERROR'],
])('status %d with "%s" is %s', (status, message, code) => {
  expect(faultOfError('claude', { message, ...(status > 0 ? { status } : {}) }).code).toBe(code);
});

test.each<[string, number | undefined]>([
  ['rate limit reached, try again in 20s', 20_000],
  ['rate limit reached, try again in 1.5s', 1_000],
  ['rate limit reached, try again in 300ms', 300],
  ['rate limit reached, Try again in 2m', 120_000],
  ['rate limit reached', undefined],
])('"%s" asks to wait %s ms', (message, waitMs) => {
  expect(faultOfError('codex', { message }).retryAfterMs).toBe(waitMs);
});

test('what the provider asks for in a header counts before its prose', () => {
  const error = { message: 'try again in 20s', status: 429, retryAfterMs: 5 };
  expect(faultOfError('codex', error).retryAfterMs).toBe(5);
});

test('only what may pass by itself is tried again by the engine', () => {
  const faults = [401, 429, 413, 404, 500, 400].map((status) => faultOfError('x', { message: '', status }).fault);
  expect(faults).toEqual(['refused', 'transport', 'refused', 'refused', 'transport', 'refused']);
});

test('what a program said last stands in the reason, wherever it said it', () => {
  const report = heard({ text: 'first\nthe disk is full\n', isFinished: null });
  expect(faultOf('sh', { ...GOOD, code: 1 }, '', report)?.reason).toContain('exit code 1: first\nthe disk is full');
  const calls = '\n    at async ModuleJob.run (node:internal/modules/esm/module_job:325:25)'.repeat(50);
  const broken = `SyntaxError: 'node:util' has no styleText${calls}\n\nNode.js v20.20.2\n`;
  expect(faultOf('pi', { ...GOOD, code: 1 }, broken, heard({}))).toMatchObject({
    code: 'AGENT_CRASHED',
    reason: "pi ended with exit code 1: SyntaxError: 'node:util' has no styleText",
  });
});

test('a reason is never longer than a person reads, and any text has one', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 200 }), fc.nat(50), fc.nat(600), (text, times, status) => {
      const fault = faultOfError('x', { message: text.repeat(times * 10), status });
      expect(fault.reason.length).toBeLessThan(2_300);
      expect(fault.code).toMatch(/^[A-Z_]+$/);
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 500) },
  );
});

test('a program that ran out of time is told with what was seen of it, its last tool call too', () => {
  const end = { code: null, signal: 'SIGKILL', timedOut: true, stdoutTruncated: false, signs: 'it was waiting' };
  const report = { ...EMPTY_REPORT, toolCalls: ['Read', 'Bash'] };
  const found = faultOf('claude', end as ProcessEnd, '', report);
  expect(found).toMatchObject({ code: 'AGENT_TIMEOUT' });
  expect(found?.reason).toContain('it was waiting; its last tool call was Bash, of 2');
});
