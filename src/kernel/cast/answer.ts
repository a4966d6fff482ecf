// The second door: what an attempt brought back is read in its socket's dialect and either accepted, given back once
// for repair, or refused for good. A refused output changes nothing and routes nowhere.
import { dialectCan, runnerCan } from '../capabilities.ts';
import type { AgentNote, Answered, Touched } from '../fact.ts';
import { refusedBeforeAccept, type Seen, touchedIn } from '../gate/accept.ts';
import { isOfRules } from '../gate/agent-config.ts';
import { reportsStatus } from '../gate/status.ts';
import type { Input } from '../input.ts';
import { isObject, isText, type JsonObject } from '../json.ts';
import type { LedgerFact } from '../ledger/fact.ts';
import { codeOfResult, knownCode, reasonOfResult } from '../ledger/move.ts';
import { isOnlyLoop, unfinishedLoop } from '../report/status.ts';
import { scrub, scrubJson } from '../secrets.ts';
import { type Cast, FREE, type Turn, type Usage } from '../state.ts';
import { allow, type Denied, deny, type Verdict } from '../verdict.ts';
import { cleanNote } from './agent-note.ts';
import { chosenMateria } from './choice.ts';
import { changesOf, contextLine } from './commit.ts';
import { infrastructureFailure } from './infrastructure-failure.ts';
import { recordedWork } from './item-work.ts';
import { continued, fillLanes } from './lanes.ts';
import { lose } from './lose.ts';
import { fail, materiaOf, type Pen, socketOf } from './pen.ts';
import { planIn, takePlan } from './plan.ts';
import { readOutput } from './read-output.ts';
import { artifactsOf, begunIn, holdForOutcome, learn, refusalOfApproval, takeReport, unfinished } from './report.ts';
import { resetCursors } from './reset-cursors.ts';
import { route } from './route.ts';
import type { Spending } from './spend.ts';
import { block, blockPlanned, finish, ownerOf, planBlocked, taskOfTurn } from './task.ts';
import { unseenBy } from './unseen.ts';
import { warn } from './warn.ts';

type Answer = Extract<Input, { kind: 'attempt.output' }>;

/** What a person vouches for is taken whatever became of the claim under which it was dispatched. */
export function takeOutput(pen: Pen, cast: Cast, turn: Turn, answer: Answer, isVouched = false): Verdict {
  const task = taskOfTurn(pen.state, cast, turn);
  if (!isVouched && turn.fence !== null && task?.fence !== turn.fence) return disown(pen, cast, turn, answer);
  const { truncated } = answer;
  const usage = answer.usage ?? FREE;
  const reading = readOutput(pen, cast, turn, answer);
  // Nothing is stored or handed on with a secret in it; from here on the scrubbed text and value are the output.
  const output = scrub(answer.output);
  const agent = cleanNote(answer.agent);
  const told = { usage, ...(agent ? { agent } : {}) };
  if (!reading.ok) return refuse(pen, cast, turn, output.text, told, cleanVerdict(reading.verdict));
  const payload = scrubJson(reading.handoff.payload);
  const scrubbed = [...new Set([...output.found, ...payload.found].map(({ kind }) => kind))].sort();
  const { note } = reading.handoff;
  const clean = note === undefined ? {} : { note: scrub(note).text };
  const handoff = { ...reading.handoff, payload: payload.value, ...clean };
  const answered = { output: output.text, handoff, ...told, truncated: truncated === true, scrubbed };
  // A permission is sealed where files and programs can be looked at, and so is evidence: they go by way of the verification.
  const isLookedAt = handoff.outcome === 'approval' || artifactsOf(cast, turn, handoff).length > 0;
  if (turn.seal === null && !isLookedAt) return conclude(pen, cast, turn, answered, NOTHING_SEEN);
  pen.write({ kind: 'attempt.answered', cast: cast.id, turn: turn.id, attempt: turn.attempt, ...answered });
  return allow(`turn ${turn.id} is verified`);
}

/** What was read is accepted when what the turn did beside it is in order too. */
export function takeVerification(pen: Pen, cast: Cast, turn: Turn, seen: Seen): Verdict {
  const { answered } = turn;
  if (!answered) return deny('NOT_ALLOWED_NOW', `turn ${turn.id} has nothing to verify`);
  const task = taskOfTurn(pen.state, cast, turn);
  // A person gave the paths back before it was looked at, and others may have changed them since.
  if (turn.fence !== null && task && task.fence === null) return disown(pen, cast, turn, answered);
  if (seen.unseen !== undefined) {
    const refusal = unseenBy(turn, seen.unseen);
    fail(pen, cast, refusal, turn.id);
    return refusal;
  }
  return conclude(pen, cast, turn, answered, seen);
}

