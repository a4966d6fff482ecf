// The queue of a workspace: quests in their order, and schedules that add quests again. A quest is done by one cast; its lease and
// its fence are those of the cast, so the queue has none of its own. What each fact changes is here, too.
import { type ByKind, rowFor } from '../by-kind.ts';
import type { CastStatus } from '../cast/state.ts';
import type { JsonObject } from '../json.ts';
import { PRIORITIES, type Priority } from '../ledger/state.ts';

export type Quests = {
  /** By id: all that are open, and those that ended lately. */
  readonly all: Record<string, Quest>;
  /** The pending ones in the order in which they are done; a higher priority is always before a lower one. */
  order: readonly string[];
  readonly schedules: Record<string, Schedule>;
  /** The number of the last quest, and of the last schedule. */
  numbered: number;
  scheduled: number;
  /** How often the queue was stopped. Who drives it ends when the number has changed. */
  stops: number;
};

/** `running` while it has a cast that is not over: the status of the cast says more. */
type QuestStatus = 'pending' | 'running' | 'succeeded' | 'failed';

/** What is to be done. */
export type Errand = {
  readonly title: string;
  readonly request: string;
  /** Without one: `quests.loadout` of the configuration, else the active one. */
  readonly loadout: string | null;
  readonly priority: Priority;
  /** What else its cast is started with, such as inputs and a runner: members of a start, which are checked when it is added. */
  readonly how?: JsonObject;
};

export type Quest = Omit<Errand, 'priority'> & {
  readonly id: string;
  priority: Priority;
  /** The quests that have to succeed first. */
  readonly after: readonly string[];
  status: QuestStatus;
  /** How many casts were started for it. */
  attempts: number;
  /** The last of them. */
  cast: string | null;
  /** Why it failed. */
  code: string | null;
  reason: string;
  /** When it got its status. */
  since: number;
  /** The schedule that added it. */
  readonly schedule: string | null;
};

export type Schedule = Errand & {
  readonly id: string;
  readonly cron: string;
  readonly zone: string;
  dueAt: number;
  /** The quest that it added last. */
  last: string | null;
};

export const OPEN_QUESTS_MAX = 1_000;
export const SCHEDULES_MAX = 100;
/** Succeeded quests that are still listed. Older ones are in the log. */
const SUCCEEDED_KEPT_MAX = 200;

export type QuestFact =
  | ({
      readonly kind: 'quest.added';
      readonly quest: string;
      readonly after: readonly string[];
      /** The schedule that was due. */
      readonly schedule?: string;
    } & Errand)
  /** It comes right before another pending quest, or last. */
  | {
      readonly kind: 'quest.moved';
      readonly quest: string;
      readonly before: string | null;
      readonly priority: Priority;
    }
  /** Its cast is started in the same decision. */
  | { readonly kind: 'quest.started'; readonly quest: string; readonly castId: string; readonly attempt: number }
  /** Its cast, which had failed, goes on. */
  | { readonly kind: 'quest.resumed'; readonly quest: string; readonly castId: string }
  | {
      readonly kind: 'quest.ended';
      readonly quest: string;
      readonly castId: string;
      readonly status: 'succeeded' | 'failed';
      readonly code: string | null;
      readonly reason: string;
    }
  /** A failed one is done again, by a new cast, after all others of its priority. */
  | { readonly kind: 'quest.requeued'; readonly quest: string; readonly before: string | null; readonly reason: string }
  /** A quest, or a schedule. */
  | { readonly kind: 'quest.removed'; readonly quest: string; readonly reason: string }
  | ({
      readonly kind: 'quest.scheduled';
      readonly schedule: string;
      readonly cron: string;
      readonly zone: string;
      readonly dueAt: number;
    } & Errand)
  /** A schedule was due; `open` is its earlier quest that is not over yet, so that it added none. */
  | {
      readonly kind: 'quest.rang';
      readonly schedule: string;
      readonly dueAt: number;
      readonly next: number;
      readonly open?: string;
    }
  | { readonly kind: 'quest.stopped'; readonly reason: string };

export type QuestRequest =
  | ({
      readonly kind: 'quest.add';
      readonly after?: readonly string[];
      /** When it is added, again and again; without it, it is added now. */
      readonly every?: { readonly cron: string; readonly zone: string; readonly dueAt: number };
    } & Errand)
  | { readonly kind: 'quest.move'; readonly quest: string; readonly to: QuestPlace }
  | { readonly kind: 'quest.requeue'; readonly quest: string; readonly reason: string }
  | { readonly kind: 'quest.remove'; readonly quest: string; readonly reason: string }
  /** `next` is when it is due after that, as its zone has it. */
  | { readonly kind: 'quest.ring'; readonly schedule: string; readonly next: number }
  | { readonly kind: 'quest.stop'; readonly reason: string };

export type QuestPlace =
  | { readonly at: 'first' | 'last' }
  | { readonly before: string }
  | { readonly after: string }
  | { readonly priority: Priority };

export function noQuests(): Quests {
  return { all: {}, order: [], schedules: {}, numbered: 0, scheduled: 0, stops: 0 };
}

/** The errand alone, of what holds more. */
export function errandOf({ title, request, loadout, priority, how }: Errand): Errand {
  return { title, request, loadout, priority, ...(how === undefined ? {} : { how }) };
}

