// What a cast produced, made from its facts: the last text, what the turn that stopped it really said, whether there was anything to do,
// and its tasks. Everything that shows a cast shows this. Texts are bounded; they are not made safe for a terminal here.

import { apply } from '../../kernel/apply.ts';
import { reportsStatus } from '../../kernel/cast/rules.ts';
import type { Cast } from '../../kernel/cast/state.ts';
import { type ItemsRecord, itemFates } from '../../kernel/cast/summary.ts';
import type { Entry, Fact } from '../../kernel/fact.ts';
import type { Rules } from '../../kernel/graph/config.ts';
import { hasOwnPaths } from '../../kernel/graph/route.ts';
import { isObject, isString, type Json } from '../../kernel/json.ts';
import { isLedgerFact } from '../../kernel/ledger/fact.ts';
import { tasksOf } from '../../kernel/ledger/state.ts';
import { emptyState, type State } from '../../kernel/state.ts';
import { truncate } from '../../kernel/text.ts';
import { socketNames } from './in-words.ts';
import type { TurnsRecord } from './turn-record.ts';

/** What a result is made of besides its own record. */
type OfCast = { readonly cast: Cast | null } & Pick<TurnsRecord, 'turns'>;

/** Who said it. `name` is what people call the socket, `materia` the label of what runs there. */
type Speaker = { readonly turn: number; readonly socket: string; readonly name: string; readonly materia: string };

type Words = {
  readonly text: string;
  /** The text is longer than this. */
  readonly isCut?: true;
};

export type LastText = Speaker &
  Words & {
    /** It is a report with a status, whose parts are shown on their own. */
    readonly isReport?: true;
  };

export type FailureIssue = { readonly path: string; readonly message: string };

/**
 * The last attempt of the turn that stopped the cast: it failed, or it rejected work that cannot be sent back again. An empty
 * text means that nothing of it was kept.
 */
export type Failure = Speaker &
  Words & {
    readonly attempt: number;
    readonly code: string;
    readonly reason: string;
    readonly issues: readonly FailureIssue[];
  };

export type CastResult = {
  readonly last: LastText | null;
  readonly failure: Failure | null;
  /** The list of work items was empty. */
  readonly nothingPlanned?: true;
  /** The files that its accepted turns changed; absent where none of them may write. */
  readonly files?: { readonly count: number; readonly first: readonly string[] };
  /** The last run of each check; absent where none ran. */
  readonly checks?: { readonly passed: number; readonly failed: readonly string[] };
};

const TEXT_CHARS_MAX = 16_000;
const ISSUES_MAX = 20;
const FILES_SHOWN = 20;

/** What is known of the results of a cast so far. */
export type ResultRecord = {
  /** The last text for people. */
  last: { readonly turn: number; readonly output: string } | null;
  /** An agent answered in prose. */
  isProse: boolean;
  isEmpty: boolean;
  acceptedLast: number | null;
  /** The turn with which it failed last. */
  end: { readonly turn: number | null; readonly code: string; readonly reason: string } | null;
  /** How the last attempt of a turn failed, by turn; the latest is the last. */
  readonly failures: Map<number, FailureRecord>;
  /** What turns said that rejected the work. */
  readonly rejections: Map<number, Rejection>;
  /** Null until a turn that may write was accepted. */
  files: Set<string> | null;
  /** By socket, item and name. */
  readonly checks: Map<string, { readonly name: string; readonly ok: boolean }>;
};

type Rejection = { readonly turn: number; readonly attempt: number; readonly output: string };
type FailureRecord = Rejection & Pick<Failure, 'code' | 'reason' | 'issues'>;

export function noResult(): ResultRecord {
  return {
    last: null,
    isProse: false,
    isEmpty: false,
    acceptedLast: null,
    end: null,
    failures: new Map(),
    rejections: new Map(),
    files: null,
    checks: new Map(),
  };
}

