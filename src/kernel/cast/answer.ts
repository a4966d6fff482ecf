// The second door: what an attempt brought back is read in its socket's dialect and either accepted, given back once
// for repair, or refused for good. A refused output changes nothing and routes nowhere.
import { dialectCan, runnerCan, type WithCapabilities } from '../capabilities.ts';
import type { Handoff, Reading } from '../dialect.ts';
import { emittedFrom } from '../event.ts';
import { AT_ANSWER, AT_HANDOFF, AT_VERIFICATION, begunIn, isGivingUp, unfinished } from '../gate/before-accept.ts';
import { type Seen, touchedIn } from '../gate/changes.ts';
import { DEFAULTS, type Materia, type Socket } from '../graph/config.ts';
import type { Input } from '../input.ts';
import { isObject } from '../json.ts';
import type { LedgerFact } from '../ledger/fact.ts';
import { codeOfResult, knownCode, reasonOfResult } from '../ledger/move.ts';
import { isOfRules } from '../ledger/scope.ts';
import { isOnlyLoop, unfinishedLoop } from '../report/status.ts';
import { scrub, scrubJson } from '../secrets.ts';
import { fail, type Pen } from '../state.ts';
import { utf8Length } from '../text.ts';
import { refusalOfSmuggled } from '../trust/injection.ts';
import { allow, type Denied, deny, firstRefusal, type Verdict } from '../verdict.ts';
import { type AttemptUsage, cleanNote, warn } from './budget.ts';
import { changesOf, contextLine } from './data.ts';
import type { Touched } from './fact.ts';
import { infrastructureFailure, loseAttempt } from './fault.ts';
import { taskOfTurn } from './item.ts';
import { recordedWork } from './notes.ts';
import { artifactsOf, learn, takeReport, waitForOutcome } from './report.ts';
import { resetCursors, route } from './route.ts';
import { chosenMateria, contractFor, isConversing, materiaOf, reportsStatus, socketOf } from './rules.ts';
import { type AgentNote, type Answered, type Cast, FREE, type Turn, type Usage } from './state.ts';
import { failTurn, giveUp } from './stop.ts';
import { finishItem, planBlocked, planIn, takePlan } from './task.ts';

type Answer = Extract<Input, { kind: 'attempt.output' }>;

/** What a person vouches for is taken whatever became of the claim under which it was dispatched. */
export function takeOutput(pen: Pen, cast: Cast, turn: Turn, answer: Answer, isVouched = false): Verdict {
  const task = taskOfTurn(pen.state, cast, turn);
  const { truncated } = answer;
  const usage = answer.usage ?? FREE;
  const reading = readOutput(pen, cast, turn, answer);
  const refused = firstRefusal(AT_ANSWER, { turn, task, isVouched, reading });
  if (refused?.refusal.code === 'CONCURRENCY_CONFLICT') return disown(pen, cast, turn, answer, refused.refusal);
  // Nothing is stored or handed on with a secret in it; from here on the scrubbed text and value are the output.
  const output = scrub(answer.output);
  const agent = cleanNote(answer.agent);
  const extras = { usage, ...(agent ? { agent } : {}) };
  if (refused) return refuse(pen, cast, turn, output.text, extras, cleanVerdict(refused.refusal));
  if (!reading.ok) return reading.verdict;
  const payload = scrubJson(reading.handoff.payload);
  const { note } = reading.handoff;
  const clean = note === undefined ? {} : { note: scrub(note).text };
  const events = (reading.handoff.events ?? []).map((event) => scrubJson(event));
  const emitted = events.length === 0 ? {} : { events: events.map(({ value }) => value).filter(isObject) };
  const scrubbed = [
    ...new Set([...output.found, ...payload.found, ...events.flatMap(({ found }) => found)].map(({ kind }) => kind)),
  ].sort();
  const handoff = { ...reading.handoff, payload: payload.value, ...clean, ...emitted };
  const answered = { output: output.text, handoff, ...extras, truncated: truncated === true, scrubbed };
  // A permission is sealed where files and programs can be looked at, and so is evidence: they go by way of the verification.
  const isLookedAt = handoff.outcome === 'approval' || artifactsOf(cast, turn, handoff).length > 0;
  if (turn.seal === null && !isLookedAt) return conclude(pen, cast, turn, answered, NOTHING_SEEN);
  pen.write({ kind: 'attempt.answered', cast: cast.id, turn: turn.id, attempt: turn.attempt, ...answered });
  return allow(`turn ${turn.id} is verified`);
}

