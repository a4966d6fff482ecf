import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Packet } from '../kernel/cast/packet.ts';
import { unrun } from './process/attempt-folder.ts';
import { ownIdentity } from './process/process-identity.ts';
import { utility } from './utility.ts';

test('a utility that the driver before stopped is lost, and no failure of the utility', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'baton-utility-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  writeFileSync(join(dir, 'claim'), JSON.stringify({ by: 'supervisor', ...ownIdentity() }));
  writeFileSync(join(dir, 'exit.json'), JSON.stringify(unrun({ aborted: true })));
  const packet = { materia: { type: 'utility', command: ['work'], script: null, params: {} }, timeoutMs: 1_000 };
  const place = { cwd: dir, configDir: dir, attemptDir: dir };
  const end = await utility.recover(packet as unknown as Packet, place, new AbortController().signal);
  expect(end).toEqual({ kind: 'lost', mayHaveRun: true, reason: 'it was stopped' });
});
