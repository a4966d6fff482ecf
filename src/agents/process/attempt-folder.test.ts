import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import {
  clearAttempt,
  parseClaim,
  parseExit,
  parsePacket,
  readAttemptClaim,
  readExit,
  takeClaim,
  unrun,
  writeDurably,
} from './attempt-folder.ts';

const root = mkdtempSync(path.join(tmpdir(), 'baton-folder-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const numRuns = Number(process.env.FUZZ_RUNS ?? 500);

const claim = { by: 'supervisor', pid: 4242, startTime: 'boot/1' };
const exit = unrun({ error: 'none' });
const packet = {
  argv: ['true'],
  cwd: '/',
  env: { A: 'b' },
  timeoutMs: 1,
  graceMs: 0,
  maxStdoutBytes: 1,
  maxStderrBytes: 1,
};

test.each([
  ['whole', claim, true],
  ['not an object', [claim], false],
  ['without a pid', { ...claim, pid: undefined }, false],
  ['of the first process', { ...claim, pid: 1 }, false],
  ['without a start time', { ...claim, startTime: 7 }, false],
  ['of nobody we know', { ...claim, by: 'somebody' }, false],
])('a claim %s', (_name, value, whole) => {
  expect(parseClaim(JSON.stringify(value)) !== null).toBe(whole);
});

test.each([
  ['whole', exit, true],
  ['not an object', null, false],
  ['with a broken code', { ...exit, code: '0' }, false],
  ['with a broken signal', { ...exit, signal: 9 }, false],
  ['with a broken error', { ...exit, error: {} }, false],
  ['without a flag', { ...exit, timedOut: undefined }, false],
  ['without a time', { ...exit, endedAt: null }, false],
])('an exit record %s', (_name, value, whole) => {
  expect(parseExit(JSON.stringify(value)) !== null).toBe(whole);
});

test.each([
  ['whole', packet, true],
  ['without a program', { ...packet, argv: [] }, false],
  ['with an argument that is no text', { ...packet, argv: ['a', 1] }, false],
  ['without a folder', { ...packet, cwd: null }, false],
  ['with a broken environment', { ...packet, env: { A: 1 } }, false],
  ['with an endless timeout', { ...packet, timeoutMs: Number.POSITIVE_INFINITY }, false],
  ['with a negative limit', { ...packet, maxStdoutBytes: -1 }, false],
])('a packet %s', (_name, value, whole) => {
  expect(parsePacket(JSON.stringify(value)) !== null).toBe(whole);
});

test('half a file, or any other text, is read as nothing or as the same thing again', () => {
  const texts = [claim, exit, packet].map((value) => JSON.stringify(value));
  const cut = fc.constantFrom(...texts).chain((text) => fc.nat(text.length).map((at) => text.slice(0, at)));
  const other = fc.oneof(fc.nat(), fc.string(), fc.jsonValue());
  const changed = fc
    .constantFrom<object>(claim, exit, packet)
    .chain((value) => fc.tuple(fc.constant(value), fc.constantFrom('more', ...Object.keys(value)), other))
    .map(([value, key, changed]) => JSON.stringify({ ...value, [key]: changed }));
  let read = 0;
  fc.assert(
    fc.property(fc.oneof(fc.string(), cut, changed, changed, fc.json()), (text) => {
      const whole = [parseClaim, parseExit, parsePacket].filter((parse) => {
        const value = parse(text);
        if (value !== null) expect(parse(JSON.stringify(value))).toEqual(value);
        return value !== null;
      });
      if (whole.length > 0) read += 1;
    }),
    { numRuns },
  );
  expect(read).toBeGreaterThan(numRuns / 10);
});

test('of many who want a claim one gets it, and it is whole at once', async () => {
  const dir = mkdtempSync(path.join(root, 'claim-'));
  const won = await Promise.all(Array.from({ length: 20 }, () => takeClaim(dir, 'engine')));
  expect(won.filter(Boolean)).toHaveLength(1);
  expect(await readAttemptClaim(dir)).toMatchObject({ by: 'engine', pid: process.pid });
  expect(readdirSync(dir)).toEqual(['claim']);
});

test('a file is written whole under its name, and a missing one reads as nothing', async () => {
  const dir = mkdtempSync(path.join(root, 'file-'));
  expect([await readAttemptClaim(dir), await readExit(dir)]).toEqual([null, null]);
  await writeDurably(dir, 'exit.json', JSON.stringify(exit));
  expect(await readExit(dir)).toEqual(exit);
  expect(readdirSync(dir)).toEqual(['exit.json']);
  await writeDurably(dir, 'stdin', new Uint8Array([0xff, 0]));
  expect([...readFileSync(path.join(dir, 'stdin'))]).toEqual([0xff, 0]);
});

test('a folder into which a supervisor still writes is cleared', async () => {
  for (let round = 0; round < 20; round += 1) {
    const dir = mkdtempSync(path.join(root, 'clear-'));
    for (let file = 0; file < 20; file += 1) writeFileSync(path.join(dir, `spool-${file}`), '');
    let writes = 0;
    const writer = setInterval(() => {
      try {
        if (writes < 20) writeFileSync(path.join(dir, `late-${writes++}`), '');
      } catch {
        // The folder is gone.
      }
    }, 0);
    await clearAttempt(dir).finally(() => clearInterval(writer));
    expect(existsSync(dir)).toBe(false);
  }
});
