// What the programs printed against the model server, recorded by `record.ts`, and what we make of it; then the same
// through the whole runner, with a stand-in that prints the recording.
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { claude } from '../../src/agents/claude.ts';
import { codex } from '../../src/agents/codex.ts';
import { command } from '../../src/agents/command.ts';
import { faultOf } from '../../src/agents/fault.ts';
import { gemini } from '../../src/agents/gemini.ts';
import { opencode } from '../../src/agents/opencode.ts';
import { pi } from '../../src/agents/pi.ts';
import { programRunner, reportFrom } from '../../src/agents/program-runner.ts';
import { isObject, type Json } from '../../src/kernel/json.ts';
import { type Ground, ground, IMPATIENT, PATIENT, packet } from './contenders.ts';

const PROGRAMS = { claude, codex, pi, gemini, opencode } as const;
type Name = keyof typeof PROGRAMS;

const fileOf = (name: Name, what: string) =>
  fileURLToPath(new URL(`./fixtures/${name}/${what}.jsonl`, import.meta.url));
const recording = (name: Name, what: string) => readFileSync(fileOf(name, what), 'utf8');
const reportIn = (name: Name, what: string) => reportFrom(PROGRAMS[name], recording(name, what));

const SESSION = '00000000-0000-4000-8000-000000000000';
const ALL = Object.keys(PROGRAMS) as Name[];

test.each(ALL)('%s: an answer, its cost and its conversation', (name) => {
  expect(reportIn(name, 'said')).toMatchObject({
    text: '{"satisfied":true}',
    isFinished: true,
    usage: { input: 120, output: 30 },
    sessionId: name === 'opencode' ? 'ses_0' : SESSION,
    model: name === 'codex' ? null : 'some-model',
    toolCalls: [],
    denials: [],
    error: null,
  });
});

test.each<[Name, string[], number]>([
  ['claude', ['Write'], 240],
  ['codex', ['command_execution'], 240],
  ['pi', ['write'], 240],
  ['gemini', ['write_file'], 240],
  ['opencode', ['write'], 240],
])('%s: a tool was used, and the last words are those after it', (name, toolCalls, input) => {
  expect(reportIn(name, 'wrote')).toMatchObject({ text: 'written', isFinished: true, toolCalls, denials: [] });
  expect(reportIn(name, 'wrote').usage?.input).toBe(input);
});

test.each<[Name, string[]]>([
  ['claude', ['Write']],
  // It runs the command in its sandbox and tells nobody that it failed.
  ['codex', []],
  ['pi', ['write']],
  ['gemini', ['write_file']],
  ['opencode', ['write']],
])('%s: a tool was refused, and it says it is done all the same', (name, denials) => {
  expect(reportIn(name, 'refused')).toMatchObject({ text: 'written', isFinished: true, denials });
});

test.each(ALL)('%s: an error that was overcome is none', (name) => {
  expect(reportIn(name, 'limited')).toMatchObject({ text: 'after the wait', isFinished: true, error: null });
});

test.each<[string, string]>([
  ['unauthorized', 'AUTH_REQUIRED'],
  ['overflow', 'CONTEXT_OVERFLOW'],
  ['empty', 'NO_OUTPUT'],
])('%s is %s for all of them', (what, code) => {
  const end = { code: 0, signal: null, timedOut: false, stdoutTruncated: false };
  expect(ALL.map((name) => faultOf(name, end, '', reportIn(name, what))?.code)).toEqual(ALL.map(() => code));
});

test.each(ALL)('%s: however the stream is cut into pieces, the report is the same', (name) => {
  const text = recording(name, 'wrote');
  fc.assert(
    fc.property(fc.array(fc.nat(text.length), { maxLength: 6 }), (cuts) => {
      const reader = PROGRAMS[name].reader();
      const at = [0, ...cuts.sort((a, b) => a - b), text.length];
      for (let index = 1; index < at.length; index += 1) reader.push(text.slice(at[index - 1], at[index]));
      expect(reader.report()).toEqual(reportIn(name, 'wrote'));
    }),
    { numRuns: 100 },
  );
});

