// The tests that mutation testing asks about a mutant: those that run in the process of the runner.
import { configDefaults, defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['kernel', 'dialects', 'approvals', 'audit'].map((folder) => `src/${folder}/**/*.test.ts`),
    // These ask that many random cases reach both answers, and here there are few.
    exclude: [
      ...configDefaults.exclude,
      'src/kernel/ledger/model.test.ts',
      'src/dialects/materia/schema.test.ts',
      'src/trust/shape.test.ts',
    ],
    setupFiles: ['test/fixed-seed.js'],
    isolate: false,
    testTimeout: 120_000,
    // Few random cases: a mutant that survives costs one run of all tests that reach it.
    env: { FUZZ_RUNS: '30', FUZZ_SEED: '20260101' },
  },
});
