// A prepared turn is dispatched when every check before dispatch agrees. Its brief is written here, once; the agent gets
// exactly the text that is recorded.
import { runnerCan } from '../capabilities.ts';
import type { Fact } from '../fact.ts';
import {
  BEFORE_CLAIM,
  BEFORE_DISPATCH,
  type DispatchContext,
  dispatchContext,
  isClaimable,
  isLiftedByTime,
  refusalOfTrust,
} from '../gate/before-dispatch.ts';
import { hasOwnPaths } from '../graph/route.ts';
import type { Input } from '../input.ts';
import { isObject } from '../json.ts';
import { claimTask, isWorthNoting, refusalOfClaim } from '../ledger/claim.ts';
import { refuseTask } from '../ledger/fact.ts';
import { compareRank } from '../ledger/rank.ts';
import type { Task } from '../ledger/state.ts';
import { inputOf } from '../report/input.ts';
import { fail, type Pen, type State } from '../state.ts';
import { load } from '../trust/decide.ts';
import { block } from '../trust/quarantine.ts';
import { isAttested } from '../trust/watch.ts';
import { allow, type Denied, deny, firstRefusal, type Verdict } from '../verdict.ts';
import { briefFor } from './brief.ts';
import { reservationFor } from './budget.ts';
import { refusalOfFullLoop, taskOfTurn } from './item.ts';
import { beginsOver, isBound, worksInPlace } from './lock-scope.ts';
import { clashNote, noteKey, notesFor, saidFor } from './notes.ts';
import {
  chosenMateria,
  isPersons,
  isScripted,
  materiaOf,
  nextScripted,
  ownerOf,
  reportsStatus,
  scriptedTurn,
} from './rules.ts';
import { fillAllLanes, fillLanes } from './start.ts';
import { type Cast, type ParkedWork, postponedBy, type Session, type Turn } from './state.ts';
import { reopen } from './task.ts';
import { beginWait, waitOf } from './wait.ts';

/** The place of the turn is ready. */
export function dispatch(pen: Pen, cast: Cast, turn: Turn, input: Extract<Input, { kind: 'turn.prepared' }>): Verdict {
  if (cast.status !== 'running' || turn.phase !== 'owed' || input.attempt !== turn.attempt + 1) {
    return deny('STALE_ATTEMPT', `attempt ${input.attempt} of turn ${turn.id} is not owed`);
  }
  noteClashes(pen, cast, turn, input.clashes ?? []);
  return startAttempt(pen, cast, turn, input);
}

/** Work that was merged back and clashes is rework. A turn that is put off is prepared again, and noted once. */
function noteClashes(pen: Pen, cast: Cast, turn: Turn, files: readonly string[]): void {
  const item = turn.item?.key ?? null;
  if (files.length === 0) return;
  const reason = clashNote(files);
  const notes = cast.rework[noteKey(turn.socket, item)] ?? [];
  if (notes.some((note) => note.reason === reason)) return;
  const { label } = materiaOf(cast, turn.socket);
  const target = { from: turn.socket, label, target: turn.socket, when: 'not_satisfied' } as const;
  const note = { ...target, item, itemLabel: turn.item?.label ?? null, reason };
  pen.write({ kind: 'rework.noted', cast: cast.id, note });
}

type Prepared = Extract<Input, { kind: 'turn.prepared' }>;

/** Whether anything outside has to be looked at before a dispatch. A script that writes nothing says all there is to say. */
function needsPreparing({ state }: Pen, cast: Cast, turn: Turn): boolean {
  if (restoreOf(cast, turn)) return true;
  return isWatched(state, cast, turn) || isAttested(state.trust, cast.rules, chosenMateria(cast, turn));
}

/** What is merged back before the first attempt of a turn. */
export function restoreOf({ restores }: Cast, { task }: Turn): ParkedWork | null {
  return (task !== null && restores?.[task]) || null;
}

/** Whether the changes of the turn are inspected from outside. */
export function isWatched(state: Pick<State, 'ledger'>, cast: Cast, turn: Turn): boolean {
  // What only waits changes nothing.
  if (waitOf(cast, turn.socket)) return false;
  if (!isScripted(cast, turn.socket)) return true;
  const next = nextScripted(cast, turn);
  const script = next ? scriptedTurn(cast, next) : undefined;
  const writes = isObject(script) && isObject(script.$turn) && script.$turn.write !== undefined;
  const task = taskOfTurn(state, cast, turn);
  return (writes && isBound(cast, turn.socket)) || (task !== null && Object.keys(task.checkers).length > 0);
}

/**
 * Starts every owed turn that has nothing to wait for, in the decision that made it owed: it saves a sync to disk. Where another
 * process drives the cast, or none does, the turn stays owed to the driver: an attempt that a driver finds begun, it takes for cut off.
 */
