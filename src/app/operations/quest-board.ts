// Adds, shows, orders and removes quests.
import type { Store } from '../../engine/store.ts';
import type { CastSummary } from '../../kernel/cast/summary.ts';
import { INPUTS } from '../../kernel/graph/resolve-graph.ts';
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import { nextDue, readCron } from '../../kernel/quest/cron.ts';
import {
  type Quest,
  type QuestPlace,
  type QuestRequest,
  type Quests,
  questOf,
  type Schedule,
  unmetBy,
} from '../../kernel/quest/state.ts';
import { collapse, truncate } from '../../kernel/text.ts';
import { allow, type Verdict } from '../../kernel/verdict.ts';
import { UsageError } from '../../workspace/locate.ts';
import { sectionIn } from '../../workspace/sections.ts';
import { planned, refusedPlan } from '../driving/check-start.ts';
import { nameCast } from '../name-cast.ts';
import type { Context } from '../operation.ts';
import { isZone, offsetsOf, zoneHere } from '../time-zone.ts';
import type { Workspace } from '../workspace.ts';
import type { Operation } from './table.ts';

type QuestSettings = { readonly loadout: string | undefined; readonly atOnce: number };

/** What the configuration says of the queue; `check` names its mistakes. */
export function questSettings(place: Pick<Workspace, 'dir' | 'configFile' | 'env'>): QuestSettings {
  // Without a configuration that can be read nothing starts, and that refusal says why.
  const read = sectionIn(place, 'quests');
  const section: JsonObject = read.ok && isObject(read.section) ? read.section : {};
  const { loadout, maxConcurrency } = section;
  return {
    loadout: typeof loadout === 'string' ? loadout : undefined,
    atOnce: typeof maxConcurrency === 'number' && maxConcurrency >= 1 ? maxConcurrency : 1,
  };
}

const TITLE_CHARS_MAX = 80;

export const questAdd: Operation<'quest.add'> = async (workspace, input, context) => {
  const { request, loadout = null, priority = 'normal', after, cron } = input;
  const zone = input.zone ?? zoneHere();
  if (!isZone(zone))
    throw new UsageError(`there is no time zone ${truncate(zone, 64)}; write one as in Europe/Berlin, or UTC`);
  const every = cron === undefined ? undefined : { cron, zone, dueAt: firstDue(cron, zone) };
  if (input.zone !== undefined && cron === undefined)
    throw new UsageError('--zone is the time zone of --cron; say both');
  const { materia, link, runner, model, set } = input;
  const from =
    input.from === undefined ? undefined : (await nameCast(workspace.castStore(), input.from, workspace.program)).cast;
  const isNamed = [loadout, materia, link].some((way) => way !== null && way !== undefined);
  // A mistake is reported now, and not in the night in which it would run.
  const wanted = { ...input, loadout: loadout ?? (isNamed ? undefined : questSettings(workspace).loadout) };
  const plan = await planned(workspace, wanted, context);
  if (!plan.ok) return refusedPlan(plan.issues);
  const how = withoutGaps({ materia, link, from, runner, model, set, inputs: plan.plan.data[INPUTS] });
  const [line = request] = request.trim().split('\n', 1);
  const title = collapse(input.title ?? truncate(line, TITLE_CHARS_MAX));
  return submit(workspace, context, {
    ...{ kind: 'quest.add', title, request, loadout, priority },
    ...(after === undefined ? {} : { after: after.map(idOf) }),
    ...(every === undefined ? {} : { every }),
    ...(Object.keys(how).length === 0 ? {} : { how }),
  });
};

function withoutGaps(values: Readonly<Record<string, Json | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(values).filter((each): each is [string, Json] => each[1] !== undefined));
}

function firstDue(line: string, zone: string): number {
  const reading = readCron(line);
  if (!reading.ok) throw new UsageError(reading.reason);
  return nextDue(reading.cron, offsetsOf(zone), Date.now());
}

export const questReorder: Operation<'quest.reorder'> = (workspace, input, context) => {
  const { quest, first, last, before, behind, priority } = input;
  const places: QuestPlace[] = [
    ...(first ? [{ at: 'first' } as const] : []),
    ...(last ? [{ at: 'last' } as const] : []),
    ...(before === undefined ? [] : [{ before: idOf(before) }]),
    ...(behind === undefined ? [] : [{ after: idOf(behind) }]),
    ...(priority === undefined ? [] : [{ priority }]),
  ];
  const [to] = places;
  if (!to || places.length > 1)
    throw new UsageError('say one place: --first, --last, --before QUEST, --behind QUEST or --priority WORD');
  return submit(workspace, context, { kind: 'quest.move', quest: idOf(quest), to });
};

