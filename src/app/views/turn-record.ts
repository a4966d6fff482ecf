// What the entries say of the turns of a cast, beyond what the kernel keeps of them: every attempt with its brief, output and
// verdict, and what was said, written and asked for meanwhile. The kernel forgets a turn that is over.
import { isApprovalFact } from '../../kernel/approval/request.ts';
import type { CastFact } from '../../kernel/cast/fact.ts';
import type { AgentNote, Cast, ExchangeLine, Item, Session, TurnCheck, Usage } from '../../kernel/cast/state.ts';
import type { Entry, Fact } from '../../kernel/fact.ts';
import { isShownChanges } from '../../kernel/graph/route.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { type Deposit, EVIDENCE } from '../../kernel/knowledge/entries.ts';
import { shownRefusal } from '../../kernel/report/status.ts';
import { socketNames, type Text, withSocketNames } from './in-words.ts';

export type AttemptRecord = {
  readonly turn: number;
  readonly attempt: number;
  readonly startedAt: string;
  /** When it answered, failed or was refused. */
  endedAt?: string;
  readonly brief: Text;
  output: string | null;
  /** Null while it runs. */
  verdict: Json;
  /** More was printed than is kept. */
  truncated?: true;
  usage: Usage | null;
  agent?: AgentNote;
  /** Files that changed while it ran, where it is not known who changed them. */
  warning?: string;
  /** The conversation of an earlier turn that it goes on with, because it is rework. */
  readonly session?: Session;
  /** Its agent was attested against a registry. */
  readonly isAttested: boolean;
};

/** `by` is null for the agent of the turn. */
type SpokenRecord = ExchangeLine & { readonly at: string; readonly by: string | null };

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

export type TurnRecord = {
  readonly turn: number;
  readonly socket: string;
  readonly visit: number;
  readonly item: Item | null;
  readonly task: string | null;
  readonly startedAt: string;
  /** By number, in the order of their dispatch. */
  readonly attempts: Map<number, AttemptRecord>;
  /** The INPUT of the last attempt, in dialects that have one. */
  input: JsonObject | null;
  /** Why it was blocked last. */
  blocked: { readonly at: string; readonly code: string; readonly reason: string } | null;
  readonly exchange: SpokenRecord[];
  readonly context: ContextWrite[];
  readonly deposits: DepositDetail[];
  readonly memory: Suggestion[];
  readonly approvals: ApprovalStep[];
  checks: readonly TurnCheck[];
};

export type TurnsRecord = {
  /** By number, in the order in which it was decided to make them. */
  readonly turns: Map<number, TurnRecord>;
  /** All attempts, in the order of their dispatch. */
  readonly attempts: AttemptRecord[];
};

export function noTurns(): TurnsRecord {
  return { turns: new Map(), attempts: [] };
}

/** `cast` says what its turns may change; without it no files are listed. */
export function foldTurn(record: TurnsRecord, entry: Entry, cast: Pick<Cast, 'rules' | 'root'> | null): void {
  const { at, fact } = entry;
  if (fact.kind === 'turn.started') {
    const { turn, socket, visit, item, task = null } = fact;
    const lists = { exchange: [], context: [], deposits: [], memory: [], approvals: [], checks: [] };
    const begun = { attempts: new Map(), input: null, blocked: null, ...lists };
    record.turns.set(turn, { turn, socket, visit, item, task, startedAt: at, ...begun });
  }
  const turn = 'turn' in fact && typeof fact.turn === 'number' ? record.turns.get(fact.turn) : undefined;
  if (!turn) return;
  if (fact.kind === 'attempt.started') begin(record, turn, at, fact);
  const attempt = 'attempt' in fact && fact.attempt !== undefined ? turn.attempts.get(fact.attempt) : undefined;
  const changes = attempt && cast && 'touched' in fact ? isShownChanges(cast, turn.socket, fact.touched) : null;
  const warning = changes && cast ? withSocketNames(changes, socketNames(cast.rules)) : null;
  const end = endOf(fact);
  if (attempt) Object.assign(attempt, end, warning === null ? {} : { warning });
  if (attempt && 'verdict' in end) attempt.endedAt = at;
  note(turn, entry);
}

function begin(
  { attempts }: TurnsRecord,
  turn: TurnRecord,
  startedAt: string,
  { attempt, brief, input, attestation, session }: Extract<CastFact, { kind: 'attempt.started' }>,
): void {
  const open = { output: null, verdict: null, usage: null, isAttested: attestation !== undefined };
  const resumed = session ? { session } : {};
  const begun: AttemptRecord = { turn: turn.turn, attempt, startedAt, brief, ...open, ...resumed };
  const before = turn.attempts.get(attempt);
  if (before) attempts[attempts.indexOf(before)] = begun;
  else attempts.push(begun);
  turn.attempts.set(attempt, begun);
  turn.input = input ?? turn.input;
}

