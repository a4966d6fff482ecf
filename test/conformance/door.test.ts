// Runs the promises of a door with the desk in this thread and with the desk behind a worker.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { dialects } from '../../src/dialects/index.ts';
import { Desk } from '../../src/engine/desk.ts';
import { LocalDoor } from '../../src/engine/door.ts';
import { WorkerDoor } from '../../src/engine/worker-door.ts';
import type { Request } from '../../src/kernel/input.ts';
import { logFileIn, SqliteLog } from '../../src/log/sqlite/log.ts';
import { doorPromises } from './door.ts';
import { startProgram } from './program.ts';
import { startOf } from './round.ts';

doorPromises('in this thread', async (folder) => {
  return new LocalDoor(await Desk.open(new SqliteLog(logFileIn(folder)), dialects));
});

doorPromises('behind a worker', (folder) => WorkerDoor.open(logFileIn(folder)));

test('a worker that could not open its log does not keep the process alive', { timeout: 60_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-door-'));
  writeFileSync(join(folder, 'state'), '');
  const writer = fileURLToPath(new URL('./writer.ts', import.meta.url));
  const program = startProgram(writer, [logFileIn(join(folder, 'state')), 'cast', 'c', '2']);
  onTestFinished(async () => {
    await program.kill();
    rmSync(folder, { recursive: true, force: true });
  });
  expect([await program.ended, program.complaints()]).toEqual([0, '']);
  expect(program.said).toEqual([expect.stringMatching(/^StorageError STORAGE_FAILED: .*must be a folder/)]);
});

test('what cannot cross over to a worker is refused alone', { timeout: 60_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-door-'));
  const door = await WorkerDoor.open(logFileIn(folder));
  onTestFinished(async () => {
    await door.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const odd = { ...startOf('odd'), data: { call: () => undefined } } as unknown as Request;
  const results = await Promise.allSettled(
    [startOf('a'), odd, startOf('b')].map((request) => door.submit(request, 'test')),
  );
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect((await door.lifecycle()).length).toBe(2);
});
