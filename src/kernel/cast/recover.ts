// Taking a cast over from a process that is gone. Before anything is dispatched again, everything it had in progress is
// judged by its last sign of life, and what was found is written down: who was silent for too long loses the task, which
// gives its paths back and is handed out anew under a larger token while its retries last; the others go on.

import { counted } from '../counted.ts';
import type { Fact } from '../fact.ts';
import type { Input } from '../input.ts';
import { expireTask, isSpent, lastHeard } from '../ledger/move.ts';
import { type Task, tasksOf } from '../ledger/state.ts';
import type { Cast, Turn } from '../state.ts';
import { allow, deny, type Verdict } from '../verdict.ts';
import { giveUp } from './answer.ts';
import { runsOnce } from './fault.ts';
import type { Pen } from './pen.ts';

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
  return phase === 'verifying' || phase === 'accepted' || phase === 'merging' || phase === 'parking'
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

// What may be taken over of a cast that worked in a worktree of its own, and what is said of it.
/** `none`: the cast works in the directory itself. */
export type WorkState = 'none' | 'ready' | 'merged' | 'undone';

/** Whether there is work to merge. */
export function isMergeable(cast: string, work: WorkState): Verdict {
  if (work === 'ready') return allow();
  if (work === 'none')
    return deny('NOT_ALLOWED_NOW', `cast ${cast} works in the directory itself; there is nothing to merge`);
  const what = work === 'merged' ? 'merged already' : 'taken back';
  return deny('NOT_ALLOWED_NOW', `the work of cast ${cast} was ${what}; there is nothing to merge`, { cast });
}

export type MergeAsked = {
  readonly cast: string;
  readonly status: string;
  /** Somebody agreed to merge what was accepted so far. */
  readonly yes: boolean;
  readonly squash: boolean;
  /** How the caller calls this program. */
  readonly program: string;
};

/** Half a piece of work is merged only if a person says so, and never as one commit: the rest could not follow it. */
export function isWholeEnough({ cast, status, yes, squash, program }: MergeAsked): Verdict {
  if (status === 'completed' || (yes && !squash)) return allow();
  const how = `merge what was accepted so far with \`${program} merge ${cast} --yes\``;
  const why = squash ? `; --squash takes over whole work only` : '';
  return deny('NOT_ALLOWED_NOW', `cast ${cast} is ${status}, not completed${why}; ${how}`, { cast, status });
}

/** The turns of a cast whose work was accepted, and not reopened since. */
export function acceptedTurns(facts: readonly Fact[]): ReadonlySet<string> {
  const accepted = new Set<string>();
  for (const fact of facts) {
    if (fact.kind === 'turn.accepted') accepted.add(`${fact.turn}`);
    if (fact.kind === 'turn.reopened') accepted.delete(`${fact.turn}`);
  }
  return accepted;
}

/** The work that would be lost, in words; null where none would be. */
export function lostText(commits: number, files: number): string | null {
  const parts = [
    ...(commits > 0 ? [counted(commits, 'unmerged commit')] : []),
    ...(files > 0 ? [counted(files, 'uncommitted file')] : []),
  ];
  return parts.length === 0 ? null : parts.join(' and ');
}

const SUBJECT_CHARS_MAX = 72;
const TITLE_CHARS_MAX = 200;

/** The message of one commit for a whole cast. Titles are agents' texts: each stays on its line, and adds no trailer. */
export function squashMessage(cast: string, request: string, titles: readonly string[]): string {
  const subject = oneLine(request, SUBJECT_CHARS_MAX) || `What cast ${cast} did`;
  const items = titles.map((title) => oneLine(title, TITLE_CHARS_MAX)).filter((title) => title !== '');
  const list = items.length === 0 ? '' : `${items.map((title) => `- ${title}`).join('\n')}\n\n`;
  return `${subject}\n\n${list}Baton-Cast: ${cast}\n`;
}

function oneLine(text: string, charsMax: number): string {
  const line = text.replace(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
  return line.length <= charsMax ? line : `${line.slice(0, charsMax - 1).trimEnd()}…`;
}
