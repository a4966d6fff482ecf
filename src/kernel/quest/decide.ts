// The rules of the queue: what is added and moved, which quest may start, and what the end of a cast means for its quest.
import type { Fact } from '../fact.ts';
import { scrubJson } from '../secrets.ts';
import type { Pen } from '../state.ts';
import { truncate } from '../text.ts';
import { allow, type Denied, deny, type Verdict } from '../verdict.ts';
import { readCron } from './cron.ts';
import {
  behindEquals,
  type Errand,
  errandOf,
  OPEN_QUESTS_MAX,
  type Quest,
  type QuestPlace,
  type QuestRequest,
  type Quests,
  questOf,
  questsAtWork,
  readyQuests,
  SCHEDULES_MAX,
  scheduleOf,
  unmetBy,
} from './state.ts';

const REASON_CHARS_MAX = 300;

export function decideQuest(pen: Pen, request: QuestRequest): Verdict {
  const { quests } = pen.state;
  switch (request.kind) {
    case 'quest.add':
      return request.every ? schedule(pen, request, request.every) : add(pen, request);
    case 'quest.move':
      return move(pen, request.quest, request.to);
    case 'quest.requeue': {
      const { quest: id, reason } = request;
      const quest = questOf(quests, id);
      if (!quest) return unknown(id);
      if (quest.status !== 'failed')
        return notNow(quest, `is ${quest.status}; only a failed quest is put into the queue again`);
      const full = refusalOfFull(quests);
      if (full) return full;
      pen.write({ kind: 'quest.requeued', quest: id, before: behindEquals(quests, quest.priority), reason });
      return allow(`${id} is pending again`, { quest: id });
    }
    case 'quest.remove':
      return remove(pen, request.quest, request.reason);
    case 'quest.ring':
      return ring(pen, request);
    case 'quest.stop':
      pen.write({ kind: 'quest.stopped', reason: request.reason });
      return allow('each process that drives the queue ends after the quest that it is at');
  }
}

type Adding = Extract<QuestRequest, { kind: 'quest.add' }>;

function add(pen: Pen, request: Adding): Verdict {
  const { quests } = pen.state;
  const after = [...new Set(request.after ?? [])];
  const missing = after.find((id) => !questOf(quests, id));
  if (missing !== undefined) return unknown(missing);
  const full = refusalOfFull(quests);
  if (full) return full;
  const id = `Q-${quests.numbered + 1}`;
  pen.write({ kind: 'quest.added', quest: id, ...cleanErrand(request), after });
  return allow(`${id} is in the queue`, { quest: id });
}

function schedule(pen: Pen, request: Adding, { cron, zone, dueAt }: NonNullable<Adding['every']>): Verdict {
  const { quests } = pen.state;
  const reading = readCron(cron);
  if (!reading.ok) return deny('BAD_USAGE', reading.reason, { cron });
  if ((request.after ?? []).length > 0)
    return deny('BAD_USAGE', 'what is added again and again comes after no single quest; leave out --after');
  if (Object.keys(quests.schedules).length >= SCHEDULES_MAX)
    return deny('NOT_ALLOWED_NOW', `there are ${SCHEDULES_MAX} schedules; remove one first`);
  const id = `S-${quests.scheduled + 1}`;
  pen.write({ kind: 'quest.scheduled', schedule: id, ...cleanErrand(request), cron, zone, dueAt });
  return allow(`${id} adds its first quest at ${new Date(dueAt).toISOString()}`, { schedule: id, dueAt });
}

function cleanErrand(request: Adding): Errand {
  return scrubJson(errandOf(request)).value as Errand;
}

function refusalOfFull({ all }: Quests): Denied | null {
  const open = Object.values(all).filter(({ status }) => status !== 'succeeded').length;
  if (open < OPEN_QUESTS_MAX) return null;
  return deny('NOT_ALLOWED_NOW', `${open} quests are open, and no more fit; remove some, or let them be done`, {
    open,
  });
}

/** A quest that is put next to another one gets its priority, so that the shown order is the order that counts. */
function move(pen: Pen, id: string, to: QuestPlace): Verdict {
  const { quests } = pen.state;
  const quest = questOf(quests, id);
  if (!quest) return unknown(id);
  if (quest.status !== 'pending') return notNow(quest, `is ${quest.status}, and only pending quests have an order`);
  const others = quests.order.filter((each) => each !== id);
  let before: string | null;
  let priority = quest.priority;
  if ('priority' in to) {
    priority = to.priority;
    before = behindEquals(quests, priority, id);
  } else {
    const named = 'before' in to ? to.before : 'after' in to ? to.after : null;
    if (named !== null) {
      const other = questOf(quests, named);
      if (!other) return unknown(named);
      if (!others.includes(named)) return notNow(other, `is ${other.id === id ? 'the same quest' : other.status}`);
    }
    const neighbour = named ?? ('at' in to && to.at === 'first' ? others[0] : others.at(-1));
    priority = (neighbour !== undefined && questOf(quests, neighbour)?.priority) || priority;
    const place = neighbour === undefined ? -1 : others.indexOf(neighbour);
    const isBefore = 'before' in to || ('at' in to && to.at === 'first');
    before = others[isBefore ? place : place + 1] ?? null;
  }
  pen.write({ kind: 'quest.moved', quest: id, before, priority });
  return allow(`${id} is number ${quests.order.indexOf(id) + 1} of ${quests.order.length} (${priority})`, {
    quest: id,
    order: [...quests.order],
  });
}

