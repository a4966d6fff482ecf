// The tasks of a cast: those in progress side by side, those that wait, and why.
import { apply } from '../../kernel/apply.ts';
import type { Cast } from '../../kernel/cast/state.ts';
import { type ItemsRecord, itemFates } from '../../kernel/cast/summary.ts';
import type { Entry } from '../../kernel/fact.ts';
import type { Rules } from '../../kernel/graph/config.ts';
import { hasOwnPaths } from '../../kernel/graph/route.ts';
import { isLedgerFact } from '../../kernel/ledger/fact.ts';
import { tasksOf } from '../../kernel/ledger/state.ts';
import { emptyState, type State } from '../../kernel/state.ts';

/** What the tasks of a cast are read from. */
type OfCast = { readonly cast: Cast | null; readonly items: ItemsRecord; readonly tasks: TasksRecord };

/** A row of the ledger, as far as a cast's reader wants to know it. */
export type TaskView = {
  readonly task: string;
  readonly title: string;
  readonly status: string;
  readonly owner: string;
  readonly code: string | null;
  readonly reason: string;
  readonly fence: number | null;
  /** It is an item of a list, and not a turn of its own. */
  readonly isItem?: true;
  /** How many files its accepted turns changed; absent where none of them may write. */
  readonly files?: number;
  /** Its item was passed over by `advance.when: "not_satisfied"`. */
  readonly skipped?: true;
  /** The name under which git keeps what was done for it before it was parked. */
  readonly kept?: string;
};

/** `files` is null until a turn that may write was accepted. */
type Work = { readonly isItem: boolean; files: Set<string> | null; kept?: string };

export type TasksRecord = {
  /** Only what concerns tasks: the kernel closes the run of a cast that is over. */
  readonly state: State;
  readonly work: Map<string, Work>;
  readonly turns: Map<number, { readonly socket: string; readonly work: Work }>;
};

export function noTasks(): TasksRecord {
  return { state: emptyState(), work: new Map(), turns: new Map() };
}

export function foldTask({ state, work, turns }: TasksRecord, entry: Entry, rules: Rules | null): void {
  const { fact } = entry;
  if (isLedgerFact(fact) || fact.kind === 'cast.started' || fact.kind === 'items.planned') apply(state, entry);
  if (fact.kind === 'turn.started' && fact.task !== undefined) {
    const own = work.get(fact.task) ?? { isItem: fact.item !== null, files: null };
    work.set(fact.task, own);
    turns.set(fact.turn, { socket: fact.socket, work: own });
  }
  const parked = fact.kind === 'item.parked' || fact.kind === 'item.retried' ? work.get(fact.task) : undefined;
  if (parked && fact.kind === 'item.parked' && fact.kept) parked.kept = fact.kept.ref;
  else if (parked) delete parked.kept;
  const turn = fact.kind === 'turn.accepted' ? turns.get(fact.turn) : undefined;
  if (fact.kind !== 'turn.accepted' || !turn || !rules || !hasOwnPaths(rules, turn.socket)) return;
  turn.work.files ??= new Set();
  for (const path of Object.keys(fact.touched ?? {})) turn.work.files.add(path);
}

export function tasksIn({ cast, items, tasks }: OfCast): readonly TaskView[] {
  if (!cast) return [];
  const fates = itemFates(items);
  return tasksOf(tasks.state.ledger, cast.id).map(({ id, title, status, owner, code, reason, fence }) => {
    const { isItem, files, kept } = tasks.work.get(id) ?? { isItem: fates.has(id), files: null };
    const work = { ...(isItem ? { isItem: true as const } : {}), ...(files === null ? {} : { files: files.size }) };
    const skipped = fates.get(id) === 'skipped' ? ({ skipped: true } as const) : {};
    const keeps = kept === undefined ? {} : { kept };
    return { task: id, title, status, owner, code, reason, fence, ...work, ...skipped, ...keeps };
  });
}
