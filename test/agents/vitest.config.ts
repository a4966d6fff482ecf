// The tests that need the real agent programs; the ordinary run does not see them. Four files at a time: most of it is
// waiting for programs to start, and more of them at once would test the patience of their time limits.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/agents/**/*.agents.ts'],
    maxWorkers: 4,
    expect: { requireAssertions: true },
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
