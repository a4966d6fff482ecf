// The casts of the workspace, newest first, each with its items, its step and its cost where the list is short.

import { setImmediate as pass } from 'node:timers/promises';
import type { Store } from '../../engine/store.ts';
import type { CastStatus } from '../../kernel/cast/state.ts';
import { countItems, foldItem, type ItemsRecord, noItems } from '../../kernel/cast/summary.ts';
import type { Entry } from '../../kernel/fact.ts';
import type { Rules } from '../../kernel/graph/config.ts';
import { allow } from '../../kernel/verdict.ts';
import { branchOf, worktreeStates } from '../../workspace/worktree/record.ts';
import { type Listed, listCasts, nameCast } from '../name-cast.ts';
import type { InputOf } from '../operation.ts';
import type { WorkspaceStore } from '../store.ts';
import { socketName, socketNames, withSocketNames } from '../views/in-words.ts';
import type { FieldsOf, Operation } from './table.ts';

/** The figures of a cast are counted from its facts. A short list has them; all casts of a workspace would take too long. */
const WITH_FIGURES_MAX = 200;

export const castList: Operation<'cast.list'> = async (workspace, input) => {
  const store = workspace.hasLog() ? workspace.castStore() : null;
  const { rows, matching } = store ? await found(store, input, workspace.program) : { rows: [], matching: null };
  const count = store ? await store.view('castCount') : 0;
  const casts = withBranches(rows, workspace.stateDir).map((cast) => ({ ...cast }));
  return allow(`${casts.length} of ${count} casts`, { casts, count, matching: matching ?? count });
};

type Input = InputOf<FieldsOf<'cast.list'>>;

/** The casts of one page, and how many fit in all; null where that is every cast. */
type Found = { readonly rows: readonly Driven[]; readonly matching: number | null };

async function found(store: WorkspaceStore, input: Input, program: string): Promise<Found> {
  const { limit, status, text } = input;
  const before = input.before === undefined ? undefined : (await nameCast(store, input.before, program)).cast;
  const filter = status === 'open' ? { isOpen: true } : status === undefined ? {} : { status: status as CastStatus };
  const fits = (cast: Listed) => text === undefined || hasWords(cast, text);
  const isFiltered = status !== undefined || text !== undefined;
  const matching = isFiltered ? (await listCasts(store, Date.now(), filter)).filter(fits).length : null;
  const all = await listCasts(store, Date.now(), {
    ...filter,
    ...(before === undefined ? {} : { before }),
    // Words are looked for in all of them.
    ...(limit === undefined || text !== undefined ? {} : { limit }),
  });
  const fitting = all.filter(fits);
  const newest = limit === undefined ? fitting : fitting.slice(Math.max(0, fitting.length - limit));
  const rows: Driven[] = [];
  for (const cast of newest.toReversed())
    rows.push({ ...(await driven(store, cast)), ...(await figures(store, cast, limit)) });
  return { rows, matching };
}

function hasWords({ cast, request, loadout }: Listed, text: string): boolean {
  const within = `${request}\n${loadout}\n${cast}`.toLowerCase();
  const words = text.toLowerCase().split(/\s+/);
  return words.every((word) => within.includes(word));
}

/** Says of a running cast whether a process drives it. */
async function driven(store: WorkspaceStore, cast: Listed): Promise<Driven> {
  if (cast.status !== 'running') return cast;
  return { ...cast, driven: (await store.view('driver', cast.cast)) !== null };
}

async function figures(store: WorkspaceStore, cast: Listed, limit: number | undefined): Promise<Partial<CastFigures>> {
  return limit === undefined || limit > WITH_FIGURES_MAX ? {} : castFigures(store, cast);
}

type Driven = Listed & Partial<CastFigures> & { readonly driven?: boolean };
export type Shown = Driven & { readonly worktree?: { readonly branch: string; readonly state: string } };

/** A cast that works on a branch of its own is shown with it, and with what became of it. */
function withBranches(casts: readonly Driven[], stateDir: string): readonly Shown[] {
  if (casts.every(({ root }) => root === undefined)) return casts;
  const states = worktreeStates(stateDir);
  return casts.map((cast) => {
    if (cast.root === undefined) return cast;
    return { ...cast, worktree: { branch: branchOf(cast.cast), state: states.get(cast.cast) ?? 'making' } };
  });
}

type CastFigures = {
  readonly items?: { readonly done: number; readonly total: number };
  /** The name of the socket of its newest turn that is not over, and its item. */
  readonly step?: string;
  readonly cost: number;
  /** The reason of the cast, with the names of sockets in place of their ids. */
  readonly why?: string;
};

type Counted = {
  /** What the list knew of the cast when it was counted. */
  changedAt: string;
  seq: number;
  rules: Rules | null;
  readonly items: ItemsRecord;
  /** By turn, the name of its socket; only turns that are not over. */
  readonly steps: Map<number, string>;
  cost: number;
};

const CASTS_MAX = 2_000;
const known = new WeakMap<object, Map<string, Counted>>();

async function castFigures(
  store: Pick<Store, 'read'>,
  { cast, status, changedAt, reason }: Listed,
): Promise<CastFigures> {
  const counts = known.get(store) ?? new Map<string, Counted>();
  known.set(store, counts);
  const counted: Counted = counts.get(cast) ?? {
    ...{ changedAt: '', seq: 0, rules: null, cost: 0 },
    ...{ items: noItems(), steps: new Map() },
  };
  const isOver = status === 'completed' || status === 'failed' || status === 'aborted';
  if (!isOver || counted.changedAt !== changedAt) {
    const entries = await store.read({ after: counted.seq, cast, texts: 'digest' });
    for (const entry of entries) count(counted, entry);
    counted.changedAt = changedAt;
    // A long list must not hold up everybody else.
    await pass();
  }
  counts.delete(cast);
  counts.set(cast, counted);
  const [oldest] = counts.keys();
  if (counts.size > CASTS_MAX && oldest !== undefined) counts.delete(oldest);
  const items = countItems(counted.items);
  const step = isOver ? undefined : [...counted.steps.values()].at(-1);
  return {
    ...(items === null ? {} : { items: { done: items.done, total: items.total } }),
    ...(step === undefined ? {} : { step }),
    ...(counted.rules && reason !== '' ? { why: withSocketNames(reason, socketNames(counted.rules)) } : {}),
    cost: counted.cost,
  };
}

function count(counted: Counted, { seq, fact }: Entry): void {
  // Another look may have read the same entries meanwhile.
  if (seq <= counted.seq) return;
  counted.seq = seq;
  if (fact.kind === 'cast.started') counted.rules = fact.rules;
  foldItem(counted.items, fact, counted.rules);
  counted.cost += usageIn(fact)?.cost ?? 0;
  if (fact.kind === 'turn.started') {
    const { socket } = fact;
    const name = counted.rules ? socketName(counted.rules, socket) : socket;
    counted.steps.set(fact.turn, fact.item ? `${name}, item ${fact.item.index + 1}` : name);
  } else if (fact.kind === 'turn.accepted' || fact.kind === 'turn.dropped' || fact.kind === 'item.parked')
    counted.steps.delete(fact.turn);
}

/** What an attempt used. An answer that is still being verified is counted again at its end. */
export function usageIn(fact: Entry['fact']) {
  return 'usage' in fact && 'attempt' in fact && fact.kind !== 'attempt.answered' ? fact.usage : null;
}
