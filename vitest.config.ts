import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    // Many tests start real processes; on a busy machine they take their time, and none asserts how long.
    testTimeout: 120_000,
    // Many of them wait, for a process or for a limit to pass: with one worker more than there are cores none stands idle.
    maxWorkers: availableParallelism() + 1,
    hookTimeout: 120_000,
    // Keys and checkpoints of casts that tests run do not belong into anybody's home.
    env: {
      BATON_CONFIG: join(tmpdir(), 'baton-test-config'),
      BATON_CHECKPOINTS: join(tmpdir(), 'baton-test-checkpoints'),
    },
  },
});