/** Accepts a reading once the changes of the turn are in order too. */
export function takeVerification(pen: Pen, cast: Cast, turn: Turn, seen: Seen): Verdict {
  const { answered } = turn;
  if (!answered) return deny('NOT_ALLOWED_NOW', `turn ${turn.id} has nothing to verify`);
  const refused = firstRefusal(AT_VERIFICATION, { turn, task: taskOfTurn(pen.state, cast, turn), seen });
  if (refused?.by.name === 'claim kept') return disown(pen, cast, turn, answered, refused.refusal);
  if (refused) {
    fail(pen, cast, named(refused), turn.id);
    return refused.refusal;
  }
  return conclude(pen, cast, turn, answered, seen);
}

const NOTHING_SEEN: Seen = { seal: null, changes: {}, checks: {} };

function conclude(pen: Pen, cast: Cast, turn: Turn, answered: Answered, seen: Seen): Verdict {
  const { handoff, output } = answered;
  const plan = planIn(pen, cast, turn, handoff);
  const task = taskOfTurn(pen.state, cast, turn);
  const refused = firstRefusal(AT_HANDOFF, { state: pen.state, cast, turn, task, handoff, seen, plan });
  const begun = refused?.by.name === 'open command' ? begunIn(pen.state, cast, turn) : null;
  if (begun) return waitForOutcome(pen, cast, turn, answered, touchedIn(seen), begun);
  if (refused) return refuse(pen, cast, turn, output, { ...answered, ...touchedIn(seen) }, named(refused));
  const outcome = unfinished(handoff);
  if (outcome) {
    const verdict = takeReport(pen, cast, turn, answered, outcome, {
      ...seen,
      ...touchedIn(seen),
    });
    warn(pen, cast);
    return verdict;
  }
  if (isGivingUp(cast, turn, handoff)) return stopBlocked(pen, cast, turn, answered, seen);
  return accept(pen, cast, turn, answered, seen, plan.ok ? plan.facts : []);
}

/**
 * The claim of its task has ended meanwhile, so the answer comes too late; the turn is owed again under a new claim. What must
 * not run twice has run, and a person says what becomes of it.
 */
function disown(pen: Pen, cast: Cast, turn: Turn, spending: AttemptUsage, refusal: Denied): Verdict {
  loseAttempt(pen, cast, turn, true, refusal.reason, spending);
  return refusal;
}

/** The refusal with the name of its check, for people who ask why. */
function named({ by, refusal }: NonNullable<ReturnType<typeof firstRefusal>>): Denied {
  return { ...refusal, details: { ...refusal.details, gate: by.name } };
}

/** The agent cannot go on. Its task is blocked and releases its paths, other items go on, and a person decides. */
function stopBlocked(pen: Pen, cast: Cast, turn: Turn, answered: Answered, seen: Seen): Verdict {
  const { output, handoff, usage, agent } = answered;
  const task = taskOfTurn(pen.state, cast, turn);
  const result = isObject(handoff.payload) ? handoff.payload : {};
  // Only an operator's result names a code; in any other report such a word means nothing.
  const isResult = dialectCan(cast.rules, socketOf(cast, turn.socket).contract, 'reportsTask');
  const stated = (isResult && (task ? codeOfResult(task, result) : knownCode(result.x_code))) || null;
  const code = stated ?? (reportsStatus(cast, turn.socket) ? 'AGENT_BLOCKED' : 'MISSING_REQUIRED_INPUT');
  const reason = handoff.note ?? reasonOfResult(result);
  const common = { cast: cast.id, turn: turn.id, attempt: turn.attempt };
  const extras = { ...touchedIn(seen), ...(agent ? { agent } : {}) };
  const row = rowFor(pen, cast, turn);
  pen.write({ kind: 'turn.blocked', ...common, output, usage, code, reason, ...extras, ...row });
  learn(pen, cast, turn, handoff, seen.artifacts);
  warn(pen, cast);
  return giveUp(pen, cast, turn, deny(code, reason, { socket: turn.socket }), result);
}

/** An agent that reports with a status leaves its gap in the ledger, also where its turn was no task so far. */
function rowFor(pen: Pen, cast: Cast, turn: Turn): { readonly task?: string } {
  const task = reportsStatus(cast, turn.socket) ? planBlocked(pen, cast, turn) : null;
  return task === null ? {} : { task };
}

function cleanVerdict(verdict: Denied): Denied {
  const { reason, details } = verdict;
  return deny(verdict.code, scrub(reason).text, scrubJson(details).value as Denied['details']);
}