export function startReady(pen: Pen, cast: Cast): void {
  if (!pen.drives(cast.id)) return;
  const tried = new Set<number>();
  const isReady = (turn: Turn) => turn.phase === 'owed' && !tried.has(turn.id) && !needsPreparing(pen, cast, turn);
  // One that is put off may make room for another.
  for (let turn = next(); turn; turn = next()) {
    tried.add(turn.id);
    startAttempt(pen, cast, turn);
  }
  function next(): Turn | undefined {
    return cast.status === 'running' ? Object.values(cast.turns).find(isReady) : undefined;
  }
}

function startAttempt(pen: Pen, cast: Cast, turn: Turn, prepared: Prepared | null = null): Verdict {
  const { seal, trust } = prepared ?? {};
  const context = dispatchContext(pen.state, cast, turn, { at: pen.at, ranUntil: pen.ranUntil(cast), prepared });
  const refused = firstRefusal(BEFORE_DISPATCH, context);
  noteTrust(pen, context, refused?.by ?? null);
  if (!refused || isOfLedger(refused.by)) takeTask(pen, cast, turn);
  if (refused) return putOff(pen, cast, turn, refused);
  const task = taskOfTurn(pen.state, cast, turn);
  const attempt = turn.attempt + 1;
  const input = reportsStatus(cast, turn.socket) ? inputOf(pen.state, cast, turn) : null;
  const isAgents = materiaOf(cast, turn.socket).type === 'agent';
  const sayings = isAgents ? saidFor(cast, turn).map(({ text }) => text) : [];
  const session = otherSession(cast, turn, trust?.attestation?.promptHash ?? null);
  pen.write({
    kind: 'attempt.started',
    cast: cast.id,
    turn: turn.id,
    attempt,
    brief: briefFor(
      pen,
      cast,
      { ...turn, input, ...(session === undefined ? {} : { session }) },
      trust?.attestation !== undefined && trust.attestation !== null,
      sayings,
    ),
    script: nextScripted(cast, turn),
    reserved: reservationFor(cast, turn.socket),
    // The first attempt's seal counts for the whole turn: a second attempt must not cover up what the first one changed.
    ...(seal === undefined || turn.seal !== null ? {} : { seal }),
    ...(task?.fence ? { fence: task.fence } : {}),
    ...(trust?.attestation ? { attestation: trust.attestation } : {}),
    ...(trust?.envelope ? { envelope: trust.envelope } : {}),
    ...(input ? { input } : {}),
    ...(sayings.length > 0 ? { told: sayings } : {}),
    ...(session === undefined ? {} : { session }),
  });
  if (isPersons(cast, turn)) pen.write({ kind: 'turn.asked', cast: cast.id, turn: turn.id, attempt });
  const wait = waitOf(cast, turn.socket);
  if (wait) beginWait(pen, cast, turn, wait);
  return allow(`attempt ${attempt} of turn ${turn.id} started`);
}

/**
 * The conversation that the attempt has instead of the one that the turn is in; undefined where that one simply goes on.
 * Rework goes on in the conversation in which the agent did the work, with the same prompt and model only. An attempt that
 * was cut off has its files put back: a conversation that speaks of them is left.
 */
function otherSession(cast: Cast, turn: Turn, promptHash: string | null): Session | null | undefined {
  if (turn.attempt > 0) {
    const isPutBack = beginsOver(cast, turn) && !worksInPlace(cast, turn) && hasOwnPaths(cast.rules, turn.socket);
    return isPutBack && turn.session !== null ? null : undefined;
  }
  const item = turn.item?.key ?? null;
  const kept = cast.sessions?.[noteKey(turn.socket, item)];
  const materia = chosenMateria(cast, turn);
  if (!kept || materia.type !== 'agent' || notesFor(cast, turn.socket, item).length === 0) return undefined;
  if (!runnerCan(cast.rules, materia.runner, 'keepsSession') || materia.sandbox !== undefined) return undefined;
  const isSame = kept.session.runner === materia.runner && kept.model === materia.model;
  return isSame && kept.promptHash === promptHash ? kept.session : undefined;
}

/** Loads the registry that was seen once the trust check is reached, and blocks an agent at fault with the refusal. */
function noteTrust(pen: Pen, context: DispatchContext, by: Refused['by'] | null): void {
  const { cast, turn, prepared } = context;
  const sighting = prepared?.trust;
  const atTrust = BEFORE_DISPATCH.findIndex(({ name }) => name === 'trust');
  if (by && BEFORE_DISPATCH.indexOf(by) < atTrust) return;
  const found = by?.name === 'trust' ? refusalOfTrust(context)?.found : null;
  if (sighting?.origin === 'workspace' && sighting.registry) load(pen, sighting.registry, sighting.texts);
  // The sighting itself is noted, also where the agent is blocked already.
  if (found) block(pen, sighting?.refusal ?? found, { cast: cast.id, turn: turn.id });
}

type Refused = NonNullable<ReturnType<typeof firstRefusal<(typeof BEFORE_DISPATCH)[number]>>>;

