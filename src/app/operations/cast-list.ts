// The casts of the workspace, newest first.
import type { CastStatus } from '../../kernel/cast/state.ts';
import { allow } from '../../kernel/verdict.ts';
import { branchOf, worktreeStates } from '../../workspace/worktree/record.ts';
import { type CastFigures, castFigures } from '../cast-figures.ts';
import { type Listed, listCasts, nameCast } from '../name-cast.ts';
import type { InputOf } from '../operation.ts';
import type { WorkspaceStore } from '../store.ts';
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

/** Whether somebody drives it is told of those that should be driven. */
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
