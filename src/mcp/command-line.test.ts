import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { CODES } from '../kernel/codes.ts';
import type { Json } from '../kernel/json.ts';
import { commandLine, verdictOf } from './command-line.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 2000);
const said = (value: Json | undefined, stderr = '') => ({ exit: 1, value, stderr });

test.each<[string, Json | undefined, string, string]>([
  ['a verdict', { allow: true, code: 'OK', reason: 'fine', details: {} }, 'OK', 'fine'],
  ['a refusal', { allow: false, code: 'LOCK_CONFLICT', reason: 'held' }, 'LOCK_CONFLICT', 'held'],
  ['a code that is none', { allow: false, code: 'toString', reason: 'odd' }, 'INTERNAL', 'odd'],
  ['a cast that was not started', { cast: null, code: 'INVALID_CONFIG', reason: 'x' }, 'INVALID_CONFIG', 'x'],
  ['a list', [], 'INTERNAL', 'last words'],
  ['nothing', undefined, 'INTERNAL', 'last words'],
])('%s printed by a command', (_, value, code, reason) => {
  expect(verdictOf(said(value, 'first words\nlast words\n'))).toMatchObject({ code, reason });
});

test('whatever a command prints becomes a verdict', () => {
  const value = fc.oneof(
    fc.jsonValue(),
    fc.record({ allow: fc.oneof(fc.boolean(), fc.jsonValue()), code: fc.jsonValue(), reason: fc.jsonValue() }),
  );
  fc.assert(
    fc.property(value, fc.string(), (printed, stderr) => {
      const verdict = verdictOf(said(printed as Json, stderr));
      expect(verdict.allow ? verdict.code : Object.hasOwn(CODES, verdict.code)).toBe(verdict.allow ? 'OK' : true);
      expect(verdictOf(said(JSON.parse(JSON.stringify(verdict))))).toEqual(verdict);
    }),
    { numRuns: RUNS },
  );
});

test.each([
  ['a NUL character', 'a\0b', 'an argument holds a NUL character; remove it'],
  [
    'more bytes than a program may be given',
    'é'.repeat(65_536),
    'an argument has 131072 bytes; at most 131071 are allowed',
  ],
])('an argument with %s is wrong usage, and nothing is started', async (_name, argument, reason) => {
  const run = commandLine({ file: '/nowhere/baton', dir: '/', env: {} });
  expect(verdictOf(await run(['show', argument]))).toMatchObject({ code: 'BAD_USAGE', reason });
});

/** A program that prints its arguments and its input. */
function printing(): string {
  return program(
    'let t="";process.stdin.on("data",d=>t+=d).on("end",()=>console.log(JSON.stringify([process.argv.slice(2),t])))',
  );
}

/** A program that writes these bytes one at a time, if it is asked for lines. */
function writing(bytes: Buffer): string {
  return program(`if (!process.argv.includes('--jsonl')) process.exit(9);
    const bytes = Buffer.from('${bytes.toString('hex')}', 'hex');
    for (const byte of bytes) await new Promise((done) => process.stdout.write(Buffer.of(byte), () => setImmediate(done)));`);
}

function program(code: string): string {
  const file = join(mkdtempSync(join(tmpdir(), 'baton-mcp-')), 'program.mjs');
  onTestFinished(() => rmSync(dirname(file), { recursive: true }));
  writeFileSync(file, `#!${process.execPath}\n${code}\n`, { mode: 0o755 });
  return file;
}

test.each([
  [['casts'], ['casts', '--json']],
  [
    ['show', '--turns', '--', '--json', '--help'],
    ['show', '--turns', '--json', '--', '--json', '--help'],
  ],
])('%j is given to the program as %j', async (args, given) => {
  const dir = process.cwd();
  const { exit, value } = await commandLine({ file: printing(), dir, env: {} })(args, { input: 'in' });
  expect([exit, value]).toEqual([0, [['-C', dir, ...given], 'in']]);
});

test('the lines of a command are heard one by one, wherever its output was cut, and the last one is its value', async () => {
  const lines = [{ a: 'ü✓' }, [1], 'no object', { b: '\n' }, { last: true }];
  const bytes = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const heard: Json[] = [];
  const run = commandLine({ file: writing(bytes), dir: process.cwd(), env: {} });
  const { value } = await run(['watch', '--', '--json'], { hear: (line) => heard.push(line) });
  expect([heard, value]).toEqual([[{ a: 'ü✓' }, { b: '\n' }, { last: true }], { last: true }]);
});

test('who gives up on a command ends it', async () => {
  const run = commandLine({ file: printing(), dir: process.cwd(), env: {} });
  expect(await run([], { signal: AbortSignal.abort() })).toMatchObject({ exit: null, value: undefined });
});

test('a program that cannot be started is a refusal too', async () => {
  const run = commandLine({ file: '/nowhere/baton', dir: process.cwd(), env: {} });
  expect(verdictOf(await run(['casts']))).toMatchObject({ allow: false, code: 'INTERNAL' });
});
