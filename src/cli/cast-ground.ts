// The folder in which a cast works, as the engine needs it: the directory itself, or a worktree that is made when the first
// turn is owed and found again after a crash.
import { readdir, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { awaitAttempt, recoverAttempt, startAttempt } from '../agents/process/attempt.ts';
import type { Door } from '../engine/door.ts';
import type { Ground } from '../engine/ports.ts';
import type { Workspace } from '../workspace/locate.ts';
import { readyWorktree, type StepEnd, type Steps } from '../workspace/worktree/make.ts';
import type { WorktreeRecord } from '../workspace/worktree/record.ts';
import { beginTurn, dropStrays, keepTurn } from '../workspace/worktree/turns.ts';

const GRACE_MS = 2_000;
const OUTPUT_BYTES_MAX = 1_048_576;
const SAID_CHARS_MAX = 500;

export function groundFor(workspace: Workspace, door: Door, cast: string, say: (line: string) => void): Ground {
  const { dir, stateDir } = workspace;
  let record: WorktreeRecord | null = null;
  const find = async (signal: AbortSignal): Promise<void> => {
    const state = await door.cast(cast);
    if (state?.root === undefined) return;
    const { worktree: rules = null } = state.rules;
    record = await readyWorktree({ dir, stateDir, cast, rules, steps: stepsFor(stateDir, cast, signal) });
  };
  let finding: Promise<void> | null = null;
  // Items that walk side by side share the worktree; git is asked one thing after the other.
  let queue: Promise<unknown> = Promise.resolve();
  const inTurn = (work: (known: WorktreeRecord) => Promise<void>): Promise<void> => {
    const done = queue.then(() => (record ? work(record) : undefined));
    queue = done.catch(() => undefined);
    return done;
  };
  return {
    async ready(signal) {
      finding ??= find(signal);
      await finding;
      return record?.cwd ?? dir;
    },
    begin: (watch) =>
      inTurn(async (known) => {
        const begun = await beginTurn(stateDir, known, watch);
        record = begun.record;
        if (begun.aside) say(`  turn ${watch.turn} begins over; what it had left is kept as ${begun.aside.ref}`);
      }),
    keep: (watch, changes) =>
      inTurn(async (known) => {
        record = await keepTurn(stateDir, known, watch, Object.keys(changes));
      }),
    refuse: (watch) =>
      inTurn(async (known) => {
        const aside = await dropStrays(stateDir, known, watch);
        if (aside) say(`  what turn ${watch.turn} wrote where it may not is taken away, and kept as ${aside.ref}`);
      }),
  };
}

/** Programs that set a worktree up run under a supervisor, like every other one: a crash leaves none of them behind. */
function stepsFor(stateDir: string, cast: string, signal: AbortSignal): Steps {
  const attempts = join(stateDir, 'attempts');
  const prefix = `${cast}-worktree.`;
  let count = 0;
  return {
    async run({ argv, cwd, env, timeoutMs }) {
      count += 1;
      const folder = join(attempts, `${prefix}${count}`);
      const limits = { graceMs: GRACE_MS, maxStdoutBytes: OUTPUT_BYTES_MAX, maxStderrBytes: OUTPUT_BYTES_MAX };
      const home = resolve(process.env.BATON_HOME || dirname(attempts));
      await startAttempt(folder, { argv, cwd, env: { ...env, BATON_HOME: home }, timeoutMs, ...limits }, '');
      const end = await awaitAttempt(folder, signal);
      await rm(folder, { recursive: true, force: true });
      return asStepEnd(end, timeoutMs);
    },
    async clear() {
      for (const name of await readdir(attempts).catch(() => [])) {
        if (!name.startsWith(prefix)) continue;
        const folder = join(attempts, name);
        if ((await recoverAttempt(folder)) === 'running') await awaitAttempt(folder, AbortSignal.abort());
        await rm(folder, { recursive: true, force: true });
      }
    },
  };
}

function asStepEnd(end: Awaited<ReturnType<typeof awaitAttempt>>, timeoutMs: number): StepEnd {
  if (end.code === 0 && !end.lost && !end.timedOut && !end.aborted) return { ok: true };
  const said = `${end.stderr}\n${end.stdout}`.trim().replace(/\s+/g, ' ').slice(-SAID_CHARS_MAX);
  const because = said === '' ? '' : `: ${said}`;
  if (end.aborted) return { ok: false, why: 'it was stopped' };
  if (end.timedOut) return { ok: false, why: `it did not end within ${timeoutMs} ms${because}` };
  if (end.error) return { ok: false, why: `${end.error}${because}` };
  return { ok: false, why: `${end.code === null ? `signal ${end.signal}` : `exit code ${end.code}`}${because}` };
}