function remove(pen: Pen, id: string, reason: string): Verdict {
  const { quests } = pen.state;
  if (scheduleOf(quests, id)) {
    pen.write({ kind: 'quest.removed', quest: id, reason });
    return allow(`${id} adds no more quests`, { schedule: id });
  }
  const quest = questOf(quests, id);
  if (!quest) return unknown(id);
  if (quest.status === 'running')
    return notNow(quest, `is at work; \`baton abort ${quest.cast}\` stops its cast, and then it can be removed`);
  const later = Object.values(quests.all).filter(({ after, status }) => status === 'pending' && after.includes(id));
  if (quest.status !== 'succeeded' && later.length > 0) {
    const names = later.map((each) => each.id);
    return notNow(quest, `comes before ${names.join(', ')}; remove ${names.length === 1 ? 'it' : 'them'} first`);
  }
  pen.write({ kind: 'quest.removed', quest: id, reason });
  return allow(`${id} is removed`, { quest: id });
}

/**
 * A schedule whose time has come adds its quest, once for however many times were missed. While its last quest is open it adds
 * none: what takes longer than its interval does not pile up. The next time is later than now and later than this one, whatever
 * the clock did in between.
 */
function ring(pen: Pen, { schedule: id, next }: Extract<QuestRequest, { kind: 'quest.ring' }>): Verdict {
  const { quests } = pen.state;
  const due = scheduleOf(quests, id);
  if (!due) return unknown(id);
  const { dueAt } = due;
  if (dueAt > pen.at || next <= Math.max(pen.at, dueAt))
    return deny('NOT_ALLOWED_NOW', `${id} is due at ${new Date(dueAt).toISOString()}`, { dueAt });
  const last = due.last === null ? null : questOf(quests, due.last);
  const open = last && (last.status === 'pending' || last.status === 'running') ? { open: last.id } : {};
  const isFull = refusalOfFull(quests) !== null;
  pen.write({ kind: 'quest.rang', schedule: id, dueAt, next, ...open });
  if ('open' in open) return allow(`${id} was due, and its quest ${open.open} is still open`, { schedule: id });
  if (isFull) return allow(`${id} was due, and the queue is full`, { schedule: id });
  const quest = `Q-${quests.numbered + 1}`;
  pen.write({ kind: 'quest.added', quest, ...errandOf(due), after: [], schedule: id });
  return allow(`${id} was due and added ${quest}`, { schedule: id, quest });
}

/** By which quest a cast is started, and how many may be at work at once. */
export type ForQuest = {
  readonly id: string;
  readonly atOnce: number;
  /** A person named it: it starts although others come before it. */
  readonly isNamed?: boolean;
};

/** Why this quest may not start now; null where it may. It is asked in the commit that starts its cast. */
export function refusalOfQuest(pen: Pen, { id, atOnce, isNamed = false }: ForQuest): Denied | null {
  const { quests, casts } = pen.state;
  const quest = questOf(quests, id);
  if (!quest) return unknown(id);
  if (quest.status !== 'pending') return notNow(quest, `is ${quest.status}`);
  const unmet = unmetBy(quests, quest);
  if (unmet.length > 0) return notNow(quest, `comes after ${unmet.map(words).join(' and ')}`);
  const statusOf = (cast: string) => (Object.hasOwn(casts, cast) ? casts[cast]?.status : undefined);
  const atWork = questsAtWork(quests, statusOf);
  if (atWork.length >= atOnce) {
    const names = atWork.map((each) => each.id).join(', ');
    return notNow(quest, `waits: ${names} ${atWork.length === 1 ? 'is' : 'are'} at work, and at most ${atOnce} may be`);
  }
  const [first] = readyQuests(quests);
  if (!isNamed && first && first.id !== id) return notNow(quest, `is not the next one; ${first.id} is`);
  return null;
}

/** Writes that the quest has its cast. */
export function startQuest(pen: Pen, { id }: ForQuest, castId: string): void {
  const attempt = (questOf(pen.state.quests, id)?.attempts ?? 0) + 1;
  pen.write({ kind: 'quest.started', quest: id, castId, attempt });
}

/** A cast ended or goes on again: so does its quest. A quest that has another cast by now is left alone. */
export function followCast(pen: Pen, facts: readonly Fact[]): void {
  for (const fact of facts) {
    if (!('cast' in fact) || fact.cast === undefined) continue;
    const id = Object.hasOwn(pen.state.casts, fact.cast) ? pen.state.casts[fact.cast]?.quest : undefined;
    const quest = id === undefined ? null : questOf(pen.state.quests, id);
    if (!quest || quest.cast !== fact.cast) continue;
    const common = { quest: quest.id, castId: fact.cast };
    if (fact.kind === 'cast.recast' && quest.status === 'failed') pen.write({ kind: 'quest.resumed', ...common });
    if (quest.status !== 'running') continue;
    if (fact.kind === 'cast.completed')
      pen.write({ kind: 'quest.ended', ...common, status: 'succeeded', code: null, reason: '' });
    if (fact.kind === 'cast.failed' || fact.kind === 'cast.aborted') {
      const code = fact.kind === 'cast.failed' ? fact.code : 'ABORTED';
      const reason = truncate(fact.reason, REASON_CHARS_MAX);
      pen.write({ kind: 'quest.ended', ...common, status: 'failed', code, reason });
    }
  }
}

function words({ id, status, code }: Quest): string {
  return status === 'failed' ? `${id}, which failed (${code ?? 'FAILED'})` : `${id}, which is ${status}`;
}

function unknown(id: string): Denied {
  return deny('UNKNOWN_QUEST', `there is no quest ${truncate(id, 64)}`, { quest: truncate(id, 64) });
}

function notNow({ id, status }: Quest, why: string): Denied {
  return deny('NOT_ALLOWED_NOW', `${id} ${why}`, { quest: id, status });
}