/** Every object has a `constructor`; no quest is called that. */
export function questOf({ all }: Pick<Quests, 'all'>, id: string): Quest | null {
  return (Object.hasOwn(all, id) && all[id]) || null;
}

export function scheduleOf({ schedules }: Pick<Quests, 'schedules'>, id: string): Schedule | null {
  return (Object.hasOwn(schedules, id) && schedules[id]) || null;
}

/** What keeps a pending quest: those it comes after that have not succeeded. One that is not listed any more has. */
export function unmetBy({ all }: Pick<Quests, 'all'>, { after }: Pick<Quest, 'after'>): readonly Quest[] {
  return after.flatMap((id) => {
    const other = questOf({ all }, id);
    return other && other.status !== 'succeeded' ? [other] : [];
  });
}

/** The pending quests that may start, in the order in which they do. */
export function readyQuests(quests: Pick<Quests, 'all' | 'order'>): readonly Quest[] {
  return quests.order.flatMap((id) => {
    const quest = questOf(quests, id);
    return quest && unmetBy(quests, quest).length === 0 ? [quest] : [];
  });
}

/** Quests whose cast runs. One whose cast waits for a person or is paused leaves its place to others. */
export function questsAtWork(
  { all }: Pick<Quests, 'all'>,
  statusOf: (cast: string) => CastStatus | undefined,
): readonly Quest[] {
  return Object.values(all).filter(
    ({ status, cast }) => status === 'running' && cast !== null && statusOf(cast) === 'running',
  );
}

/** The pending quest before which one of this priority is put at the end of its kind; null for the end of the queue. */
export function behindEquals(
  { all, order }: Pick<Quests, 'all' | 'order'>,
  priority: Priority,
  but?: string,
): string | null {
  const rank = PRIORITIES.indexOf(priority);
  return order.find((id) => id !== but && PRIORITIES.indexOf(questOf({ all }, id)?.priority ?? 'low') < rank) ?? null;
}

export function isQuestRequest(request: { readonly kind: string }): request is QuestRequest {
  return request.kind.startsWith('quest.');
}

export function isQuestFact(fact: { readonly kind: string }): fact is QuestFact {
  return fact.kind.startsWith('quest.');
}

const ROWS: ByKind<QuestFact, [quests: Quests], [at: number]> = {
  'quest.added': (quests, fact, at) => {
    const { quest: id, after, schedule = null } = fact;
    quests.all[id] = {
      ...{ id, ...errandOf(fact), after, schedule },
      ...{ status: 'pending', attempts: 0, cast: null, code: null, reason: '', since: at },
    };
    quests.numbered += 1;
    queue(quests, id, behindEquals(quests, fact.priority));
    const from = schedule === null ? null : scheduleOf(quests, schedule);
    if (from) from.last = id;
  },
  'quest.moved': (quests, { quest: id, before, priority }) => {
    const quest = questOf(quests, id);
    if (!quest) return;
    quest.priority = priority;
    queue(quests, id, before);
  },
  'quest.started': (quests, { quest: id, castId, attempt }, at) => {
    update(quests, id, { status: 'running', cast: castId, attempts: attempt, code: null, reason: '', since: at });
    quests.order = quests.order.filter((each) => each !== id);
  },
  'quest.resumed': (quests, { quest: id }, at) => {
    update(quests, id, { status: 'running', code: null, reason: '', since: at });
    quests.order = quests.order.filter((each) => each !== id);
  },
  'quest.ended': (quests, { quest: id, status, code, reason }, at) => {
    update(quests, id, { status, code, reason, since: at });
    forgetOld(quests);
  },
  'quest.requeued': (quests, { quest: id, before }, at) => {
    update(quests, id, { status: 'pending', code: null, reason: '', since: at });
    queue(quests, id, before);
  },
  'quest.removed': (quests, { quest: id }) => {
    delete quests.all[id];
    delete quests.schedules[id];
    quests.order = quests.order.filter((each) => each !== id);
  },
  'quest.scheduled': (quests, fact) => {
    const { schedule: id, cron, zone, dueAt } = fact;
    quests.schedules[id] = { id, ...errandOf(fact), cron, zone, dueAt, last: null };
    quests.scheduled += 1;
  },
  'quest.rang': (quests, { schedule: id, next }) => {
    const schedule = scheduleOf(quests, id);
    if (schedule) schedule.dueAt = next;
  },
  'quest.stopped': (quests) => {
    quests.stops += 1;
  },
};

export function applyQuest(quests: Quests, fact: QuestFact, at: number): void {
  rowFor(ROWS, fact)?.(quests, fact, at);
}

function queue(quests: Quests, id: string, before: string | null): void {
  const others = quests.order.filter((each) => each !== id);
  const place = before === null ? -1 : others.indexOf(before);
  quests.order = place < 0 ? [...others, id] : others.toSpliced(place, 0, id);
}

function update(quests: Quests, id: string, values: Partial<Quest>): void {
  const quest = questOf(quests, id);
  if (quest) Object.assign(quest, values);
}

/** One that others still wait for is no hindrance to them once it is gone: it has succeeded. */
function forgetOld({ all }: Quests): void {
  const succeeded = Object.values(all).filter(({ status }) => status === 'succeeded');
  const old = succeeded.sort((a, b) => a.since - b.since).slice(0, -SUCCEEDED_KEPT_MAX);
  for (const { id } of old) delete all[id];
}