test.each(ALL)('%s: a stream that breaks off anywhere is read without a throw, and is no success', (name) => {
  const text = recording(name, 'said');
  // The last event but for its end is enough to know; before the one that finishes there is no answer.
  const finishing = Math.max(
    text.indexOf('"type":"result"'),
    text.indexOf('turn.completed'),
    text.lastIndexOf('message_end'),
    text.lastIndexOf('"step_finish"'),
  );
  for (let end = 0; end < finishing; end += 7)
    expect(reportFrom(PROGRAMS[name], text.slice(0, end)).isFinished).toBe(false);
});

test.each(ALL)('%s: a recorded event with one member replaced by anything is read all the same', (name) => {
  const lines = ['wrote', 'refused', 'unauthorized'].flatMap((what) => recording(name, what).trim().split('\n'));
  fc.assert(
    fc.property(fc.nat(lines.length - 1), fc.nat(40), fc.jsonValue({ maxDepth: 2 }), (line, place, value) => {
      const mutated = lines.map((text, index) =>
        index === line ? JSON.stringify(replaced(JSON.parse(text), place, value as Json)) : text,
      );
      const report = reportFrom(PROGRAMS[name], mutated.join('\n'));
      expect([typeof report.text, typeof report.isFinished]).toEqual(['string', 'boolean']);
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 500) / 4 },
  );
});

/** The value with its member at `place`, counted as they are written, replaced. */
function replaced(value: Json, place: number, by: Json): Json {
  let left = place;
  const walk = (at: Json): Json => {
    if (left-- === 0) return by;
    if (Array.isArray(at)) return at.map(walk);
    if (isObject(at)) return Object.fromEntries(Object.entries(at).map(([key, one]) => [key, walk(one)]));
    return at;
  };
  return walk(value);
}

