// All that is known of one cast, made from its entries one after the other. Everything that shows a cast reads this: `show`,
// `why`, `watch`, progress, the tools. The state of the cast is the kernel's own; next to it are records that the kernel does
// not keep, because no rule asks for them. There is no Node in this folder, so that it runs in a browser, too.
import { apply } from '../../kernel/apply.ts';
import type { CastFact } from '../../kernel/cast/fact.ts';
import type { Cast, CastStatus } from '../../kernel/cast/state.ts';
import { foldItem, type ItemsRecord, noItems } from '../../kernel/cast/summary.ts';
import type { Entry, Fact } from '../../kernel/fact.ts';
import { emptyState, type State } from '../../kernel/state.ts';
import { foldPage, noPage, type PageRecord, withBeginnings } from './page-record.ts';
import { type CommandsRecord, foldCommand, foldReport, noCommands, noReports, type ReportsRecord } from './reported.ts';
import { foldResult, foldTask, noResult, noTasks, type ResultRecord, type TasksRecord } from './result.ts';
import { foldTurn, noTurns, type TurnsRecord } from './turn-record.ts';

export type View = TurnsRecord & {
  readonly state: State;
  /** Null before its first entry. */
  cast: Cast | null;
  readonly items: ItemsRecord;
  readonly tasks: TasksRecord;
  readonly result: ResultRecord;
  readonly reports: ReportsRecord;
  readonly commands: CommandsRecord;
  readonly page: PageRecord;
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

export function emptyView(): View {
  return {
    ...noTurns(),
    state: emptyState(),
    cast: null,
    items: noItems(),
    tasks: noTasks(),
    result: noResult(),
    reports: noReports(),
    commands: noCommands(),
    page: noPage(),
    suggested: new Set(),
    since: new Map(),
    failed: null,
    hasChanged: false,
    isRefusedByTrust: false,
  };
}

/** The view after one more entry of the cast. It is changed in place: a copy for each entry would cost too much. */
export function fold(view: View, entry: Entry): View {
  return foldWith(view, entry, entry.fact);
}

/**
 * The same for an entry as the stream and the pages of the server send it: a long text is `{ digest, seq, bytes, preview }`
 * in it. What the kernel reads of such a text is its beginning; the page of the cast keeps the digest.
 */
export function foldSent(view: View, entry: Entry): View {
  return foldWith(view, withBeginnings(entry), entry.fact);
}

function foldWith(view: View, entry: Entry, sent: Fact): View {
  const { fact } = entry;
  apply(view.state, entry);
  if (fact.kind === 'cast.started') view.cast ??= view.state.casts[fact.cast] ?? null;
  else if (view.cast) view.cast = view.state.casts[view.cast.id] ?? view.cast;
  foldTurn(view, entry, view.cast);
  foldItem(view.items, fact, view.cast?.rules ?? null);
  foldTask(view.tasks, entry, view.cast?.rules ?? null);
  foldResult(view.result, fact, view);
  foldReport(view.reports, entry);
  foldCommand(view.commands, fact);
  foldPage(view.page, entry, sent);
  note(view, entry);
  return view;
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
