// The second door: what an attempt brought back is read in its socket's dialect and either accepted, given back once
// for repair, or refused for good. A refused output changes nothing and routes nowhere.
import type { Reading } from '../dialect.ts';
import type { Answered, DataChange, Fault } from '../fact.ts';
import { refusedBeforeAccept } from '../gate/accept.ts';
import { contractOf } from '../graph/contract.ts';
import type { Input } from '../input.ts';
import { isObject } from '../json.ts';
import { scrub, scrubJson } from '../secrets.ts';
import type { Cast, Turn, Usage } from '../state.ts';
import { utf8Length } from '../utf8-length.ts';
import { allow, type Denied, deny, type Verdict } from '../verdict.ts';
import { warningDue } from './budget.ts';
import { changesOf, contextLine } from './commit.ts';
import { infrastructureFailure } from './infrastructure-failure.ts';
import { remembersItems } from './item-memory.ts';
import { fail, materiaOf, type Pen, socketOf } from './pen.ts';
import { route } from './route.ts';

const FREE: Usage = { input: 0, output: 0, cost: 0 };
/** A crash or a dropped connection is tried once more. */
const FAULT_RETRIES_MAX = 1;

type Answer = Extract<Input, { kind: 'attempt.output' }>;

export function takeOutput(pen: Pen, cast: Cast, turn: Turn, answer: Answer): Verdict {
  const { truncated } = answer;
  const usage = answer.usage ?? FREE;
  const reading = readOutput(pen, cast, turn, answer.output, truncated === true);
  // Nothing is stored or handed on with a secret in it; from here on the scrubbed text and value are the output.
  const output = scrub(answer.output);
  if (!reading.ok) return refuse(pen, cast, turn, output.text, usage, cleanVerdict(reading.verdict));
  const payload = scrubJson(reading.handoff.payload);
  const scrubbed = [...new Set([...output.found, ...payload.found].map(({ kind }) => kind))].sort();
  const handoff = { ...reading.handoff, payload: payload.value };
  const answered = { output: output.text, handoff, usage, truncated: truncated === true, scrubbed };
  if (turn.seal === null) {
    accept(pen, cast, turn, answered);
    return allow(`turn ${turn.id} accepted`);
  }
  pen.write({ kind: 'attempt.answered', cast: cast.id, turn: turn.id, attempt: turn.attempt, ...answered });
  return allow(`turn ${turn.id} is verified`);
}

/** What was read is accepted when the turn left alone what governs it. */
export function takeVerification(pen: Pen, cast: Cast, turn: Turn, seal: string): Verdict {
  const { answered } = turn;
  if (!answered) return deny('NOT_ALLOWED_NOW', `turn ${turn.id} has nothing to verify`);
  const verdict = refusedBeforeAccept(turn, seal);
  if (!verdict) {
    accept(pen, cast, turn, answered);
    return allow(`turn ${turn.id} accepted`);
  }
  const { output, usage } = answered;
  pen.write({
    kind: 'attempt.refused',
    cast: cast.id,
    turn: turn.id,
    attempt: turn.attempt,
    output,
    usage,
    verdict,
    repair: false,
  });
  fail(pen, cast, verdict, turn.id);
  return verdict;
}

function cleanVerdict(verdict: Denied): Denied {
  const { reason, details } = verdict;
  return deny(verdict.code, scrub(reason).text, scrubJson(details).value as Denied['details']);
}

function readOutput(pen: Pen, cast: Cast, turn: Turn, output: string, truncated: boolean): Reading {
  const socket = socketOf(cast, turn.socket);
  const bytes = utf8Length(output);
  const { maxOutputBytes } = socket.limits;
  if (bytes > maxOutputBytes && !truncated) {
    const message = `the output has ${bytes} bytes; at most ${maxOutputBytes} are allowed`;
    const verdict = deny('CONTRACT_VIOLATION', message, { issues: [{ path: '$', message }] });
    return { ok: false, verdict };
  }
  return pen.dialects[socket.contract].read(output, contractOf(cast.rules, turn.socket));
}

