import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { AttemptDirs, Runner } from '../engine/ports.ts';
import type { Packet } from '../kernel/cast/packet.ts';
import { inItsFolder } from './index.ts';

let root = '';
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'baton-folder-')));
  mkdirSync(join(root, 'project', 'sub'), { recursive: true });
  writeFileSync(join(root, 'project', 'file'), '');
  symlinkSync(root, join(root, 'project', 'out'));
  symlinkSync(join(root, 'project', 'sub'), join(root, 'project', 'in'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Answers with the folder it was started in. */
const where: Runner = {
  run: async (_packet, { cwd }) => ({ kind: 'output', output: cwd }),
  recover: async (_packet, { cwd }) => ({ kind: 'output', output: cwd }),
};
const NOTHING = {} as Packet;
const never = new AbortController().signal;
const place = (): AttemptDirs => ({ cwd: join(root, 'project'), configDir: root, attemptDir: join(root, 'attempt') });

test.each<[string | undefined, string | RegExp]>([
  [undefined, 'project'],
  ['sub', 'project/sub'],
  ['in', 'project/in'],
  ['out', /leads out of/],
  ['file', /is no folder/],
  ['gone', /there is no folder gone in .*; make it/],
])('a materia of the folder %s works in %s', async (cwd, found) => {
  const runner = inItsFolder(where, { type: 'agent', ...(cwd === undefined ? {} : { cwd }) });
  const result = await runner.run(NOTHING, place(), never);
  if (typeof found === 'string') {
    expect(result).toEqual({ kind: 'output', output: join(root, found) });
    expect(await runner.recover(NOTHING, place(), never)).toEqual(result);
  } else {
    expect(result).toMatchObject({ kind: 'fault', fault: 'refused', code: 'AGENT_UNAVAILABLE' });
    expect(result).toMatchObject({ reason: expect.stringMatching(found) });
  }
});

test('a utility without its folder fails as utilities do', async () => {
  const result = await inItsFolder(where, { type: 'utility', cwd: 'gone' }).run(NOTHING, place(), never);
  expect(result).toMatchObject({ kind: 'fault', fault: 'utility' });
});
