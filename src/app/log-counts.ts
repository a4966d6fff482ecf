// Figures of a whole log: turns, refusals by code, tokens and cost. The log is read once, and what was counted is kept as long
// as the store is open, so that a later look reads only what is new. Only the lines that count are parsed.
import { setImmediate as pass } from 'node:timers/promises';
import type { CastStatus } from '../kernel/cast/state.ts';
import { STATUS_AFTER } from '../kernel/cast/summary.ts';
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';
import type { WorkspaceStore } from './store.ts';

export type LogCounts = {
  /** The last entry that was counted. */
  seq: number;
  /** By the kind of the fact. */
  readonly kinds: Map<string, number>;
  /** By whom it concerns and by code. */
  readonly refusals: Map<string, { readonly of: string; readonly code: string; count: number }>;
  readonly failures: Map<string, number>;
  readonly usage: Map<string, UsageCount>;
  /** By cast: the last fact that set its status, and the code of a wait. */
  readonly casts: Map<string, { readonly status: CastStatus; readonly code: string }>;
};
type UsageCount = { readonly runner: string; readonly model: string; input: number; output: number; cost: number };

type Counting = { readonly counts: LogCounts; busy: Promise<void> | null };

const PAGE = 2_000;
const known = new WeakMap<WorkspaceStore, Counting>();

/** The counts up to the head. Null where they are not ready in time; counting goes on, and the next look finds more. */
export async function logCounts(store: WorkspaceStore, waitMs: number): Promise<LogCounts | null> {
  const counting = known.get(store) ?? { counts: noCounts(), busy: null };
  known.set(store, counting);
  counting.busy ??= countOn(store, counting.counts).finally(() => {
    counting.busy = null;
  });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, waitMs, 'late');
  });
  try {
    return (await Promise.race([counting.busy, late])) === 'late' ? null : counting.counts;
  } finally {
    clearTimeout(timer);
  }
}

export function noCounts(): LogCounts {
  return { seq: 0, kinds: new Map(), refusals: new Map(), failures: new Map(), usage: new Map(), casts: new Map() };
}

async function countOn(store: WorkspaceStore, counts: LogCounts): Promise<void> {
  for (;;) {
    const rows = await store.asStored((log) => log.lines(counts.seq, PAGE));
    for (const { line } of rows) count(counts, line);
    counts.seq = rows.at(-1)?.seq ?? counts.seq;
    if (rows.length < PAGE) return;
    await pass();
  }
}

/** A line has its cast and its kind behind its body; within a text there is no such mark, because its quotes are escaped. */
const CAST = '"cast":"';
const KIND = '"kind":"';

function valueAt(line: string, begin: number): string {
  return line.slice(begin, line.indexOf('"', begin));
}

function count(counts: LogCounts, line: string): void {
  const kind = valueAt(line, line.lastIndexOf(KIND) + KIND.length);
  add(counts.kinds, kind);
  const status = (STATUS_AFTER as Readonly<Record<string, CastStatus>>)[kind];
  if (status !== undefined) {
    const code = status === 'waiting' ? textIn(bodyOf(line).code) : '';
    counts.casts.set(valueAt(line, line.lastIndexOf(CAST) + CAST.length), { status, code });
  }
  const of = REFUSED[kind];
  const isUsed = line.includes('"usage":{') && USES.has(kind);
  if (of === undefined && !isUsed && kind !== 'attempt.failed') return;
  const body = bodyOf(line);
  if (of !== undefined) {
    const code = textIn(isObject(body.verdict) ? body.verdict.code : body.code);
    const row = counts.refusals.get(`${of} ${code}`) ?? { of, code, count: 0 };
    row.count += 1;
    counts.refusals.set(`${of} ${code}`, row);
  }
  if (kind === 'attempt.failed') add(counts.failures, textIn(body.cause ?? body.code));
  if (isUsed && isObject(body.usage)) addUsage(counts.usage, body.usage, isObject(body.agent) ? body.agent : {});
}

/** Whom a refusal concerns. */
const REFUSED: Readonly<Record<string, string>> = {
  'attempt.refused': 'turn',
  'task.refused': 'task',
  'approval.refused': 'approval',
  'access.refused': 'caller',
};

/** An answer that is still being verified is counted again at its end. */
const USES: ReadonlySet<string> = new Set([
  ...['turn.accepted', 'turn.blocked', 'turn.reported', 'attempt.refused', 'attempt.failed', 'attempt.spent'],
  'attempt.interrupted',
]);

function addUsage(usage: LogCounts['usage'], used: JsonObject, agent: JsonObject): void {
  const [runner, model] = [textIn(agent.runner), textIn(agent.model)];
  const key = JSON.stringify([runner, model]);
  const row = usage.get(key) ?? { runner, model, input: 0, output: 0, cost: 0 };
  row.input += numberIn(used.input);
  row.output += numberIn(used.output);
  row.cost += numberIn(used.cost);
  usage.set(key, row);
}

function bodyOf(line: string): JsonObject {
  const { body } = JSON.parse(line) as JsonObject;
  if (!isObject(body)) return {};
  return isObject(body.$literal) ? body.$literal : body;
}

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

function textIn(value: Json | undefined): string {
  return typeof value === 'string' ? value.slice(0, 100) : '';
}

function numberIn(value: Json | undefined): number {
  return typeof value === 'number' ? value : 0;
}
