// Locks in the workspace itself, for a person's command that changes files there. They belong to a task of the ledger and are
// released at the end of the work, so that no cast works on the same files meanwhile.
import { existsSync } from 'node:fs';
import type { Store, Submitter } from '../engine/store.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import { isTerminal, runOf, tasksOf } from '../kernel/ledger/state.ts';
import { readJsonFile } from '../workspace/load-config.ts';
import type { LocatedWorkspace } from '../workspace/locate.ts';
import { Refused } from './refused.ts';

/** More paths than that are locked by locking everything. */
const PATHS_MAX = 500;
/** What a command left behind when it was killed is free again after so long. */
const TIMEOUT_S = 300;

type Locked = {
  readonly name: string;
  readonly title: string;
  readonly paths: readonly string[];
  /** Who holds them, as the log names him. */
  readonly actor: Submitter;
};

/** Runs `work` while these paths are locked; refused with who holds them where somebody does. */
export async function withMainLocks<T>(
  store: Store,
  { name, title, paths, actor }: Locked,
  work: () => Promise<T>,
): Promise<T> {
  const task = await newTask(store, name, actor);
  const packet = packetOf(name, task, title, paths.length > PATHS_MAX ? ['.'] : paths);
  const created = await store.submit({ kind: 'task.create', packet }, actor);
  if (!created.allow) throw new Refused(created);
  const claimed = await store.submit({ kind: 'task.claim', run: name, task, owner: actor.name }, actor);
  if (!claimed.allow) {
    await move(store, { run: name, task, actor }, 'canceled', claimed.reason);
    throw new Refused(claimed);
  }
  let isDone = false;
  try {
    const result = await work();
    isDone = true;
    return result;
  } finally {
    await move(store, { run: name, task, actor }, isDone ? 'done' : 'canceled', isDone ? title : 'it did not get done');
  }
}

/** The next number; what an earlier command was killed over is given up. */
async function newTask(store: Store, run: string, actor: Submitter): Promise<string> {
  const ledger = await store.view('ledger', run);
  for (const { id, status } of tasksOf(ledger, run)) {
    if (!isTerminal(status))
      await move(store, { run, task: id, actor }, 'canceled', 'the command that worked on it is gone');
  }
  return `T-${(runOf(ledger, run)?.tasks.length ?? 0) + 1}`;
}

type Moved = { readonly run: string; readonly task: string; readonly actor: Submitter };

async function move(store: Store, { run, task, actor }: Moved, to: 'done' | 'canceled', reason: string): Promise<void> {
  await store.submit({ kind: 'task.move', run, task, to, reason, actor: 'engine' }, actor);
}

function packetOf(run: string, id: string, title: string, paths: readonly string[]): JsonObject {
  return {
    schema_version: '1.0.0',
    run_id: run,
    packet_type: 'assignment',
    global_objective: title,
    task: {
      task_id: id,
      title,
      type: 'parallelizable',
      dependencies: [],
      lock_scope: [...paths],
      forbidden_scope: [],
      acceptance_criteria: [],
      worklog_path: '',
      timeout_seconds: TIMEOUT_S,
      heartbeat_interval_seconds: TIMEOUT_S,
      priority: 'high',
    },
    active_locks: [],
    context_package: [],
    required_output_schema: 'subagent_result_v1',
  };
}

export async function configureLocks(store: Store, { configFile }: LocatedWorkspace, actor: Submitter): Promise<void> {
  const config = existsSync(configFile) ? readJsonFile(configFile) : null;
  const locks = isObject(config) ? config.locks : null;
  if (!isObject(locks) || typeof locks.caseInsensitive !== 'boolean') return;
  await store.submit({ kind: 'ledger.configure', foldCase: locks.caseInsensitive }, actor);
}
