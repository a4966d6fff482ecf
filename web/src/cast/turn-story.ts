// One turn as its entries tell it, up to the entry that is looked at: what its agent was told, what each attempt said and how
// that was judged, what was handed on, what changed, and on what evidence. The records are those of `baton show --turn`.
import { withBeginnings } from '../../../src/app/views/page-record.ts';
import {
  differencesIn,
  foldReport,
  noReports,
  type ReportRecord,
  type TurnDifferences,
} from '../../../src/app/views/reported.ts';
import { foldTurn, noTurns, type TurnRecord } from '../../../src/app/views/turn-record.ts';
import type { Entry as KernelEntry } from '../../../src/kernel/fact.ts';
import type { EdgeCondition } from '../../../src/kernel/graph/config.ts';
import { conditionWords } from '../../../src/kernel/graph/route.ts';
import type { Entry, Json, Text } from '../api.ts';

export type Issue = {
  readonly path: string;
  readonly message: string;
  readonly line?: number;
  readonly column?: number;
};

type Fact = Entry['fact'];

export type AttemptStory = {
  readonly attempt: number;
  readonly started: Entry;
  /** How it ended; null while it runs. */
  readonly ended: Entry | null;
  readonly brief: Text;
  readonly output: Text | null;
  readonly issues: readonly Issue[];
  /** The refusal goes back to the agent, which may answer once more. */
  readonly isRepaired: boolean;
};

export type Handoff = { readonly payload: Json; readonly satisfied: boolean | null; readonly note: string | null };

/** What somebody said in the turn. */
type SaidLine = {
  readonly seq: number;
  readonly from: 'person' | 'agent' | 'runtime';
  readonly at: string;
  readonly by: string;
  readonly text: Text;
};

export type TurnStory = {
  readonly turn: number;
  /** What a person and the agent said to each other, whole. */
  readonly said: readonly SaidLine[];
  readonly record: TurnRecord | null;
  readonly reports: readonly ReportRecord[];
  readonly attempts: readonly AttemptStory[];
  readonly handoff: Handoff | null;
  /** What its handoff changed in the data of the cast. */
  readonly dataChanges: readonly { readonly name: string; readonly value: Json | undefined }[];
  readonly touched: readonly { readonly path: string; readonly isGone: boolean; readonly isOutside: boolean }[];
  readonly diff: Text | null;
  /** Where it went from here. */
  readonly ways: readonly { readonly to: string; readonly when: string; readonly seq: number }[];
  /** Its item was finished with this turn. */
  readonly isFinished: boolean;
  /** What its reports name and what was run, where the two differ. */
  readonly differences: readonly TurnDifferences[];
  /** Why the work came back to this turn. */
  readonly rework: readonly { readonly from: string; readonly reason: string }[];
};

const ENDS: ReadonlySet<string> = new Set([
  ...[
    'attempt.refused',
    'attempt.failed',
    'attempt.interrupted',
    'attempt.lost',
    'attempt.spent',
    'turn.accepted',
    'turn.reported',
    'turn.blocked',
  ],
  'turn.unknown',
]);

