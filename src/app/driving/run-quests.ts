// Drives the queue: the next quest that may start gets its cast, and this process drives the cast until it stops. Several
// processes may do so at once. Which quest starts is decided in the commit that starts its cast, so each starts once. A cast whose
// process was killed is carried on before anything new begins.
import type { CastStatus } from '../../kernel/cast/state.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { nextDue, readCron } from '../../kernel/quest/cron.ts';
import { type Quest, type Quests, questOf, questsAtWork, readyQuests } from '../../kernel/quest/state.ts';
import { allow, type Denied, deny, type Verdict } from '../../kernel/verdict.ts';
import type { Context, InputOf } from '../operation.ts';
import { type StartInput, startCastFor } from '../operations/cast-start.ts';
import { idOf, questSettings } from '../operations/quest-board.ts';
import type { FieldsOf, Operation } from '../operations/table.ts';
import { AsksPerson, Refused, verdictOf } from '../refused.ts';
import type { WorkspaceStore } from '../store.ts';
import { isZone, offsetsOf } from '../time-zone.ts';
import type { Workspace } from '../workspace.ts';
import { carryOn } from './carry-on.ts';
import { deliverWhileServing } from './deliver-events.ts';

type Input = Omit<InputOf<FieldsOf<'quest.run'>>, 'follow'>;
type Mode = 'once' | 'all' | 'follow';

export const questRun: Operation<'quest.run'> = (workspace, { follow = false, ...input }, context) =>
  runQuests(workspace, input, follow ? 'follow' : 'all', context);

export const questRunOnce: Operation<'quest.runonce'> = (workspace, input, context) =>
  runQuests(workspace, input, 'once', context);

/** A process that is gone is noticed after this time, and so is a schedule that is due. */
const LOOK_EVERY_MS = 1_000;
/** What cannot start for a reason that a person has to remove is tried again after this time by one who stays. */
const TRY_AGAIN_MS = 60_000;
/** How often in a row this process tries to carry on one cast that it cannot drive. */
const CARRY_ON_MAX = 3;

/** A quest that this process was at, and how that ended. */
type Done = {
  readonly quest: string;
  readonly cast: string | null;
  readonly status: string;
  readonly code: string | null;
  readonly reason: string;
};

/** What comes next for this process. */
type Next =
  | { readonly do: 'carry on'; readonly quest: Quest; readonly cast: string }
  | { readonly do: 'start'; readonly quest: Quest; readonly isNamed: boolean }
  /** Others are at work, or something may become due. */
  | { readonly do: 'wait' }
  | { readonly do: 'end' };

