// One turn in full, from its facts: its brief, its answer in each attempt, whom it asked, on what
// evidence, and what it wrote for others.
import type { ExchangeLine, ReportNote, TurnCheck, Usage } from '../../kernel/cast/state.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import type { CommandDifferences } from '../../kernel/report/commands.ts';
import { EVIDENCE_KEYS, sectionAt, valuesAt } from '../../kernel/report/sections.ts';
import type { View } from './cast-view.ts';
import { socketName, textHere } from './in-words.ts';
import { commandDifferences, type ReportRecord } from './reported.ts';
import type { ApprovalStep, AttemptRecord, ContextWrite, DepositDetail, Suggestion } from './turn-record.ts';

/** Its verdict is null while it runs. */
export type AttemptDetail = Omit<AttemptRecord, 'turn' | 'isAttested' | 'brief'> & { readonly brief: string };

export type ReportDetail = {
  readonly attempt: number;
  readonly at: string;
  readonly note: ReportNote;
  /** What of it could not be taken as it was. */
  readonly warnings: readonly string[];
  /** The lists of its evidence by their keys, as they were written; null where the report was not kept apart. */
  readonly evidence: JsonObject | null;
  readonly rollbackExecuted: Json;
  readonly contextConsumption: Json;
};

type Spoken = ExchangeLine & { readonly at: string; readonly by: string };

export type TurnDetail = {
  readonly cast: string;
  readonly turn: number;
  readonly socket: string;
  /** What people call the socket. */
  readonly name: string;
  readonly materia: string;
  readonly visit: number;
  readonly item: string | null;
  readonly title: string | null;
  readonly startedAt: string;
  /** The INPUT of the last attempt, in dialects that have one. */
  readonly input: JsonObject | null;
  readonly attempts: readonly AttemptDetail[];
  readonly reports: readonly ReportDetail[];
  readonly exchange: readonly Spoken[];
  /** Whether the last report names the commands that were run; null where that is unknown. */
  readonly commands:
    | (CommandDifferences & { readonly ran: readonly string[]; readonly unapproved?: readonly string[] })
    | null;
  readonly context: readonly ContextWrite[];
  /** The evidence that its reports deposited, by the name under which it is found. */
  readonly deposits: readonly DepositDetail[];
  readonly memory: readonly Suggestion[];
  readonly approvals: readonly ApprovalStep[];
  /** What the project's checkers found, where it changed files and was accepted. */
  readonly checks: readonly TurnCheck[];
  readonly usage: Usage;
  readonly models: readonly string[];
};

/** Finds the payload in the text of a report of which only the text was kept. */
export type ReadReport = (socket: string, output: string, input: JsonObject | null) => JsonObject | null;

/** Null where the cast has no such turn. */
export function turnDetailOf(view: View, turn: number, read: ReadReport): TurnDetail | null {
  const { cast } = view;
  const own = view.turns.get(turn);
  if (!cast || !own) return null;
  const { socket, visit, item, input, startedAt } = own;
  const { materia: id = '' } = cast.rules.graph.sockets[socket] ?? {};
  const attempts = [...own.attempts.values()].map(({ turn: _turn, isAttested: _isAttested, ...attempt }) => ({
    ...attempt,
    brief: textHere(attempt.brief),
  }));
  const reports = view.reports.list
    .filter((report) => report.turn === turn)
    .map((report) => ({ ...report, payload: report.payload ?? read(socket, report.output, input) }));
  return {
    cast: cast.id,
    turn,
    socket,
    name: socketName(cast.rules, socket),
    materia: cast.rules.materia[id]?.label ?? id,
    visit,
    item: item?.key ?? null,
    title: item?.label ?? null,
    startedAt,
    input,
    attempts,
    reports: reports.map(reportDetail),
    exchange: own.exchange.map(({ from, at, by, text }) => ({ from, at, by: by ?? id, text })),
    commands: commandsOf(reports.at(-1)),
    context: own.context,
    deposits: own.deposits,
    memory: own.memory,
    approvals: own.approvals,
    checks: own.checks,
    usage: attempts.reduce((sum, { usage }) => added(sum, usage), FREE),
    models: [...new Set(attempts.flatMap(({ agent }) => agent?.model ?? []))],
  };
}

const FREE: Usage = { input: 0, output: 0, cost: 0 };

function added(sum: Usage, usage: Usage | null): Usage {
  if (!usage) return sum;
  return { input: sum.input + usage.input, output: sum.output + usage.output, cost: sum.cost + usage.cost };
}

function reportDetail({ attempt, at, note, warnings, payload }: ReportRecord): ReportDetail {
  return {
    attempt,
    at,
    note,
    warnings,
    evidence: payload === null ? null : evidenceOf(payload),
    rollbackExecuted: payload?.rollback_executed ?? null,
    contextConsumption: payload?.context_consumption ?? null,
  };
}

function evidenceOf(payload: JsonObject): JsonObject {
  const section = sectionAt(payload, 'evidence_report');
  const lists = EVIDENCE_KEYS.map((key) => [key, valuesAt(section, key)] as const);
  return { ...Object.fromEntries(lists), verification: section.verification ?? null };
}

function commandsOf(report: ReportRecord | undefined): TurnDetail['commands'] {
  const found = report ? commandDifferences(report.payload, report.ran) : null;
  if (!found || !report?.ran) return null;
  const { ran, unapproved } = report;
  return { ...found, ran, ...(unapproved.length > 0 ? { unapproved } : {}) };
}
