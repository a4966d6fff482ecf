// The tests that need the real agent programs; the ordinary run does not see them. One file after the other: the programs
// are large, and what is tested are time limits too.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/agents/**/*.agents.ts'],
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
