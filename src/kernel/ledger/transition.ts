// The six statuses of a task and the moves between them. Saying a final status again is a replay: it is harmless and
// changes nothing. Saying any other status again is no move.
import { allow, deny, type Verdict } from '../verdict.ts';

export const TASK_STATUSES = ['todo', 'in_progress', 'blocked', 'done', 'failed', 'canceled'] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];
export type Move = 'move' | 'replay' | 'illegal';

const MOVES: Readonly<Record<TaskStatus, readonly TaskStatus[]>> = {
  todo: ['in_progress', 'blocked', 'failed', 'canceled'],
  in_progress: ['blocked', 'done', 'failed', 'canceled'],
  blocked: ['todo', 'in_progress', 'failed', 'canceled'],
  done: [],
  failed: [],
  canceled: [],
};

export function isTaskStatus(value: unknown): value is TaskStatus {
  return TASK_STATUSES.some((status) => status === value);
}

export function isTerminal(status: TaskStatus): boolean {
  return MOVES[status].length === 0;
}

/** The statuses a task may move to. */
export function movesFrom(status: TaskStatus): readonly TaskStatus[] {
  return MOVES[status];
}

export function moveOf(from: TaskStatus, to: TaskStatus): Move {
  if (from === to) return isTerminal(from) ? 'replay' : 'illegal';
  return MOVES[from].includes(to) ? 'move' : 'illegal';
}

/** Whether a task may go from one status to another; a replay is allowed and marked as such. */
export function mayMove(from: TaskStatus, to: TaskStatus): Verdict {
  const allowed = movesFrom(from);
  const move = moveOf(from, to);
  if (move !== 'illegal') return allow(`${from} → ${to}`, { from, to, replay: move === 'replay' });
  const moves = allowed.length === 0 ? `${from} is final` : `from ${from} it may go to ${allowed.join(', ')}`;
  return deny('INVALID_TRANSITION', `A task cannot go from ${from} to ${to}: ${moves}.`, { from, to, allowed });
}
