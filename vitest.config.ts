import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    // Many tests start real processes; on a busy machine they take their time, and none asserts how long.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