export const questRequeue: Operation<'quest.requeue'> = (workspace, { quest, reason = '' }, context) =>
  submit(workspace, context, { kind: 'quest.requeue', quest: idOf(quest), reason });

export const questRemove: Operation<'quest.remove'> = (workspace, { quest, reason = '' }, context) =>
  submit(workspace, context, { kind: 'quest.remove', quest: idOf(quest), reason });

export const questStop: Operation<'quest.stop'> = (workspace, { reason = 'stopped by a person' }, context) =>
  submit(workspace, context, { kind: 'quest.stop', reason });

function submit(workspace: Workspace, { actor }: Context, request: QuestRequest): Promise<Verdict> {
  return workspace.ledgerStore({ begins: true }).submit(request, actor);
}

/** `3` and `q-3` mean `Q-3`. */
export function idOf(word: string): string {
  return /^\d+$/.test(word) ? `Q-${word}` : word.toUpperCase();
}

/** A quest as it is shown. */
export type ShownQuest = Omit<Quest, 'status' | 'since'> & {
  /** That of its cast while that is not over; `crashed` where no process drives it. */
  readonly status: string;
  readonly since: string;
  /** Where it is among the pending ones, from 1. */
  readonly place: number | null;
  /** What it waits for, in words. */
  readonly waitsFor: string;
};
export type ShownSchedule = Omit<Schedule, 'dueAt' | 'request'> & { readonly dueAt: string };

export const questList: Operation<'quest.list'> = async (workspace, { status = 'open', limit }) => {
  if (!workspace.hasLog()) return allow('the queue is empty', { quests: [], schedules: [], counts: {} });
  const store = workspace.castStore();
  const quests = await store.view('quests');
  const all = await shownQuests(store, quests);
  const fits = ({ id }: ShownQuest) => {
    const { status: own } = questOf(quests, id) ?? {};
    return status === 'all' || (status === 'open' ? own !== 'succeeded' : own === status);
  };
  const found = all.filter(fits);
  const counts: Record<string, number> = {};
  for (const { status: each } of Object.values(quests.all)) counts[each] = (counts[each] ?? 0) + 1;
  const schedules = Object.values(quests.schedules).map(({ dueAt, request: _long, ...rest }): ShownSchedule => {
    return { ...rest, dueAt: new Date(dueAt).toISOString() };
  });
  const details = { quests: found.slice(0, limit), schedules, counts, stops: quests.stops };
  return allow(`${found.length} of ${all.length} quests`, details as unknown as JsonObject);
};

const KINDS = ['running', 'pending', 'failed', 'succeeded'] as const;

/** Those at work first, then the pending ones in their order, then what failed and what succeeded, newest first. */
async function shownQuests(store: Pick<Store, 'view'>, quests: Quests): Promise<readonly ShownQuest[]> {
  const place = (id: string) => quests.order.indexOf(id);
  const sorted = Object.values(quests.all).sort(
    (a, b) =>
      KINDS.indexOf(a.status) - KINDS.indexOf(b.status) ||
      (a.status === 'pending' ? place(a.id) - place(b.id) : b.since - a.since),
  );
  const shown: ShownQuest[] = [];
  for (const { since, ...quest } of sorted) {
    const [cast] = quest.cast === null ? [] : await store.view('casts', { cast: quest.cast });
    const isLeft = cast?.status === 'running' && (await store.view('driver', cast.cast)) === null;
    shown.push({
      ...quest,
      status: quest.status !== 'running' ? quest.status : isLeft ? 'crashed' : (cast?.status ?? 'running'),
      since: new Date(since).toISOString(),
      place: quest.status === 'pending' ? place(quest.id) + 1 : null,
      waitsFor: waitsFor(quests, quest, cast),
    });
  }
  return shown;
}

function waitsFor(quests: Quests, quest: Omit<Quest, 'since'>, cast: CastSummary | undefined): string {
  if (quest.status === 'running' && cast?.status === 'waiting') return cast.reason;
  if (quest.status !== 'pending') return '';
  return unmetBy(quests, quest)
    .map(({ id, status, code }) => (status === 'failed' ? `${id}, which failed (${code})` : id))
    .join(', ');
}
