// All that is known of one cast, made from its entries one after the other. Everything that shows a cast reads this: `show`,
// `why`, `watch`, progress, the tools. The state of the cast is the kernel's own; next to it are records that the kernel does
// not keep, because no rule asks for them. There is no Node in this folder, so that it runs in a browser, too.
import { apply } from '../../kernel/apply.ts';
import type { CastFact } from '../../kernel/cast/fact.ts';
import type { Cast, CastStatus } from '../../kernel/cast/state.ts';
import { foldItem, type ItemsRecord, noItems } from '../../kernel/cast/summary.ts';
import type { Entry } from '../../kernel/fact.ts';
import { isObject, isString, type Json, type JsonObject } from '../../kernel/json.ts';
import { emptyState, type State } from '../../kernel/state.ts';
import { foldPage, noPage, type PageRecord, type Recall, withBeginnings } from './page-record.ts';
import { type CommandsRecord, foldCommand, foldReport, noCommands, noReports, type ReportsRecord } from './reported.ts';
import { foldResult, foldTask, noResult, noTasks, type ResultRecord, type TasksRecord } from './result.ts';
import { foldTurn, noTurns, type TurnsRecord } from './turn-record.ts';

/** What every view of a cast begins with. */
type CastRecord = {
  readonly state: State;
  /** Null before its first entry. */
  cast: Cast | null;
  readonly items: ItemsRecord;
  readonly tasks: TasksRecord;
};

export type View = CastRecord &
  TurnsRecord & {
    readonly result: ResultRecord;
    readonly reports: ReportsRecord;
    readonly commands: CommandsRecord;
    /** Notes that its agents suggest to remember. */
    readonly suggested: Set<string>;
    /** When it came to each status last, and by whom. */
    readonly since: Map<CastStatus, { readonly at: string; readonly by: string }>;
    /** The last failure of the cast. */
    failed: Extract<CastFact, { kind: 'cast.failed' }> | null;
    /** An accepted turn changed files. */
    hasChanged: boolean;
    /** A gate of the registry ended it. */
    isRefusedByTrust: boolean;
  };

/** What the page of a cast is made from. It does not grow with the turns of the cast. */
export type PageView = CastRecord & { readonly page: PageRecord };

function noRecord(): CastRecord {
  return { state: emptyState(), cast: null, items: noItems(), tasks: noTasks() };
}

export function emptyView(): View {
  return {
    ...noRecord(),
    ...noTurns(),
    result: noResult(),
    reports: noReports(),
    commands: noCommands(),
    suggested: new Set(),
    since: new Map(),
    failed: null,
    hasChanged: false,
    isRefusedByTrust: false,
  };
}

export function emptyPageView(): PageView {
  return { ...noRecord(), page: noPage() };
}

/** The view after one more entry of the cast. It is changed in place: a copy for each entry would cost too much. */
export function fold(view: View, entry: Entry): View {
  const { fact } = entry;
  foldCast(view, entry);
  foldTurn(view, entry, view.cast);
  foldResult(view.result, fact, view);
  foldReport(view.reports, entry);
  foldCommand(view.commands, fact);
  note(view, entry);
  return view;
}

/**
 * The same for a page, with an entry as the stream and the pages of the server send it: a long text is
 * `{ digest, seq, bytes, preview }` in it. What the kernel reads of such a text is its beginning. `recall` brings back turns that
 * have left the page.
 */
export function foldSent(view: PageView, entry: Entry, recall?: Recall): PageView {
  const read = withBeginnings(entry);
  foldCast(view, read);
  foldPage(view.page, read, entry.fact, view.cast, recall);
  return view;
}

function foldCast(view: CastRecord, entry: Entry): void {
  const { fact } = entry;
  apply(view.state, entry);
  if (fact.kind === 'cast.started') view.cast ??= view.state.casts[fact.cast] ?? null;
  else if (view.cast) view.cast = view.state.casts[view.cast.id] ?? view.cast;
  foldItem(view.items, fact, view.cast?.rules ?? null);
  foldTask(view.tasks, entry, view.cast?.rules ?? null);
}

export function foldAll(entries: readonly Entry[]): View {
  return entries.reduce(fold, emptyView());
}

function note(view: View, { at, by, fact }: Entry): void {
  const status = BEGINS[fact.kind];
  if (status) view.since.set(status, { at, by });
  if (fact.kind === 'memory.suggested') view.suggested.add(fact.id);
  if (fact.kind === 'turn.merged' && fact.commit !== null) view.hasChanged = true;
  if (fact.kind === 'turn.accepted' && Object.keys(fact.touched ?? {}).length > 0) view.hasChanged = true;
  if (fact.kind !== 'cast.failed') return;
  view.failed = fact;
  // Trust was on although no agent was attested: the first one was refused.
  if (typeof fact.details.stage === 'number') view.isRefusedByTrust = true;
}

/** The status to which a cast comes with a fact. */
const BEGINS: Readonly<Record<string, CastStatus>> = {
  'cast.started': 'running',
  'cast.resumed': 'running',
  'cast.recovered': 'running',
  'cast.recast': 'running',
  'cast.waiting': 'waiting',
  'cast.paused': 'paused',
  'cast.failed': 'failed',
  'cast.aborted': 'aborted',
  'cast.completed': 'completed',
};

/** The view as JSON, for a page that folds on from its last entry. */
export function writtenView({ state, cast, items, tasks, page }: PageView): string {
  // A cast that is over is no longer in the state.
  const own = cast && state.casts[cast.id] ? cast.id : cast;
  const records = { items, work: tasks.work, turns: tasks.turns, page };
  return JSON.stringify({ state, cast: own, tasks: tasks.state, records }, (_name, value) =>
    value instanceof Map ? { $map: [...value] } : value instanceof Set ? { $set: [...value] } : value,
  );
}

export function readView(from: JsonObject): PageView {
  const state = from.state as unknown as State;
  const cast = isString(from.cast) ? state.casts[from.cast] : (from.cast as unknown as Cast | null);
  const { items, work, turns, page } = read(from.records ?? null) as unknown as Pick<PageView, 'items' | 'page'> &
    Pick<TasksRecord, 'work' | 'turns'>;
  return { state, cast: cast ?? null, items, page, tasks: { state: from.tasks as unknown as State, work, turns } };
}

// No name in the records comes from outside, so a name of ours cannot be one of theirs.
function read(value: Json): unknown {
  if (Array.isArray(value)) return value.map(read);
  if (!isObject(value)) return value;
  if (Array.isArray(value.$map)) return new Map(value.$map.map(read) as [unknown, unknown][]);
  if (Array.isArray(value.$set)) return new Set(value.$set.map(read));
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, read(member ?? null)]));
}