function note(turn: TurnRecord, { at, by, fact }: Entry): void {
  switch (fact.kind) {
    case 'turn.answered':
      turn.exchange.push({ from: fact.from, at, by, text: fact.text });
      break;
    case 'turn.reported':
      turn.exchange.push({ from: 'agent', at, by: null, text: fact.note });
      break;
    case 'turn.blocked':
      turn.blocked = { at, code: fact.code, reason: fact.reason };
      if (fact.code === 'AGENT_BLOCKED') turn.exchange.push({ from: 'agent', at, by: null, text: fact.reason });
      break;
    case 'turn.accepted':
      turn.checks = [...turn.checks, ...(fact.checks ?? [])];
      break;
    case 'context.written':
      turn.context.push({ section: fact.section, written: true, version: fact.version });
      break;
    case 'context.rejected':
      turn.context.push({ section: fact.section, written: false, code: fact.code, reason: fact.reason });
      break;
    case 'evidence.deposited': {
      const { kind: _kind, id, cast: _cast, turn: _turn, agentId: _agentId, ...deposit } = fact;
      turn.deposits.push({ name: `${EVIDENCE}:${id}`, ...deposit });
      break;
    }
    case 'memory.suggested': {
      const { description, body } = fact.note;
      turn.memory.push({ id: fact.id, description, body });
      break;
    }
    default:
      if (isApprovalFact(fact)) turn.approvals.push(approvalStep(at, fact));
  }
}

/** What a fact says about how an attempt ended; nothing where it is about something else. */
function endOf(fact: Fact): Partial<AttemptRecord> {
  const agent = 'agent' in fact && typeof fact.agent === 'object' ? { agent: fact.agent } : {};
  const usage = 'usage' in fact && 'attempt' in fact ? { usage: fact.usage } : {};
  return { ...verdictOf(fact), ...agent, ...usage };
}

function verdictOf(fact: Fact): Partial<Pick<AttemptRecord, 'output' | 'verdict' | 'truncated'>> {
  switch (fact.kind) {
    case 'turn.accepted':
      return {
        output: fact.output,
        verdict: { allow: true, code: 'OK', reason: acceptedAs(fact), details: {} },
        ...(fact.truncated ? { truncated: true } : {}),
      };
    case 'turn.blocked':
      if (fact.output === '') return {};
      return { output: fact.output, verdict: { allow: false, code: fact.code, reason: fact.reason, details: {} } };
    case 'turn.reported':
      return { output: fact.output, verdict: reportedVerdict(fact) };
    case 'attempt.refused':
      return { output: fact.output, verdict: shownRefusal(fact) };
    case 'attempt.failed':
      return {
        ...(fact.said === undefined ? {} : { output: fact.said }),
        verdict: { allow: false, code: fact.code, reason: fact.reason, details: detailsOf(fact) },
      };
    case 'turn.asked':
      return { verdict: { allow: false, code: 'ANSWER_NEEDED', reason: 'waits for a person', details: {} } };
    case 'attempt.interrupted':
      return { verdict: { allow: true, code: 'OK', reason: 'interrupted by a person; the turn goes on', details: {} } };
    case 'attempt.lost':
    case 'turn.unknown':
      return { verdict: { allow: false, code: 'OUTCOME_UNKNOWN', reason: fact.reason, details: {} } };
    default:
      return {};
  }
}

function acceptedAs({ handoff, truncated }: Extract<CastFact, { kind: 'turn.accepted' }>): string {
  if (truncated) return 'accepted: the output was cut at its limit';
  return handoff.satisfied === false ? 'accepted: not satisfied' : 'accepted';
}

function reportedVerdict({ outcome, note }: Extract<CastFact, { kind: 'turn.reported' }>): Json {
  const code = { continue: 'OK', ask: 'ANSWER_NEEDED', approval: 'APPROVAL_NEEDED' }[outcome];
  const reason = { continue: 'goes on', ask: 'asks a person', approval: 'asks for permission' }[outcome];
  return { allow: outcome === 'continue', code, reason: note === '' ? reason : `${reason}: ${note}`, details: {} };
}

function detailsOf({ fault, cause }: Extract<CastFact, { kind: 'attempt.failed' }>): JsonObject {
  return { fault, ...(cause === undefined ? {} : { cause }) };
}

type ApprovalFact = Extract<Fact, { kind: `approval.${string}` }>;

function approvalStep(at: string, fact: ApprovalFact): ApprovalStep {
  const isPersons = fact.kind === 'approval.approved' || fact.kind === 'approval.rejected';
  const what = fact.kind.slice('approval.'.length);
  return { id: fact.id, at, what, by: isPersons ? fact.by : null, said: saidIn(fact) };
}

function saidIn(fact: ApprovalFact): string {
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