function accept(
  pen: Pen,
  cast: Cast,
  turn: Turn,
  answered: Answered,
  seen: Seen,
  plan: readonly LedgerFact[],
): Verdict {
  const { output, usage, truncated, scrubbed, agent } = answered;
  // Events are facts of their own.
  const { events = [], ...handoff } = answered.handoff;
  const materia = materiaOf(cast, turn.socket);
  const broken =
    materia.type === 'utility' && isObject(handoff.payload) ? infrastructureFailure(handoff.payload) : null;
  const changes = changesOf(cast, turn, handoff, output, broken === null);
  const context = contextLine(turn, materia, handoff);
  const common = { cast: cast.id, turn: turn.id, attempt: turn.attempt };
  if (broken !== null) {
    const verdict = deny('UTILITY_FAILED', `${materia.label}: ${broken}`, { socket: turn.socket });
    // What the utility says of its failure is kept, so that a person and the next attempt can see it.
    const extras = { output, usage, verdict, repair: false, changes, ...touchedIn(seen) };
    pen.write({ kind: 'attempt.refused', ...common, ...extras });
    failTurn(pen, cast, turn, verdict);
    return verdict;
  }
  pen.write({
    kind: 'turn.accepted',
    ...common,
    socket: turn.socket,
    ...(turn.item ? { item: turn.item.key } : {}),
    output,
    handoff,
    usage,
    changes,
    ...(truncated ? { truncated } : {}),
    ...(scrubbed.length > 0 ? { scrubbed } : {}),
    ...(context ? { context } : {}),
    ...touchedIn(seen),
    ...(agent ? { agent } : {}),
    ...recordedWork(seen),
  });
  for (const event of events) {
    const { socket, item } = turn;
    const about = { cast: cast.id, turn: turn.id, socket, item: item?.key ?? null, sequence: (cast.events ?? 0) + 1 };
    pen.write({ kind: 'event.emitted', ...about, ...emittedFrom(event) });
  }
  learn(pen, cast, turn, handoff, seen.artifacts);
  if (!turn.item) finishItem(pen, taskOfTurn(pen.state, cast, turn), turn, 'its turn was accepted');
  resetCursors(pen, cast, turn, changes);
  takePlan(pen, cast, turn, handoff, plan);
  warn(pen, cast);
  route(pen, cast, turn);
  return allow(`turn ${turn.id} accepted`);
}

type AnswerNote = { readonly usage: Usage; readonly agent?: AgentNote; readonly touched?: Touched };

function refuse(pen: Pen, cast: Cast, turn: Turn, output: string, answer: AnswerNote, verdict: Denied): Verdict {
  const { usage, agent, touched } = answer;
  const isAgent = materiaOf(cast, turn.socket).type === 'agent';
  const loop = isAgent ? unfinishedLoop(verdict, turn.loops ?? 0) : null;
  // A loop that is spent and still claims to be complete is no slip of the pen.
  const isGivenBack =
    (hasRepairs(cast, turn) && isRepairable(verdict) && !isOnlyLoop(verdict)) || isHasty(cast, turn, verdict);
  const repair = loop !== null || (isAgent && isGivenBack);
  const { id, attempt } = turn;
  const { repairTurnsMax } = cast.rules.limits;
  const extras = { ...(loop ? { loop } : {}), usage, ...(agent ? { agent } : {}), ...(touched ? { touched } : {}) };
  pen.write({ kind: 'attempt.refused', cast: cast.id, turn: id, attempt, output, ...extras, verdict, repair });
  if (repair && verdict.code === 'ILLEGAL_TRANSITION') setToWork(pen, cast, turn);
  warn(pen, cast);
  // An agent that makes no progress is blocked, and a person decides. The cast need not end for it.
  if (verdict.code === 'RETRY_LIMIT') return stopRefused(pen, cast, turn, verdict);
  if (!repair && isGateRefusal(verdict)) {
    if (turn.lane !== null) return stopRefused(pen, cast, turn, verdict);
    fail(pen, cast, verdict, id);
  } else if (!repair) {
    const tried = isOnlyLoop(verdict)
      ? ` after its COMPLETE was held ${turn.loops ?? 0} times`
      : isAgent
        ? ` after ${Math.min(turn.repairs, repairTurnsMax)} of ${repairTurnsMax} repair turns`
        : '';
    const details = { ...verdict.details, refused: verdict.code, socket: turn.socket };
    const reason = `${turn.socket} did not keep its contract${tried}: ${verdict.reason}`;
    failTurn(pen, cast, turn, deny('CONTRACT_VIOLATION', reason, details));
  }
  return verdict;
}

/**
 * An agent that waited, was sent on, and does not say first that it works again: that costs it an attempt and not its turn,
 * whatever was given back before. It is set to work by that, so it does not happen twice unless a person sends it on again.
 */
function isHasty(cast: Cast, turn: Turn, { code }: Denied): boolean {
  const { status } = turn.progress;
  return (
    code === 'ILLEGAL_TRANSITION' && reportsStatus(cast, turn.socket) && status !== null && status !== 'IN_PROGRESS'
  );
}

