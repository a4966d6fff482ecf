import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';

const PURE = ['src/kernel/**/*.test.ts', 'src/dialects/**/*.test.ts'];

/** Tests that start many processes. Node forks for each, which copies the page tables of the whole test process. */
const PROCESSES = [
  ...['cli', 'mcp', 'crash', 'soak', 'agents', 'api'].map((folder) => `test/${folder}/**/*.test.ts`),
  ...['workspace', 'agents', 'utilities', 'git'].map((folder) => `src/${folder}/**/*.test.ts`),
  'test/conformance/operations.test.ts',
  'test/docs.test.ts',
];

/** Tests of the page: each worker has a browser, and a browser wants a core for itself. */
const IN_BROWSER = ['test/web/**/*.test.ts'];

const quickSources = fileURLToPath(new URL('./test/quick-sources.cjs', import.meta.url));

const EXEC_ARGV = ['--disable-warning=ExperimentalWarning', '--require', quickSources];

// Logs and repositories of tests are written to memory: no test asks what a disk keeps when the power fails. TMPDIR names another place.
process.env.TMPDIR ??= folderInMemory() ?? tmpdir();

function folderInMemory(): string | undefined {
  const [TMPFS, NEEDED_BYTES] = [0x01021994, 2 ** 31];
  try {
    const { type, bavail, bsize } = statfsSync('/dev/shm');
    if (type !== TMPFS || bavail * bsize < NEEDED_BYTES) return undefined;
    const folder = mkdtempSync('/dev/shm/baton-');
    // Some tests run as another user.
    chmodSync(folder, 0o755);
    process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
    return folder;
  } catch {
    return undefined;
  }
}

export default defineConfig({
  test: {
    projects: [
      // Pure functions share nothing but code: many files in one process, which saves a start for each.
      { extends: true, test: { name: 'rules', include: PURE, isolate: false } },
      {
        extends: true,
        test: {
          name: 'parts',
          isolate: false,
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...PURE, ...PROCESSES, ...IN_BROWSER],
        },
      },
      {
        extends: true,
        test: {
          name: 'page',
          isolate: false,
          include: IN_BROWSER,
          globalSetup: 'test/web/set-up.ts',
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'processes',
          isolate: false,
          include: PROCESSES,
          // A small heap: with one of 400 MB a start takes 20 ms of processor time, with one of 80 MB it takes 6.
          execArgv: [...EXEC_ARGV, '--max-semi-space-size=2', '--heap-growing-percent=30'],
        },
      },
    ],
    // Node loads our sources by itself, and keeps what it compiled.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    execArgv: EXEC_ARGV,
    setupFiles: ['test/fixed-seed.js'],
    // A test that asserts nothing fails.
    expect: { requireAssertions: true },
    // Many tests start real processes; on a busy machine they take their time, and none asserts how long.
    testTimeout: 120_000,
    // Many of them wait, for a process or for a limit to pass: with three workers for each core hardly one stands idle.
    maxWorkers: availableParallelism() * 3,
    hookTimeout: 120_000,
    // Keys and checkpoints of casts that tests run do not belong into anybody's home.
    env: {
      BATON_CONFIG: join(tmpdir(), 'baton-test-config'),
      BATON_CHECKPOINTS: join(tmpdir(), 'baton-test-checkpoints'),
    },
  },
});