/** What time can lift keeps the turn owed; anything else ends the cast. */
function putOff(pen: Pen, cast: Cast, turn: Turn, { by, refusal }: Refused): Verdict {
  const gate = by.name;
  if (!isLiftedByTime(refusal)) fail(pen, cast, { ...refusal, details: { ...refusal.details, gate } }, turn.id);
  else {
    pen.write({ kind: 'turn.held', cast: cast.id, turn: turn.id, ...postponedBy(refusal), gate });
    if (turn.lane !== null) refillLanes(pen, cast, turn.lane);
  }
  return refusal;
}

/** Tries everything again that was put off, if something has changed that it may have waited for. */
export function startPostponed(pen: Pen, facts: readonly Fact[]): void {
  if (!facts.some(lifts)) return;
  for (const { cast, turn } of postponedTurns(pen)) {
    if (cast.status === 'running') tryAgain(pen, cast, turn);
  }
  for (const cast of Object.values(pen.state.casts)) {
    fillAllLanes(pen, cast);
    if (cast.status === 'running') startReady(pen, cast);
  }
}

function lifts(fact: Fact): boolean {
  return (fact.kind === 'task.moved' && fact.releases) || fact.kind === 'ledger.unheld';
}

/** Tries what a cast put off once more, because its time has come. */
export function startDue(pen: Pen, cast: Cast): void {
  for (const turn of Object.values(cast.turns)) if (turn.phase === 'held') tryAgain(pen, cast, turn);
  fillAllLanes(pen, cast);
}

function postponedTurns(pen: Pen): readonly { readonly cast: Cast; readonly turn: Turn }[] {
  const held = Object.values(pen.state.casts).flatMap((cast) =>
    Object.values(cast.turns)
      .filter(({ phase }) => phase === 'held')
      .map((turn) => ({ cast, turn, task: taskOfTurn(pen.state, cast, turn) })),
  );
  return held.sort((a, b) => rank(a.task, b.task, pen.at));
}

function rank(a: Task | null, b: Task | null, at: number): number {
  if (!a || !b) return Number(a !== null) - Number(b !== null);
  return compareRank(a, b, at);
}

/** A lock may be given back before the time at which a turn that waits for it is tried again at the latest. */
function isTooEarly({ held }: Turn, at: number): boolean {
  return held !== null && held.code !== 'LOCK_CONFLICT' && (held.until ?? 0) > at;
}

/** A turn of a loop was put off and takes no place any more: one that waits for a place, or the next item, may have it. */
function refillLanes(pen: Pen, cast: Cast, lane: string): void {
  for (const turn of Object.values(cast.turns)) {
    if (turn.lane === lane && turn.held?.code === 'NOT_ALLOWED_NOW') tryAgain(pen, cast, turn);
  }
  fillLanes(pen, cast, lane);
}

function tryAgain(pen: Pen, cast: Cast, turn: Turn): void {
  if (pen.ledger.hold || isTooEarly(turn, pen.due) || refusalOfFullLoop(cast, turn)) return;
  const task = taskOfTurn(pen.state, cast, turn);
  const refusal = task?.status === 'todo' ? refusalOfClaim(pen.ledger, task, ownerOf(cast, turn.socket), pen.at) : null;
  const common = { cast: cast.id, turn: turn.id };
  if (!refusal || !task) return pen.write({ kind: 'turn.freed', ...common });
  if (refusal.code === 'LOCK_CONFLICT' && isWorthNoting(task, pen.at)) refuseTask(pen, 'claim', task, refusal);
  const held = postponedBy(refusal);
  if (held.until !== turn.held?.until) pen.write({ kind: 'turn.held', ...common, ...held });
}

/** Takes the task of a turn for it, if it has one to take. Answers what is in the way, or null. */
export function claimFor(pen: Pen, cast: Cast, turn: Turn): Denied | null {
  const context = dispatchContext(pen.state, cast, turn, { at: pen.at, ranUntil: pen.at });
  const refused = firstRefusal(BEFORE_CLAIM, context);
  // What the ledger itself refuses is noted there.
  if (!refused || isOfLedger(refused.by)) takeTask(pen, cast, turn);
  return refused?.refusal ?? null;
}

/** Claims the task of a turn, or notes the refusal in the ledger. */
function takeTask(pen: Pen, cast: Cast, turn: Turn): void {
  const task = taskOfTurn(pen.state, cast, turn);
  if (!isClaimable(task)) return;
  reopen(pen, task, 'the cast goes on');
  claimTask(pen, task, ownerOf(cast, turn.socket));
}

function isOfLedger({ name }: { readonly name: string }): boolean {
  return name.startsWith('claim: ');
}

/** Where the claim timed out or a person took it away, the task is claimed again. */
export function reclaim(pen: Pen, cast: Cast, turn: Turn): Denied | null {
  const task = taskOfTurn(pen.state, cast, turn);
  return task && task.fence !== turn.fence ? claimFor(pen, cast, turn) : null;
}
