// One turn in full, told from its facts: what its agent was told, what it said in each attempt, whom it asked, on what
// evidence, and what it wrote for others.
import { isApprovalFact } from '../kernel/approval/fact.ts';
import type { TurnCheck } from '../kernel/cast/item-work.ts';
import type { AgentNote, Entry } from '../kernel/fact.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import type { Deposit } from '../kernel/knowledge/evidence.ts';
import { EVIDENCE } from '../kernel/knowledge/state.ts';
import type { Cast, Line, ReportNote, Usage } from '../kernel/state.ts';
import type { CommandDifferences } from '../kernel/turn/commands-compared.ts';
import { EVIDENCE_KEYS } from '../kernel/turn/report-keys.ts';
import { listAt, sectionAt } from '../kernel/turn/report-section.ts';
import { differencesOf, type Reported, reportsIn } from './reported.ts';
import { endOf, warningOf } from './view.ts';

export type AttemptDetail = {
  readonly attempt: number;
  readonly startedAt: string;
  readonly brief: string;
  readonly output: string | null;
  /** Null while it runs. */
  readonly verdict: Json;
  /** More was printed than is kept. */
  readonly truncated?: true;
  readonly usage: Usage | null;
  readonly agent?: AgentNote;
  /** Files that changed while it ran, where whose change it was cannot be told. */
  readonly warning?: string;
};

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

export type Spoken = Line & { readonly at: string; readonly by: string };

/** What became of a section that the agent wrote to. */
export type ContextWrite =
  | { readonly section: string; readonly written: true; readonly version: number }
  | { readonly section: string; readonly written: false; readonly code: string; readonly reason: string };

export type DepositDetail = Deposit & { readonly name: string; readonly agent: string };

export type Suggestion = { readonly id: string; readonly description: string | null; readonly body: string };

export type ApprovalStep = {
  readonly id: string;
  readonly at: string;
  /** `requested`, `approved`, `used`, … */
  readonly what: string;
  readonly by: string | null;
  readonly said: string;
};

