// The tests that need the real agent programs; the ordinary run does not see them.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: { include: ['test/agents/**/*.agents.ts'], testTimeout: 120_000, hookTimeout: 120_000 },
});