/** A report that could not follow is given back, and giving it back is the runtime's own move: after it any may follow. */
function setToWork(pen: Pen, cast: Cast, turn: Turn): void {
  const text =
    'Your last report was refused and nothing of it counts. You are set to work again: any status may follow now.';
  pen.write({ kind: 'turn.answered', cast: cast.id, turn: turn.id, from: 'runtime', text });
}

/** A person is asked until the answer fits: each is given by hand, so it cannot go on by itself for ever. */
function hasRepairs(cast: Cast, turn: Turn): boolean {
  const materia = chosenMateria(cast, turn);
  const isPerson =
    materia.type === 'agent' && runnerCan(cast.rules, materia.runner, 'isPerson') && turn.script === null;
  return isPerson || turn.repairs < cast.rules.limits.repairTurnsMax;
}

/** What kept its contract and broke a rule of the ledger keeps that rule's code. */
function isGateRefusal({ code }: Denied): boolean {
  return code === 'SCOPE_VIOLATION' || code === 'ACCEPTANCE_FAILED' || code === 'ILLEGAL_TRANSITION';
}

/** A file that governs the agents was changed: no second attempt is trusted to put that right. */
function isRepairable(verdict: Denied): boolean {
  return !isOfRules(verdict) && verdict.code !== 'RETRY_LIMIT';
}

/** Blocks the task with the code of the rule. Other items go on. */
function stopRefused(pen: Pen, cast: Cast, turn: Turn, refusal: Denied): Verdict {
  const { code, reason } = refusal;
  const common = { cast: cast.id, turn: turn.id, attempt: turn.attempt };
  const row = rowFor(pen, cast, turn);
  pen.write({ kind: 'turn.blocked', ...common, output: '', usage: FREE, code, reason, ...row });
  return giveUp(pen, cast, turn, refusal, {});
}

/** Reads an output in the contract of its socket. A truncated output is never taken for the whole. */
export function readOutput(
  pen: Pen,
  cast: Cast,
  turn: Turn,
  { output, truncated = false, cutShort = false }: Answer,
): Reading {
  const socket = socketOf(cast, turn.socket);
  // Words in a conversation are for a person, even where they read like an answer.
  if (isConversing(cast, turn)) return { ok: true, handoff: saidToPerson(output) };
  const bytes = utf8Length(output);
  const { maxOutputBytes } = socket.limits;
  if (bytes > maxOutputBytes && !truncated) {
    const message = `the output is longer than the ${maxOutputBytes} bytes that are allowed; ${RAISE}`;
    const verdict = deny('CONTRACT_VIOLATION', message, { issues: [{ path: '$', message }] });
    return { ok: false, verdict };
  }
  const read = pen.dialects[socket.contract].read(output, contractFor(cast, turn));
  const smuggled = read.ok ? refusalOfSmuggled(output, read.handoff.payload) : null;
  const reading: Reading = smuggled ? { ok: false, verdict: smuggled } : read;
  if (cutShort) return { ok: false, verdict: cutReason(reading.ok ? null : reading.verdict, CUT_SHORT) };
  if (!truncated || (reading.ok && mayBeTruncated(cast.rules, socket, materiaOf(cast, turn.socket)))) return reading;
  return { ok: false, verdict: cutReason(reading.ok ? null : reading.verdict, truncatedAt(maxOutputBytes)) };
}

function saidToPerson(text: string): Handoff {
  return { outcome: 'ask', satisfied: null, payload: text, note: text };
}

/**
 * Only the text of a utility at the default limit is accepted without its end, and its fact says so. The start of JSON may
 * read like the whole, and a limit that a person set is meant.
 */
function mayBeTruncated(rules: WithCapabilities, { contract, limits }: Socket, { type }: Materia): boolean {
  return (
    type === 'utility' && !dialectCan(rules, contract, 'isJson') && limits.maxOutputBytes === DEFAULTS.maxOutputBytes
  );
}

const RAISE = 'write less, or raise limits.maxOutputBytes of the socket';

/** For an answer that was cut off. It is refused whatever it reads like, because nothing shows that it is whole. */
const CUT_SHORT =
  'the answer was cut off before its end, at the limit of length of the model or at a filter of its provider; answer in fewer words, or with a model that may say more';

function truncatedAt(maxOutputBytes: number): string {
  return `the output is larger than the ${maxOutputBytes} bytes that are allowed and was cut there; ${RAISE}`;
}

/** The missing half is named first, before what is wrong with the rest. */
function cutReason(refusal: Denied | null, message: string): Denied {
  if (!refusal) return deny('CONTRACT_VIOLATION', message, { issues: [{ path: '$', message }] });
  const { code, reason, details } = refusal;
  const issues = Array.isArray(details.issues) ? details.issues : [];
  return deny(code, `${message} (what is left: ${reason})`, {
    ...details,
    issues: [{ path: '$', message }, ...issues],
  });
}