describe('through the runner', () => {
  let at: Ground;
  beforeEach(() => {
    at = ground();
  });
  afterEach(() => at.remove());

  /** A stand-in for the program: it prints a recording, or one recording after another with each start. */
  const standIn = (name: Name, lines: readonly string[]) => {
    const file = join(at.cwd, name);
    writeFileSync(file, `#!/bin/sh\n${lines.join('\n')}\n`);
    chmodSync(file, 0o755);
    return file;
  };
  const run = (name: Name, lines: readonly string[], retry = IMPATIENT, timeoutMs = 60_000) =>
    programRunner(PROGRAMS[name], { program: standIn(name, lines) }, { retry }).run(
      packet({ model: 'some-model' }, { timeoutMs }),
      at.place(),
      new AbortController().signal,
    );
  const print = (name: Name, what: string) => `cat '${fileOf(name, what)}'`;

  test.each(ALL)('%s: a bad exit with a good answer is an answer', async (name) => {
    const result = await run(name, [print(name, 'said'), 'exit 1']);
    expect(result).toMatchObject({ kind: 'output', output: '{"satisfied":true}' });
  });

  test.each(ALL)('%s: a good exit without an answer is none', async (name) => {
    expect(await run(name, ['exit 0'])).toMatchObject({ kind: 'fault', code: 'NO_OUTPUT' });
  });

  test.each(ALL)('%s: what it says on its way out is the reason', async (name) => {
    const result = await run(name, [
      'echo "a warning" >&2',
      'echo "Error: no rollout found for thread 7" >&2',
      'exit 1',
    ]);
    expect(result).toMatchObject({ kind: 'fault', code: 'SESSION_LOST', reason: expect.stringContaining('thread 7') });
  });

  test('a program that is not there is unavailable', async () => {
    const runner = programRunner(claude, { program: join(at.cwd, 'nothing') });
    const result = await runner.run(packet({ model: 'm' }), at.place(), new AbortController().signal);
    expect(result).toMatchObject({ kind: 'fault', code: 'AGENT_UNAVAILABLE' });
  });

  test('a rate limit is tried again in a folder of its own, which is forgotten with the first', async () => {
    const limited = '{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"slow down"}';
    const once = ['if [ -e tried ]; then', print('claude', 'said'), 'else', 'touch tried', `echo '${limited}'`, 'fi'];
    const waits: number[] = [];
    const place = {
      ...at.place(),
      onEvent: (event: { kind: string; forMs?: number }) => waits.push(event.forMs ?? -1),
    };
    const runner = programRunner(claude, { program: standIn('claude', once) }, { retry: PATIENT });
    const result = await runner.run(packet({ model: 'm' }), place, new AbortController().signal);
    expect(result).toMatchObject({ kind: 'output', output: '{"satisfied":true}' });
    expect(waits).toContain(PATIENT.firstMs);
    expect(readFileSync(join(`${place.attemptDir}.again-1`, 'exit.json'), 'utf8')).toContain('"code":0');
    await runner.forget?.(place);
    expect(() => readFileSync(join(`${place.attemptDir}.again-1`, 'exit.json'))).toThrow('ENOENT');
    expect(() => readFileSync(join(place.attemptDir, 'exit.json'))).toThrow('ENOENT');
  });

  test('after tools were used nothing is tried again by itself', async () => {
    const used = '{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Write"}]}}';
    const limited = '{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"slow down"}';
    const result = await run('claude', ['echo x >> count', `echo '${used}'`, `echo '${limited}'`, 'exit 1'], PATIENT);
    expect(result).toMatchObject({ kind: 'fault', code: 'RATE_LIMITED' });
    expect(readFileSync(join(at.cwd, 'count'), 'utf8')).toBe('x\n');
  });

  test('it sees what it needs and nothing else', async () => {
    process.env.SOMEBODY_ELSES_KEY = 'secret';
    const said = '{\\"type\\":\\"result\\",\\"subtype\\":\\"success\\",\\"result\\":\\"%s\\"}';
    const result = await run('claude', [`printf "${said}" "$(env | cut -d= -f1 | sort | tr '\\n' ' ')"`]);
    delete process.env.SOMEBODY_ELSES_KEY;
    const seen = result.kind === 'output' ? result.output.trim().split(' ') : [];
    expect(seen).toContain('PATH');
    expect(seen).toContain('BATON_ATTEMPT');
    expect(seen).not.toContain('SOMEBODY_ELSES_KEY');
  });

  test('an attempt that was finished while nobody looked is taken as it is, with its last try', async () => {
    const runner = programRunner(pi, { program: standIn('pi', [print('pi', 'said')]) });
    const turn = packet({ model: 'm' });
    const never = new AbortController().signal;
    await runner.run(turn, at.place(), never);
    const place = at.place();
    expect(await runner.recover(turn, place, never)).toMatchObject({ kind: 'output', output: '{"satisfied":true}' });
    const again = { ...place, attemptDir: `${place.attemptDir}.again-1` };
    await programRunner(pi, { program: standIn('pi', [print('pi', 'wrote')]) }).run(turn, again, never);
    expect(await runner.recover(turn, place, never)).toMatchObject({ kind: 'output', output: 'written' });
  });

  test('an attempt without a folder never began', async () => {
    const result = await programRunner(pi).recover(packet({ model: 'm' }), at.place(), new AbortController().signal);
    expect(result).toMatchObject({ kind: 'lost', mayHaveRun: false });
  });

  test.each<[string, string[], object]>([
    ['prints its answer', ['read line', 'echo "heard: $line"'], { kind: 'output', output: 'heard: Say it.\n' }],
    ['ends badly', ['echo half', 'exit 4'], { kind: 'fault', code: 'AGENT_CRASHED' }],
    ['says nothing', ['exit 0'], { kind: 'fault', code: 'NO_OUTPUT' }],
  ])('any other command: one that %s', async (_what, lines, expected) => {
    const runner = programRunner(command([standIn('pi', lines)]));
    const result = await runner.run(packet({ model: 'm' }), at.place(), new AbortController().signal);
    expect(result).toMatchObject(expected);
  });
});