async function runQuests(workspace: Workspace, input: Input, mode: Mode, context: Context): Promise<Verdict> {
  const store = workspace.ledgerStore({ begins: true });
  const { signal, onEvent } = context;
  const note = (text: string) => onEvent({ kind: 'note', text });
  const before = await store.view('quests');
  // What processes that ended have left is delivered while this one waits.
  const delivered = mode === 'follow' ? await deliverWhileServing(workspace, note) : null;
  const named = input.quest === undefined ? null : idOf(input.quest);
  const refusal = named === null ? null : refusalOfNamed(before, named);
  if (refusal) return refusal;
  // One that was paused when this process began is meant to go on; one that is paused later is not.
  const paused = new Set<string>();
  for (const quest of Object.values(before.all)) {
    if (quest.status === 'running' && (await statusOf(store, quest)) === 'paused') paused.add(quest.id);
  }
  const done: Done[] = [];
  const failures = new Map<string, number>();
  let wanted = named;
  let isSaid = false;
  let why = 'nothing is left that can be done';
  for (;;) {
    if (signal.aborted) {
      why = 'interrupted';
      break;
    }
    let quests = await store.view('quests');
    if (quests.stops !== before.stops) {
      why = 'the queue was stopped';
      break;
    }
    if (mode === 'follow' && (await ringDue(store, quests, context))) quests = await store.view('quests');
    const { atOnce, loadout } = questSettings(workspace);
    const next = await nextFor(store, quests, { wanted, paused, atOnce, mode, failures });
    if (next.do === 'end') break;
    if (next.do === 'wait') {
      if (!isSaid) note(waitingWords(quests, mode));
      isSaid = true;
      await change(store, signal, LOOK_EVERY_MS);
      continue;
    }
    isSaid = false;
    const { quest } = next;
    if (quest.id === wanted) wanted = null;
    paused.delete(quest.id);
    const { follow: _follow, quest: _quest, ...how } = { follow: undefined, ...input };
    const cast = startOf(quest, { ...how, loadout: how.loadout ?? loadout });
    note(`${quest.id} ${next.do === 'start' ? 'starts' : 'goes on'}: ${quest.title}`);
    const verdict = await refusing(() =>
      next.do === 'start'
        ? startCastFor(workspace, cast, context, { id: quest.id, atOnce, isNamed: next.isNamed })
        : carryOn(workspace, 'resume', { cast: next.cast }, context),
    );
    const end = await endOf(store, quest, verdict);
    if (end) {
      done.push(end);
      onEvent({ kind: 'value', value: end });
      failures.delete(quest.id);
      if (mode === 'once') {
        why = 'one was asked for';
        break;
      }
      continue;
    }
    // Another process was faster, or has the cast.
    if (!verdict.allow && (verdict.code === 'NOT_ALLOWED_NOW' || verdict.code === 'LEASE_LOST')) {
      if (next.do === 'carry on') failures.set(quest.id, (failures.get(quest.id) ?? 0) + 1);
      else if (next.isNamed) return verdict;
      continue;
    }
    if (mode !== 'follow') return notStarted(verdict, quest, workspace.program);
    note(`${notStarted(verdict, quest, workspace.program).reason}; it is tried again in a minute`);
    await change(store, signal, TRY_AGAIN_MS, false);
  }
  delivered?.close();
  return ended(await store.view('quests'), done, why);
}

/** What the quest says counts before what is said of all. One that names a materia or what is linked has no loadout. */
function startOf({ request, loadout, how = {} }: Quest, all: Omit<Input, 'quest'>): StartInput {
  const isNamed = how.materia !== undefined || how.link !== undefined;
  return { ...all, ...how, request, loadout: loadout ?? (isNamed ? undefined : all.loadout) };
}

function refusalOfNamed(quests: Quests, id: string): Denied | null {
  const quest = questOf(quests, id);
  if (!quest) return deny('UNKNOWN_QUEST', `there is no quest ${id}`, { quest: id });
  if (quest.status === 'pending' || quest.status === 'running') return null;
  return deny('NOT_ALLOWED_NOW', `${id} is ${quest.status}`, { quest: id, status: quest.status });
}

async function statusOf(store: WorkspaceStore, { cast }: Quest): Promise<CastStatus | null> {
  const [found] = cast === null ? [] : await store.view('casts', { cast });
  return found?.status ?? null;
}

type Choosing = {
  readonly wanted: string | null;
  readonly paused: ReadonlySet<string>;
  readonly atOnce: number;
  readonly mode: Mode;
  readonly failures: ReadonlyMap<string, number>;
};

async function nextFor(store: WorkspaceStore, quests: Quests, choosing: Choosing): Promise<Next> {
  const { wanted, paused, atOnce, mode, failures } = choosing;
  const statuses = new Map<string, CastStatus>();
  const begun = Object.values(quests.all).filter(({ status }) => status === 'running');
  for (const quest of begun.sort((a, b) => a.since - b.since)) {
    const [status, { cast }] = [await statusOf(store, quest), quest];
    if (cast === null || status === null) continue;
    statuses.set(cast, status);
    if (wanted !== null && wanted !== quest.id) continue;
    const isLeft = status === 'running' && (await store.view('driver', cast)) === null;
    const isPaused = status === 'paused' && (paused.has(quest.id) || wanted === quest.id);
    const mayTry = (failures.get(quest.id) ?? 0) < CARRY_ON_MAX;
    if ((isLeft || isPaused) && mayTry) return { do: 'carry on', quest, cast };
  }
  const atWork = questsAtWork(quests, (cast) => statuses.get(cast));
  const ready = readyQuests(quests);
  const named = wanted === null ? null : questOf(quests, wanted);
  const quest = named?.status === 'pending' ? named : ready[0];
  if (quest && atWork.length < atOnce) return { do: 'start', quest, isNamed: quest.id === wanted };
  if (mode === 'follow' || atWork.some(({ id }) => (failures.get(id) ?? 0) < CARRY_ON_MAX)) return { do: 'wait' };
  return { do: 'end' };
}