const NOTHING_SEEN: Seen = { seal: null, changes: {}, checks: {} };

function conclude(pen: Pen, cast: Cast, turn: Turn, answered: Answered, seen: Seen): Verdict {
  const { handoff, output } = answered;
  const refusal = refusedBeforeAccept(pen.state, cast, turn, handoff, seen);
  if (refusal) return refuse(pen, cast, turn, output, { ...answered, ...touchedIn(seen) }, refusal);
  const unsealed = refusalOfApproval(handoff, seen);
  if (unsealed) return refuse(pen, cast, turn, output, { ...answered, ...touchedIn(seen) }, unsealed);
  const outcome = unfinished(handoff);
  if (outcome) {
    const verdict = takeReport(pen, cast, turn, answered, outcome, {
      ...seen,
      ...touchedIn(seen),
    });
    warn(pen, cast);
    return verdict;
  }
  const isBlocked = handoff.outcome === 'blocked' && !canRework(cast, turn);
  const begun = isBlocked ? null : begunIn(pen, cast, turn);
  if (begun) return holdForOutcome(pen, cast, turn, answered, touchedIn(seen), begun);
  const plan = planIn(pen, cast, turn, handoff);
  if (!plan.ok) return refuse(pen, cast, turn, output, { ...answered, ...touchedIn(seen) }, plan.refusal);
  if (isBlocked) return stopBlocked(pen, cast, turn, answered, seen);
  return accept(pen, cast, turn, answered, seen, plan.facts);
}

/**
 * The claim of its task has ended meanwhile, so the answer comes too late; the turn is owed again under a new claim. What must
 * not run twice has run, and a person says what becomes of it.
 */
function disown(pen: Pen, cast: Cast, turn: Turn, spending: Spending): Verdict {
  const reason = `the claim under fence ${turn.fence} is over; what came back is not taken`;
  lose(pen, cast, turn, true, reason, spending);
  return deny('CONCURRENCY_CONFLICT', reason, { turn: turn.id, fence: turn.fence });
}

function canRework(cast: Cast, turn: Turn): boolean {
  return socketOf(cast, turn.socket).edges.some(({ when }) => when === 'not_satisfied');
}

/** The agent cannot go on: its task is blocked and gives its paths back, others go on, and a person is told. */
function stopBlocked(pen: Pen, cast: Cast, turn: Turn, answered: Answered, seen: Seen): Verdict {
  const { output, handoff, usage, agent } = answered;
  const task = taskOfTurn(pen.state, cast, turn);
  const result = isObject(handoff.payload) ? handoff.payload : {};
  // Only an operator's result names a code; in any other report such a word means nothing.
  const isResult = dialectCan(cast.rules, socketOf(cast, turn.socket).contract, 'reportsTask');
  const said = (isResult && (task ? codeOfResult(task, result) : knownCode(result.x_code))) || null;
  const code = said ?? (reportsStatus(cast, turn.socket) ? 'AGENT_BLOCKED' : 'MISSING_REQUIRED_INPUT');
  const reason = handoff.note ?? reasonOfResult(result);
  const common = { cast: cast.id, turn: turn.id, attempt: turn.attempt };
  const told = { ...touchedIn(seen), ...(agent ? { agent } : {}) };
  const row = rowFor(pen, cast, turn);
  pen.write({ kind: 'turn.blocked', ...common, output, usage, code, reason, ...told, ...row });
  learn(pen, cast, turn, handoff, seen.artifacts);
  warn(pen, cast);
  return giveUp(pen, cast, turn, deny(code, reason, { socket: turn.socket }), result);
}

/** An agent that reports with a status leaves its gap in the ledger, also where its turn was no task so far. */
function rowFor(pen: Pen, cast: Cast, turn: Turn): { readonly task?: string } {
  const task = reportsStatus(cast, turn.socket) ? planBlocked(pen, cast, turn) : null;
  return task === null ? {} : { task };
}

