// Taking a cast over from a process that is gone. Before anything is dispatched again, everything it had in progress is
// judged by its last sign of life, and what was found is written down: who was silent for too long loses the task, which
// gives its paths back and is handed out anew under a larger token while its retries last; the others go on.
import type { Input } from '../input.ts';
import { expireTask, isSpent, lastHeard } from '../ledger/move.ts';
import { type Task, tasksOf } from '../ledger/state.ts';
import type { Cast, Turn } from '../state.ts';
import { allow, deny, type Verdict } from '../verdict.ts';
import { giveUp } from './answer.ts';
import type { Pen } from './pen.ts';
import { runsOnce } from './unknown.ts';

/** What is said of a task that was in progress when its cast was taken over. Times are in milliseconds. */
export type Judged = {
  readonly task: string;
  readonly owner: string;
  readonly fence: number | null;
  /** The turn that works on it. */
  readonly turn: number | null;
  readonly lastHeartbeatAt: number;
  readonly timeoutS: number;
  readonly silentS: number;
  readonly judged: 'alive' | 'timed_out';
  readonly why: string;
};

type Request = Extract<Input, { kind: 'cast.recover' }>;

export function recover(pen: Pen, cast: Cast, input: Request): Verdict {
  if (cast.status !== 'running') return allow(`cast ${cast.id} is ${cast.status}; nothing of it was cut off`);
  const { driver } = input;
  const tasks = tasksOf(pen.ledger, cast.id).filter(({ status }) => status === 'in_progress');
  const judged = tasks.map((task) => judge(pen, cast, task, input));
  pen.write({ kind: 'cast.recovered', cast: cast.id, driver, tasks: judged });
  const late = judged.filter((each) => each.judged === 'timed_out');
  for (const { task, lastHeartbeatAt } of late) expire(pen, cast, task, lastHeartbeatAt);
  const details = { cast: cast.id, in_progress: judged.length, timed_out: late.map(({ task }) => task) };
  return allow(`cast ${cast.id} is taken over`, details);
}

/** The turn that works on a task. */
export function turnOn(cast: Cast, task: string): Turn | null {
  return Object.values(cast.turns).find((turn) => turn.task === task) ?? null;
}

/** Why nobody is silent although nothing is heard of the task; null where it is the agent's turn to say something. */
export function excuseOf(cast: Cast, task: string): string | null {
  const phase = turnOn(cast, task)?.phase ?? 'owed';
  if (phase === 'owed' || phase === 'held' || phase === 'running') return null;
  return phase === 'verifying' || phase === 'accepted' || phase === 'merging'
    ? 'its agent has answered'
    : 'it waits for a person';
}

function judge(pen: Pen, cast: Cast, task: Task, { heard = {}, seen = {} }: Request): Judged {
  const { id, owner, fence, claimedAt, timeoutS } = task;
  const turn = turnOn(cast, id);
  const lastHeartbeatAt = lastHeard(Object.hasOwn(heard, id) ? (heard[id] ?? null) : null, claimedAt, pen.at);
  const silentS = Math.floor(pen.at / 1000) - Math.floor(lastHeartbeatAt / 1000);
  const row = { task: id, owner, fence, turn: turn?.id ?? null, lastHeartbeatAt, timeoutS, silentS };
  const excuse = excuseOf(cast, id) ?? SEEN[(turn?.phase === 'running' && seen[turn.id]) || 'nothing'];
  if (excuse !== null) return { ...row, judged: 'alive', why: excuse };
  const why = `it was heard of ${silentS} s ago and has ${timeoutS} s`;
  return { ...row, judged: silentS > timeoutS ? 'timed_out' : 'alive', why };
}

/** A program that still runs is watched by its own supervisor, and an answer that lies ready is no silence. */
const SEEN = {
  running: 'its program still runs',
  answered: 'its answer lies ready',
  nothing: null,
} as const;

/**
 * What must not run twice is left to a person, who is asked when the attempt is given up. Where the retries are used up, a
 * person decides as well.
 */
function expire(pen: Pen, cast: Cast, id: string, lastHeartbeatAt: number): void {
  const task = tasksOf(pen.ledger, cast.id).find((each) => each.id === id);
  if (!task) return;
  const turn = turnOn(cast, id);
  const isLast = isSpent(task);
  const observed = 'nobody drove its cast';
  expireTask(pen, { kind: 'task.expire', run: cast.id, task: id, lastHeartbeatAt, why: 'silent', observed });
  if (!isLast || !turn || runsOnce(cast, turn)) return;
  const [code, { reason }] = ['TASK_TIMEOUT', task] as const;
  const usage = { input: 0, output: 0, cost: 0 };
  pen.write({
    ...{ kind: 'turn.blocked', cast: cast.id, turn: turn.id, attempt: turn.attempt },
    ...{ output: '', usage, code, reason },
  });
  giveUp(pen, cast, turn, deny(code, reason, { socket: turn.socket }), {});
}