/** Adds what schedules say. Answers whether anything was due. */
async function ringDue(store: WorkspaceStore, { schedules }: Quests, { actor, onEvent }: Context): Promise<boolean> {
  const due = Object.values(schedules).filter(({ dueAt }) => dueAt <= Date.now());
  for (const { id, cron, zone, dueAt } of due) {
    const reading = readCron(cron);
    if (!reading.ok) continue;
    const next = nextDue(reading.cron, offsetsOf(isZone(zone) ? zone : 'UTC'), Math.max(Date.now(), dueAt));
    const verdict = await store.submit({ kind: 'quest.ring', schedule: id, next }, actor);
    // Where it is refused, another process was faster.
    if (verdict.allow) onEvent({ kind: 'note', text: verdict.reason });
  }
  return due.length > 0;
}

function waitingWords(quests: Quests, mode: Mode): string {
  const pending = quests.order.length;
  const after = mode === 'follow' ? 'Ctrl-C ends this process' : 'this process takes over if theirs ends';
  if (Object.values(quests.all).some(({ status }) => status === 'running'))
    return `${pending} pending; other processes are at work, and ${after}`;
  return `Nothing to do now; ${after}`;
}

/** Until something was appended, by any process, or the time is over. */
async function change(store: WorkspaceStore, signal: AbortSignal, ms: number, wakes = true): Promise<void> {
  await new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer);
      unwatch();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    const unwatch = wakes ? store.watch(end) : () => undefined;
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
}

/** A question to a person is thrown on: at a terminal the person is asked, and the queue goes on after the answer. */
async function refusing(work: () => Promise<Verdict>): Promise<Verdict> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AsksPerson || !(error instanceof Refused)) throw error;
    return verdictOf(error);
  }
}

/** How the quest is now that its cast stopped here; null where this process did not have its cast. */
async function endOf(store: WorkspaceStore, { id }: Quest, verdict: Verdict): Promise<Done | null> {
  const { cast, status, code, reason } = verdict.details;
  if (typeof cast !== 'string' || typeof status !== 'string' || status === 'running') return null;
  const quest = questOf(await store.view('quests'), id);
  if (quest?.cast !== cast) return null;
  const text = { code: typeof code === 'string' ? code : null, reason: typeof reason === 'string' ? reason : '' };
  return { quest: id, cast, status, ...text };
}

function notStarted(verdict: Verdict, { id }: Quest, program: string): Denied {
  const code = verdict.allow ? 'INTERNAL' : verdict.code;
  const reason = `${id} cannot start, and the queue waits for it: ${verdict.reason}; put that right, or \`${program} quest remove ${id}\``;
  return deny(code, reason, { ...verdict.details, quest: id });
}

/** A failed quest makes the run a refusal with its code, so that scripts notice. */
function ended({ order, all }: Quests, done: readonly Done[], why: string): Verdict {
  const failed = done.filter(({ status }) => status === 'failed' || status === 'aborted');
  const waiting = Object.values(all).filter(({ status }) => status === 'running').length;
  const details = { done, pending: order.length, open: waiting } as unknown as JsonObject;
  const rest = order.length === 0 ? '' : `, ${order.length} pending`;
  const reason = `${why}: ${done.length} of the quests ran here${rest}`;
  const [first] = failed;
  if (!first) return allow(reason, details);
  return deny((first.code ?? 'ABORTED') as Denied['code'], `${reason}, ${failed.length} failed`, details);
}
