// What a scripted agent may write, and what it says when it cannot.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Packet } from '../kernel/cast/packet.ts';
import { scripted } from './scripted.ts';

let cwd = '';
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'baton-scripted-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const write = (files: Record<string, string>) => {
  const packet = {
    socket: 'Socket-1',
    timeoutMs: 1000,
    materia: { id: 'M' },
    scripted: { turn: { $turn: { output: 'ok', write: files } } },
  };
  const place = { cwd, attemptDir: join(cwd, 'attempt'), configDir: cwd };
  return scripted.run(packet as unknown as Packet, place, new AbortController().signal);
};

test('files below the project directory are written', async () => {
  expect(await write({ 'src/a.txt': 'one', 'b.txt': 'two' })).toEqual({ kind: 'output', output: 'ok' });
  expect(readFileSync(join(cwd, 'src', 'a.txt'), 'utf8')).toBe('one');
});

test.each([
  '../out.txt',
  '/tmp/out.txt',
  '.',
  '.baton/state/log.sqlite',
  '.BATON/config.json',
  'a/../../out.txt',
  'link/x.txt',
])('%s is refused, and nothing of the turn is written', async (path) => {
  mkdirSync(join(cwd, '.baton'));
  symlinkSync(tmpdir(), join(cwd, 'link'));
  expect(await write({ 'fine.txt': 'x', [path]: 'x' })).toMatchObject({
    kind: 'fault',
    reason: expect.stringContaining(path),
  });
  expect(existsSync(join(cwd, 'fine.txt'))).toBe(false);
});

test('a file that cannot be written fails the turn, not the engine', async () => {
  writeFileSync(join(cwd, 'a'), 'a file');
  expect(await write({ 'a/b.txt': 'x' })).toMatchObject({ kind: 'fault', reason: expect.stringContaining('a/b.txt') });
});

test('commands it is said to have run are told beside its answer', async () => {
  const scripting = { turn: { $turn: { output: 'ok', commands: ['npm test', 7] } } };
  const packet = { socket: 'Socket-1', timeoutMs: 1000, materia: { id: 'M' }, scripted: scripting };
  const place = { cwd, attemptDir: join(cwd, 'attempt'), configDir: cwd };
  expect(await scripted.run(packet as unknown as Packet, place, new AbortController().signal)).toEqual({
    kind: 'output',
    output: 'ok',
    agent: { commands: ['npm test'] },
  });
});

test('a command that nobody approved is not run', async () => {
  const packet = {
    ...{ socket: 'Socket-1', timeoutMs: 1000, materia: { id: 'M' }, brief: 'Do it.' },
    scripted: { turn: { $turn: { output: 'ok', exec: ['touch', 'made'] } } },
  };
  const place = { cwd, attemptDir: join(cwd, 'attempt'), configDir: cwd };
  expect(await scripted.run(packet as unknown as Packet, place, new AbortController().signal)).toMatchObject({
    ...{ kind: 'fault', fault: 'unscripted', reason: expect.stringContaining('nothing was approved') },
  });
  expect(existsSync(join(cwd, 'attempt'))).toBe(false);
});