export function foldResult(record: ResultRecord, fact: Fact, { cast, turns }: OfCast): void {
  if (fact.kind === 'exit.taken' && fact.empty) record.isEmpty = true;
  if (fact.kind === 'cast.failed') {
    const { turn, code, reason, stand } = fact;
    // A loop that goes round without progress stops before another turn is opened.
    record.end = { turn: turn ?? (stand ? record.acceptedLast : null), code, reason };
  }
  const known = 'turn' in fact && typeof fact.turn === 'number' ? turns.get(fact.turn) : undefined;
  if (!known) return;
  const { turn, socket } = known;
  if (SUPERSEDES.has(fact.kind)) record.failures.delete(turn);
  const failure = failureIn(fact, turn, record.rejections.get(turn));
  if (failure) record.failures.set(turn, failure);
  if (fact.kind !== 'turn.accepted') return;
  const { output, attempt, handoff } = fact;
  for (const { name, ok } of fact.checks ?? [])
    record.checks.set(`${socket} ${known.item?.key ?? ''} ${name}`, { name, ok });
  if (cast && hasOwnPaths(cast.rules, socket)) {
    record.files ??= new Set();
    for (const path of Object.keys(fact.touched ?? {})) record.files.add(path);
  }
  record.acceptedLast = turn;
  if (handoff.satisfied === false) record.rejections.set(turn, { turn, attempt, output });
  if (!cast || !isAnswer(cast, socket, output)) return;
  // An answer in prose is for people. An object is shown only where no agent wrote any prose.
  const isProse = isString(handoff.payload);
  if (isProse || !record.isProse) record.last = { turn, output };
  record.isProse ||= isProse;
}

export function resultOf({ cast, turns, result }: OfCast & { readonly result: ResultRecord }): CastResult {
  if (!cast) return { last: null, failure: null };
  const speaker = (turn: number) => speakerAt(cast, turn, turns.get(turn)?.socket ?? '');
  const { last, isEmpty } = result;
  const failure = cast.status === 'waiting' ? blockedBy(cast, result) : stoppedBy(cast, result);
  return {
    last: last && { ...speaker(last.turn), ...bounded(last.output), ...reportAt(cast, speaker(last.turn)) },
    failure: failure && shownFailure(speaker(failure.turn), failure),
    ...(isEmpty ? { nothingPlanned: true } : {}),
    ...filesIn(result),
    ...checksIn(result),
  };
}

function filesIn({ files }: ResultRecord): Pick<CastResult, 'files'> {
  if (files === null) return {};
  return { files: { count: files.size, first: [...files].sort().slice(0, FILES_SHOWN) } };
}

function checksIn({ checks }: ResultRecord): Pick<CastResult, 'checks'> {
  if (checks.size === 0) return {};
  const all = [...checks.values()];
  const failed = [...new Set(all.filter(({ ok }) => !ok).map(({ name }) => name))];
  return { checks: { passed: all.filter(({ ok }) => ok).length, failed } };
}

function reportAt(cast: Cast, { socket }: Speaker): { readonly isReport?: true } {
  return reportsStatus(cast, socket) ? { isReport: true } : {};
}

function shownFailure(speaker: Speaker, { output, attempt, code, reason, issues }: FailureRecord): Failure {
  return { ...speaker, attempt, code, reason, issues, ...bounded(output) };
}

/** After these facts an earlier attempt is no longer the last word of its turn. */
const SUPERSEDES: ReadonlySet<string> = new Set([
  ...['attempt.started', 'turn.accepted', 'turn.reported', 'turn.dropped', 'turn.reopened'],
]);

function stoppedBy({ status }: Cast, { end, failures, rejections }: ResultRecord): FailureRecord | null {
  if (status !== 'failed' || !end || end.turn === null) return null;
  const { code, reason, turn } = end;
  const rejection = rejections.get(turn);
  return failures.get(turn) ?? (rejection ? { ...rejection, code, reason, issues: [] } : null);
}

/** Of several turns that are blocked, the one that the reason of the cast is about. */
function blockedBy({ reason, turns }: Cast, { failures }: ResultRecord): FailureRecord | null {
  const open = [...failures.values()].filter(({ turn }) => turns[turn] !== undefined);
  return open.find((failure) => failure.reason !== '' && reason.includes(failure.reason)) ?? open.at(-1) ?? null;
}

/** A utility prepares things. Its output is an answer only where the loadout has no agent. */
function isAnswer({ rules }: Pick<Cast, 'rules'>, socket: string, output: string): boolean {
  if (output.trim() === '') return false;
  const used = Object.values(rules.graph.sockets).map(({ materia }) => rules.materia[materia]?.type);
  const own = rules.materia[rules.graph.sockets[socket]?.materia ?? '']?.type;
  return own === 'agent' || !used.includes('agent');
}