/** Ends what a blocked turn had begun: its task is blocked, and where nothing else goes on the cast waits. */
export function giveUp(pen: Pen, cast: Cast, turn: Turn, refusal: Denied, result: JsonObject): Verdict {
  const { code, reason } = refusal;
  const task = taskOfTurn(pen.state, cast, turn);
  const next = isObject(result.agent_status) ? result.agent_status.next_action : undefined;
  const evidence = { turn: turn.id, result, ...(isText(next) ? { blocker: reason, next_step: next } : {}) };
  if (task) block(pen, task, code, reason, evidence);
  if (task) blockPlanned(pen, task, ownerOf(cast, turn.socket), code, reason, evidence);
  if (turn.lane !== null) fillLanes(pen, cast, turn.lane);
  else {
    const why = continued(cast, `${turn.socket} is blocked: ${reason}`, code);
    pen.write({ kind: 'cast.waiting', cast: cast.id, code, reason: why });
  }
  return refusal;
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
  const { output, handoff, usage, truncated, scrubbed, agent } = answered;
  const materia = materiaOf(cast, turn.socket);
  const broken =
    materia.type === 'utility' && isObject(handoff.payload) ? infrastructureFailure(handoff.payload) : null;
  const changes = changesOf(cast, turn, handoff, output, broken === null);
  const context = contextLine(turn, materia, handoff);
  const common = { cast: cast.id, turn: turn.id, attempt: turn.attempt };
  if (broken !== null) {
    const verdict = deny('UTILITY_FAILED', `${materia.label}: ${broken}`, { socket: turn.socket });
    // What the utility says of its failure is kept, so that a person and the next attempt can see it.
    const told = { output, usage, verdict, repair: false, changes, ...touchedIn(seen) };
    pen.write({ kind: 'attempt.refused', ...common, ...told });
    fail(pen, cast, verdict, turn.id);
    return verdict;
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
    ...touchedIn(seen),
    ...(agent ? { agent } : {}),
    ...recordedWork(seen),
  });
  learn(pen, cast, turn, handoff, seen.artifacts);
  if (!turn.item) finish(pen, taskOfTurn(pen.state, cast, turn), turn, 'its turn was accepted');
  resetCursors(pen, cast, turn, changes);
  takePlan(pen, cast, turn, handoff, plan);
  warn(pen, cast);
  route(pen, cast, turn);
  return allow(`turn ${turn.id} accepted`);
}

type Told = { readonly usage: Usage; readonly agent?: AgentNote; readonly touched?: Touched };

function refuse(pen: Pen, cast: Cast, turn: Turn, output: string, answer: Told, verdict: Denied): Verdict {
  const { usage, agent, touched } = answer;
  const isAgent = materiaOf(cast, turn.socket).type === 'agent';
  const loop = isAgent ? unfinishedLoop(verdict, turn.loops ?? 0) : null;
  // A loop that is spent and still claims to be complete is no slip of the pen.
  const isGivenBack =
    (hasRepairs(cast, turn) && isMendable(verdict) && !isOnlyLoop(verdict)) || isHasty(cast, turn, verdict);
  const repair = loop !== null || (isAgent && isGivenBack);
  const { id, attempt } = turn;
  const { repairTurnsMax } = cast.rules.limits;
  const told = { ...(loop ? { loop } : {}), usage, ...(agent ? { agent } : {}), ...(touched ? { touched } : {}) };
  pen.write({ kind: 'attempt.refused', cast: cast.id, turn: id, attempt, output, ...told, verdict, repair });
  if (repair && verdict.code === 'ILLEGAL_TRANSITION') setToWork(pen, cast, turn);
  warn(pen, cast);
  // An agent that never gets further is blocked, and a person is told: the cast need not end for it.
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
    fail(
      pen,
      cast,
      deny('CONTRACT_VIOLATION', `${turn.socket} did not keep its contract${tried}: ${verdict.reason}`, details),
      id,
    );
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
function isMendable(verdict: Denied): boolean {
  return !isOfRules(verdict) && verdict.code !== 'RETRY_LIMIT';
}

/** The task is blocked with the code of the rule, and the items beside it go on. */
function stopRefused(pen: Pen, cast: Cast, turn: Turn, refusal: Denied): Verdict {
  const { code, reason } = refusal;
  const common = { cast: cast.id, turn: turn.id, attempt: turn.attempt };
  const row = rowFor(pen, cast, turn);
  pen.write({ kind: 'turn.blocked', ...common, output: '', usage: FREE, code, reason, ...row });
  return giveUp(pen, cast, turn, refusal, {});
}