export type TurnDetail = {
  readonly cast: string;
  readonly turn: number;
  readonly socket: string;
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
  /** Whether the last report names the commands that were run; null where nobody can tell. */
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
export function turnDetailOf(
  cast: Pick<Cast, 'id' | 'rules' | 'root'>,
  entries: readonly Entry[],
  turn: number,
  read: ReadReport,
): TurnDetail | null {
  const own = entries.filter(({ fact }) => 'turn' in fact && fact.turn === turn);
  const started = own.flatMap(({ at, fact }) => (fact.kind === 'turn.started' ? [{ at, ...fact }] : []))[0];
  if (!started) return null;
  const { socket, visit, item } = started;
  const { materia: id = '' } = cast.rules.graph.sockets[socket] ?? {};
  const attempts = attemptsOf(cast, socket, own);
  const input = own.reduce<JsonObject | null>((last, { fact }) => inputIn(fact) ?? last, null);
  const reports = reportsIn(own).map((report) => ({
    ...report,
    payload: report.payload ?? read(socket, report.output, input),
  }));
  return {
    cast: cast.id,
    turn,
    socket,
    materia: cast.rules.materia[id]?.label ?? id,
    visit,
    item: item?.key ?? null,
    title: item?.label ?? null,
    startedAt: started.at,
    input,
    attempts,
    reports: reports.map(reportDetail),
    exchange: own.flatMap((entry) => spokenIn(entry, id)),
    commands: commandsOf(reports.at(-1)),
    context: own.flatMap(({ fact }) => contextWrite(fact)),
    deposits: own.flatMap(({ fact }) => depositIn(fact)),
    memory: own.flatMap(({ fact }) => suggestionIn(fact)),
    approvals: own.flatMap(approvalStep),
    checks: own.flatMap(({ fact }) => (fact.kind === 'turn.accepted' ? (fact.checks ?? []) : [])),
    usage: attempts.reduce((sum, { usage }) => added(sum, usage), FREE),
    models: [...new Set(attempts.flatMap(({ agent }) => agent?.model ?? []))],
  };
}

function inputIn(fact: Entry['fact']): JsonObject | null {
  return fact.kind === 'attempt.started' ? (fact.input ?? null) : null;
}

const FREE: Usage = { input: 0, output: 0, cost: 0 };

function added(sum: Usage, usage: Usage | null): Usage {
  if (!usage) return sum;
  return { input: sum.input + usage.input, output: sum.output + usage.output, cost: sum.cost + usage.cost };
}

function attemptsOf(
  cast: Pick<Cast, 'rules' | 'root'>,
  socket: string,
  own: readonly Entry[],
): readonly AttemptDetail[] {
  const attempts = new Map<number, AttemptDetail>();
  for (const { at, fact } of own) {
    if (fact.kind === 'attempt.started') {
      const { attempt, brief } = fact;
      attempts.set(attempt, { attempt, startedAt: at, brief, output: null, verdict: null, usage: null });
    }
    const known = 'attempt' in fact && fact.attempt !== undefined ? attempts.get(fact.attempt) : undefined;
    if (known)
      attempts.set(known.attempt, { ...known, ...endOf(fact), ...usageIn(fact), ...warningOf(cast, socket, fact) });
  }
  return [...attempts.values()];
}

function usageIn(fact: Entry['fact']): Partial<Pick<AttemptDetail, 'usage'>> {
  return 'usage' in fact && 'attempt' in fact ? { usage: fact.usage } : {};
}

function reportDetail({ attempt, at, note, warnings, payload }: Reported): ReportDetail {
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
  const lists = EVIDENCE_KEYS.map((key) => [key, listAt(section, key)] as const);
  return { ...Object.fromEntries(lists), verification: section.verification ?? null };
}

function commandsOf(report: Reported | undefined): TurnDetail['commands'] {
  const found = report ? differencesOf(report.payload, report.ran) : null;
  if (!found || !report?.ran) return null;
  const { ran, unapproved } = report;
  return { ...found, ran, ...(unapproved.length > 0 ? { unapproved } : {}) };
}

/** What the agent said when it was not finished, and what it was told. */
function spokenIn({ at, by, fact }: Entry, agent: string): readonly Spoken[] {
  if (fact.kind === 'turn.answered') return [{ from: fact.from, at, by, text: fact.text }];
  if (fact.kind === 'turn.reported') return [{ from: 'agent', at, by: agent, text: fact.note }];
  const isBlocked = fact.kind === 'turn.blocked' && fact.code === 'AGENT_BLOCKED';
  return isBlocked ? [{ from: 'agent', at, by: agent, text: fact.reason }] : [];
}

function contextWrite(fact: Entry['fact']): readonly ContextWrite[] {
  if (fact.kind === 'context.written') return [{ section: fact.section, written: true, version: fact.version }];
  if (fact.kind !== 'context.rejected') return [];
  return [{ section: fact.section, written: false, code: fact.code, reason: fact.reason }];
}

function depositIn(fact: Entry['fact']): readonly DepositDetail[] {
  if (fact.kind !== 'evidence.deposited') return [];
  const { kind: _kind, id, cast: _cast, turn: _turn, agentId: _agentId, ...deposit } = fact;
  return [{ name: `${EVIDENCE}:${id}`, ...deposit }];
}

function suggestionIn(fact: Entry['fact']): readonly Suggestion[] {
  if (fact.kind !== 'memory.suggested') return [];
  const { description, body } = fact.note;
  return [{ id: fact.id, description, body }];
}

function approvalStep({ at, fact }: Entry): readonly ApprovalStep[] {
  if (!isApprovalFact(fact)) return [];
  const isPersons = fact.kind === 'approval.approved' || fact.kind === 'approval.rejected';
  return [
    { id: fact.id, at, what: fact.kind.slice('approval.'.length), by: isPersons ? fact.by : null, said: saidIn(fact) },
  ];
}

function saidIn(fact: Extract<Entry['fact'], { kind: `approval.${string}` }>): string {
  switch (fact.kind) {
    case 'approval.requested':
      return [fact.sealed.operation, ...fact.sealed.commands.map(({ display }) => display)].join('; ');
    case 'approval.approved':
    case 'approval.rejected':
      return fact.reason;
    case 'approval.refused':
      return `${fact.code}: ${fact.reason}`;
    case 'approval.finished':
      return fact.exit === null ? (fact.note ?? 'ended without an exit code') : `exit ${fact.exit}`;
    case 'approval.expired':
      return `the ${fact.what} was not used in time`;
    case 'approval.withdrawn':
      return fact.reason;
    case 'approval.linked':
      return Object.values(fact.words ?? {}).join('; ');
    default:
      return '';
  }
}