function accept(pen: Pen, cast: Cast, turn: Turn, { output, handoff, usage, truncated, scrubbed }: Answered): void {
  const materia = materiaOf(cast, turn.socket);
  const broken =
    materia.type === 'utility' && isObject(handoff.payload) ? infrastructureFailure(handoff.payload) : null;
  const changes = changesOf(cast, turn, handoff, output, broken === null);
  const context = contextLine(turn, materia, handoff);
  const common = { cast: cast.id, turn: turn.id, attempt: turn.attempt };
  if (broken !== null) {
    const verdict = deny('UTILITY_FAILED', `${materia.label}: ${broken}`, { socket: turn.socket });
    // What the utility says of its failure is kept, so that a person and the next attempt can see it.
    pen.write({ kind: 'attempt.refused', ...common, output, usage, verdict, repair: false, changes });
    return fail(pen, cast, verdict, turn.id);
  }
  pen.write({
    kind: 'turn.accepted',
    ...common,
    output,
    handoff,
    usage,
    changes,
    ...(truncated ? { truncated } : {}),
    ...(scrubbed.length > 0 ? { scrubbed } : {}),
    ...(context ? { context } : {}),
  });
  resetCursors(pen, cast, turn, changes);
  warn(pen, cast);
  route(pen, cast, turn);
}

/** A new list starts from its first item, and its items start with clean counters. */
function resetCursors(pen: Pen, cast: Cast, turn: Turn, changes: readonly DataChange[]): void {
  for (const loop of cast.rules.graph.loops) {
    if (!loop.iterator) continue;
    const { cursorKey, items } = loop.iterator;
    // A member that rewrites the list it walks over refines what is left; starting again would never end.
    const isNew =
      loop.consumes === null
        ? !loop.sockets.includes(turn.socket) && changes.some((change) => replaces(change, items))
        : loop.consumes === turn.socket;
    if (!isNew || ((cast.cursors[cursorKey] ?? 0) === 0 && !remembersItems(cast, loop))) continue;
    pen.write({ kind: 'cursor.reset', cast: cast.id, cursor: cursorKey, loop: loop.id });
  }
}

/** Whether a change puts another value in the place of the list, alone or with what holds it. */
function replaces(change: DataChange, items: string): boolean {
  const list = items.split('.');
  if (list[0] === 'state') list.shift();
  const changed = 'key' in change ? [change.key] : change.path.split('.');
  return changed.length <= list.length && changed.every((segment, index) => segment === list[index]);
}

function refuse(pen: Pen, cast: Cast, turn: Turn, output: string, usage: Usage, verdict: Denied): Verdict {
  const isAgent = materiaOf(cast, turn.socket).type === 'agent';
  const repair = isAgent && turn.repairs < cast.rules.limits.repairTurnsMax;
  const { id, attempt } = turn;
  pen.write({ kind: 'attempt.refused', cast: cast.id, turn: id, attempt, output, usage, verdict, repair });
  warn(pen, cast);
  if (!repair) {
    const tried = isAgent ? ` after ${turn.repairs} of ${cast.rules.limits.repairTurnsMax} repair turns` : '';
    const details = { ...verdict.details, refused: verdict.code, socket: turn.socket };
    fail(
      pen,
      cast,
      deny('CONTRACT_VIOLATION', `${turn.socket} did not keep its contract${tried}: ${verdict.reason}`, details),
      id,
    );
  }
  return verdict;
}

export function takeFault(
  pen: Pen,
  cast: Cast,
  turn: Turn,
  input: Extract<Input, { kind: 'attempt.failed' }>,
): Verdict {
  const { fault } = input;
  const reason = scrub(input.reason).text;
  const isAgent = materiaOf(cast, turn.socket).type === 'agent';
  const again = isAgent && (fault === 'crash' || fault === 'transport') && turn.faults < FAULT_RETRIES_MAX;
  const usage = input.usage ?? FREE;
  const { id, attempt } = turn;
  const code = codeOf(fault, isAgent);
  pen.write({ kind: 'attempt.failed', cast: cast.id, turn: id, attempt, fault, code, reason, usage, again });
  warn(pen, cast);
  if (again) return allow(`turn ${id} is tried once more`);
  const verdict = deny(code, `${turn.socket}: ${reason}`, { fault, socket: turn.socket });
  fail(pen, cast, verdict, id);
  return verdict;
}

function codeOf(fault: Fault, isAgent: boolean): 'AGENT_FAILED' | 'AGENT_TIMEOUT' | 'UTILITY_FAILED' {
  if (fault === 'unscripted') return 'AGENT_FAILED';
  if (!isAgent) return 'UTILITY_FAILED';
  return fault === 'timeout' ? 'AGENT_TIMEOUT' : 'AGENT_FAILED';
}

function warn(pen: Pen, cast: Cast): void {
  const percent = warningDue(cast);
  if (percent !== null) pen.write({ kind: 'budget.warned', cast: cast.id, usage: cast.usage, percent });
}
