// A task as the page knows it: the row of the ledger, with the cast that it belongs to and what it waits for.
import type { InboxRow } from '../../../src/app/views/cast-page.ts';
import { mayMoveInCast } from '../../../src/kernel/ledger/move.ts';
import { mayMove, TASK_STATUSES, type TaskStatus } from '../../../src/kernel/ledger/state.ts';
import type { CastRow } from '../shell/overview.ts';

export type TaskRow = {
  readonly run_id: string;
  readonly task_id: string;
  readonly title: string;
  readonly status: TaskStatus;
  readonly owner: string;
  readonly lock_scope: readonly string[];
  readonly timeout_seconds: number;
  readonly heartbeat_interval_seconds: number;
  readonly priority: string;
  readonly last_heartbeat_at: string | null;
  readonly dependencies: readonly string[];
  readonly version: number;
  readonly retry_count: number;
  readonly code: string | null;
  readonly reason: string;
  /** The reason with names. */
  readonly why?: string;
  readonly fence: number | null;
  readonly acceptance_criteria: readonly string[];
};

export type Task = TaskRow & { readonly cast: CastRow | null; readonly waits: InboxRow | null };

export type LockRow = {
  readonly run: string;
  readonly task: string;
  readonly owner: string;
  readonly fence: number | null;
  readonly root: string;
  readonly path: string;
  readonly mode: string;
  readonly since: string | null;
};

export const COLUMNS: readonly (readonly [TaskStatus, string])[] = [
  ['todo', 'To do'],
  ['in_progress', 'In progress'],
  ['blocked', 'Blocked'],
  ['done', 'Done'],
  ['failed', 'Failed'],
  ['canceled', 'Canceled'],
];
export const statusName = (status: TaskStatus): string => COLUMNS.find(([each]) => each === status)?.[1] ?? status;

export const keyOf = ({ run_id, task_id }: Pick<TaskRow, 'run_id' | 'task_id'>): string => `${run_id}/${task_id}`;

export function withCasts(
  rows: readonly TaskRow[],
  casts: readonly CastRow[],
  waits: readonly InboxRow[],
): readonly Task[] {
  const byId = new Map(casts.map((row) => [row.cast, row]));
  return rows.map((row) => {
    const wait = row.status === 'done' ? undefined : waits.find((each) => isAbout(each, row));
    return { ...row, cast: byId.get(row.run_id) ?? null, waits: wait ?? null };
  });
}

function isAbout(wait: InboxRow, row: TaskRow): boolean {
  return wait.cast === row.run_id && wait.item?.title === row.title;
}

/** Whether a person may move it there, as the rules of the ledger say. The reason is shown where it may not be dropped. */
export function moveOf(task: Task, to: TaskStatus): { readonly may: boolean; readonly why: string } {
  if (task.status === to) return { may: false, why: '' };
  const allowed = mayMove(task.status, to);
  if (!allowed.allow) return { may: false, why: allowed.reason };
  if (task.cast !== null && !mayMoveInCast(task, to, 'person'))
    return {
      may: false,
      why: 'Its cast moves it. By hand it may only be tried again or left out, and not while it is worked on.',
    };
  return { may: true, why: '' };
}

export function movesOf(task: Task): readonly TaskStatus[] {
  return TASK_STATUSES.filter((to) => moveOf(task, to).may);
}

/** How long its owner is silent, and how long that may be. Null where nobody works on it, or an agent of a cast waits. */
export function silenceOf(task: Task, now: number): { readonly ms: number; readonly limitMs: number } | null {
  if (task.status !== 'in_progress' || task.last_heartbeat_at === null || task.waits !== null) return null;
  return { ms: Math.max(0, now - Date.parse(task.last_heartbeat_at)), limitMs: task.timeout_seconds * 1000 };
}

/** What a person moved without evidence says so in its reason. */
export function noteOf(task: Task): string {
  if (task.status === 'blocked' || task.status === 'failed' || task.status === 'canceled')
    return task.why ?? task.reason;
  return task.status === 'done' && task.reason.startsWith('moved to done by') ? task.reason : '';
}

/** Paths as people say them; the folder itself is everything in it. */
export const pathsOf = (paths: readonly string[]): string =>
  paths.map((path) => (path === '.' ? 'everything' : path)).join(', ');