function speakerAt({ rules }: Cast, turn: number, socket: string): Speaker {
  const { name, materia } = socketNames(rules)[socket] ?? { name: socket, materia: socket };
  return { turn, socket, name, materia };
}

function failureIn(fact: Fact, turn: number, rejection: Rejection | undefined): FailureRecord | null {
  switch (fact.kind) {
    case 'attempt.refused': {
      const { code, reason, details } = fact.verdict;
      return { turn, attempt: fact.attempt, code, reason, issues: issuesIn(details.issues), output: fact.output };
    }
    case 'attempt.failed': {
      const { attempt, code, cause, reason, said = '' } = fact;
      return { turn, attempt, code: cause ?? code, reason, issues: [], output: said };
    }
    case 'turn.blocked': {
      const { attempt, code, reason, output } = fact;
      // A turn that is blocked after it was accepted says nothing new.
      const words = output === '' && rejection ? rejection.output : output;
      return { turn, attempt, code, reason, issues: [], output: words };
    }
    default:
      return null;
  }
}

/** The issues that the reason does not say already: of a refusal with a single one, none is left. */
export function issuesBeyond<T extends { readonly message?: Json }>(
  reason: string,
  issues: readonly T[],
): readonly T[] {
  const only = issues.length === 1 ? issues[0]?.message : undefined;
  return isString(only) && reason.includes(only) ? [] : issues;
}

function issuesIn(issues: Json | undefined): readonly FailureIssue[] {
  const list = Array.isArray(issues) ? issues.filter(isObject) : [];
  return list.slice(0, ISSUES_MAX).flatMap(({ path, message }) => {
    return isString(message) ? [{ path: isString(path) ? path : '', message }] : [];
  });
}

function bounded(text: string): Words {
  const whole = text.trim();
  return whole.length <= TEXT_CHARS_MAX ? { text: whole } : { text: truncate(whole, TEXT_CHARS_MAX), isCut: true };
}

/** What the tasks of a cast are read from. */
type TasksOfCast = { readonly cast: Cast | null; readonly items: ItemsRecord; readonly tasks: TasksRecord };

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

/** `files` is null until a turn that may write was accepted; `turn` is its last. */
type Work = { readonly isItem: boolean; files: Set<string> | null; turn: number; kept?: string };

export type TasksRecord = {
  /** Only what concerns tasks: the kernel closes the run of a cast that is over. */
  readonly state: State;
  readonly work: Map<string, Work>;
  /** The last turn of each. */
  readonly turns: Map<number, { readonly socket: string; readonly task: string }>;
};

export function noTasks(): TasksRecord {
  return { state: emptyState(), work: new Map(), turns: new Map() };
}

export function foldTask({ state, work, turns }: TasksRecord, entry: Entry, rules: Rules | null): void {
  const { fact } = entry;
  if (isLedgerFact(fact) || fact.kind === 'cast.started' || fact.kind === 'items.planned') apply(state, entry);
  if (fact.kind === 'turn.started' && fact.task !== undefined) {
    const { turn, task, socket } = fact;
    const own = work.get(task) ?? { isItem: fact.item !== null, files: null, turn };
    turns.delete(own.turn);
    own.turn = turn;
    work.set(task, own);
    turns.set(turn, { socket, task });
  }
  const parked = fact.kind === 'item.parked' || fact.kind === 'item.retried' ? work.get(fact.task) : undefined;
  if (parked && fact.kind === 'item.parked' && fact.kept) parked.kept = fact.kept.ref;
  else if (parked) delete parked.kept;
  const turn = fact.kind === 'turn.accepted' ? turns.get(fact.turn) : undefined;
  const own = turn && work.get(turn.task);
  if (fact.kind !== 'turn.accepted' || !own || !rules || !hasOwnPaths(rules, turn.socket)) return;
  own.files ??= new Set();
  for (const path of Object.keys(fact.touched ?? {})) own.files.add(path);
}

export function tasksIn({ cast, items, tasks }: TasksOfCast): readonly TaskView[] {
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