/** `entries` are those around the turn; what belongs to others is left out. */
export function storyOf(turn: number, entries: readonly Entry[]): TurnStory {
  const record = noTurns();
  const reports = noReports();
  const attempts = new Map<number, AttemptStory>();
  let handoff: Handoff | null = null;
  let dataChanges: TurnStory['dataChanges'] = [];
  let diff: Text | null = null;
  const touched = new Map<string, TurnStory['touched'][number]>();
  const ways: TurnStory['ways'][number][] = [];
  let notes: { from: string; reason: string; target: string; item: string | null }[] = [];
  let rework: TurnStory['rework'] = [];
  let isFinished = false;
  const said: SaidLine[] = [];
  for (const entry of entries) {
    const { fact, seq } = entry;
    if (fact.kind === 'rework.noted') {
      const note = fact.note as { label?: Text; target: string; item: string | null; reason: Text };
      notes = [
        ...notes,
        { from: beginning(note.label), reason: beginning(note.reason), target: note.target, item: note.item },
      ];
    }
    if (fact.turn !== turn) continue;
    const line = lineOf(entry);
    if (line) said.push(line);
    const plain = withBeginnings(entry as unknown as KernelEntry);
    foldTurn(record, plain, null);
    foldReport(reports, plain);
    const number = typeof fact.attempt === 'number' ? fact.attempt : null;
    if (fact.kind === 'turn.started') {
      const key = (fact.item as { readonly key: string } | null)?.key ?? null;
      rework = notes.filter((note) => note.target === fact.socket && note.item === key);
      notes = [];
    }
    if (fact.kind === 'attempt.started' && number !== null)
      attempts.set(number, {
        attempt: number,
        started: entry,
        ended: null,
        brief: textOf(fact.brief) ?? '',
        output: null,
        issues: [],
        isRepaired: false,
      });
    const attempt = number === null ? undefined : attempts.get(number);
    if (attempt && number !== null && fact.kind === 'attempt.answered')
      attempts.set(number, { ...attempt, output: textOf(fact.output) });
    if (attempt && number !== null && ENDS.has(fact.kind) && (attempt.ended === null || fact.kind !== 'attempt.spent'))
      attempts.set(number, {
        ...attempt,
        ended: entry,
        output: textOf(fact.output ?? fact.said) ?? attempt.output,
        issues: issuesIn(fact),
        isRepaired: fact.repair === true,
      });
    if (fact.kind === 'turn.accepted') {
      const given = fact.handoff as {
        readonly payload: Json;
        readonly satisfied: boolean | null;
        readonly note?: Text;
      };
      handoff = {
        payload: given.payload,
        satisfied: given.satisfied,
        note: given.note === undefined ? null : beginning(given.note),
      };
      dataChanges = changesIn(fact);
      diff = textOf((fact.diff as { readonly text?: Json } | undefined)?.text) ?? diff;
    }
    const outside = outsideIn(fact);
    for (const [path, digest] of Object.entries(
      (fact.touched as Readonly<Record<string, string | null>> | undefined) ?? {},
    ))
      touched.set(path, { path, isGone: digest === null, isOutside: outside.has(path) });
    for (const path of outside) if (!touched.has(path)) touched.set(path, { path, isGone: false, isOutside: true });
    if (fact.kind === 'cursor.advanced') isFinished = true;
    if (fact.kind === 'edge.taken' || fact.kind === 'exit.taken')
      ways.push({
        to: String(fact.to),
        when: fact.kind === 'exit.taken' ? 'exit' : conditionWords(fact.when as EdgeCondition),
        seq,
      });
  }
  return {
    turn,
    said,
    record: record.turns.get(turn) ?? null,
    reports: reports.list,
    attempts: [...attempts.values()],
    handoff,
    dataChanges,
    touched: [...touched.values()].sort((a, b) => Number(b.isOutside) - Number(a.isOutside)),
    diff,
    ways,
    isFinished,
    differences: differencesIn(reports),
    rework,
  };
}

function lineOf({ seq, at, by, fact }: Entry): SaidLine | null {
  const line = (from: SaidLine['from'], text: unknown) => ({ seq, from, at, by, text: textOf(text) ?? '' });
  if (fact.kind === 'turn.answered') return line(fact.from as SaidLine['from'], fact.text);
  if (fact.kind === 'turn.reported') return line('agent', fact.note);
  return fact.kind === 'turn.blocked' && fact.code === 'AGENT_BLOCKED' ? line('agent', fact.reason) : null;
}

export function isReference(value: unknown): value is Exclude<Text, string> {
  if (typeof value !== 'object' || value === null) return false;
  const { digest, preview, seq } = value as Readonly<Record<string, unknown>>;
  return typeof digest === 'string' && typeof preview === 'string' && typeof seq === 'number';
}

function textOf(value: unknown): Text | null {
  if (typeof value === 'string') return value;
  return isReference(value) ? value : null;
}

export function beginning(value: unknown): string {
  if (typeof value === 'string') return value;
  return isReference(value) ? `${value.preview}…` : '';
}

function issuesIn(fact: Fact): readonly Issue[] {
  const details = (fact.verdict as { readonly details?: { readonly issues?: unknown } } | undefined)?.details;
  const { issues } = details ?? {};
  if (!Array.isArray(issues)) return [];
  return issues.flatMap((each: unknown): Issue[] => {
    if (typeof each !== 'object' || each === null) return [];
    const { path, message, line, column } = each as Readonly<Record<string, unknown>>;
    const said = beginning(message);
    if (said === '') return [];
    const place = typeof line === 'number' && typeof column === 'number' ? { line, column } : {};
    return [{ path: beginning(path), message: said, ...place }];
  });
}

/** The files that a refusal names because they are not the turn's to change. */
function outsideIn(fact: Fact): ReadonlySet<string> {
  const verdict = fact.verdict as
    | { readonly code?: string; readonly details?: Readonly<Record<string, unknown>> }
    | undefined;
  if (verdict?.code !== 'SCOPE_VIOLATION') return new Set();
  const paths = Object.values(verdict.details ?? {}).find((value) => Array.isArray(value));
  return new Set((Array.isArray(paths) ? paths : []).flatMap((each) => (typeof each === 'string' ? [each] : [])));
}

function changesIn(fact: Fact): TurnStory['dataChanges'] {
  const changes = Array.isArray(fact.changes) ? (fact.changes as readonly Readonly<Record<string, Json>>[]) : [];
  return changes.map(({ path, key, value }) => ({ name: String(path ?? key), value }));
}
