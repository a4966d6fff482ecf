// Runs the promises of a store against every implementation.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { WorkspaceStore } from '../../src/app/store.ts';
import { dialects } from '../../src/dialects/index.ts';
import { Decider } from '../../src/engine/decider.ts';
import { LocalStore } from '../../src/engine/local-store.ts';
import { WorkerStore } from '../../src/engine/worker-store.ts';
import type { Request } from '../../src/kernel/input.ts';
import { SqliteLog } from '../../src/log/sqlite/log.ts';
import { logFileIn } from '../../src/log/sqlite/open.ts';
import { startProgram } from './program.ts';
import { startOf } from './round.ts';
import { storePromises } from './store.ts';

storePromises('in this thread', async (folder) => {
  return new LocalStore(await Decider.open(new SqliteLog(logFileIn(folder)), dialects));
});

storePromises('of a workspace', async (folder) => {
  return new WorkspaceStore(new SqliteLog(logFileIn(folder)), folder);
});

storePromises('behind a worker', (folder) => WorkerStore.open(logFileIn(folder)));

test('a worker that could not open its log does not keep the process alive', { timeout: 60_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-store-'));
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
  const folder = mkdtempSync(join(tmpdir(), 'baton-store-'));
  const store = await WorkerStore.open(logFileIn(folder));
  onTestFinished(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const odd = { ...startOf('odd'), data: { call: () => undefined } } as unknown as Request;
  const results = await Promise.allSettled(
    [startOf('a'), odd, startOf('b')].map((request) => store.submit(request, { name: 'test' })),
  );
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect((await store.read({ after: 0, kindPrefix: 'cast.' })).length).toBe(2);
});
