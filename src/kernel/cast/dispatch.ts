// The first door: a prepared turn is dispatched when every gate agrees. Its brief is written here, once; the agent gets
// exactly the text that is recorded.
import { CODES } from '../codes.ts';
import { refusalOfAgentConfigIn } from '../gate/accept.ts';
import { heldBy, isLiftedByTime, refusedBeforeDispatch } from '../gate/dispatch.ts';
import { reportsStatus } from '../gate/status.ts';
import { refusedByTrust } from '../gate/trust.ts';
import type { Input } from '../input.ts';
import { isObject, isString } from '../json.ts';
import { inputOf } from '../report/input.ts';
import type { Cast, State, Turn } from '../state.ts';
import { load } from '../trust/decide.ts';
import { keysWanted } from '../trust/once.ts';
import { block } from '../trust/quarantine.ts';
import type { Refusal, Sighting } from '../trust/sighting.ts';
import { keyOfBlocked } from '../trust/state.ts';
import { isAttested, trustWatchOf } from '../trust/watch.ts';
import { allow, type Denied, deny, type Verdict } from '../verdict.ts';
import { isPersons } from './asked.ts';
import { briefFor } from './brief.ts';
import { reservationFor } from './budget.ts';
import { chosenMateria } from './choice.ts';
import { refillPlaces } from './held.ts';
import { isBound } from './lock-scope.ts';
import { fail, type Pen } from './pen.ts';
import { isScripted, nextScripted, scriptedTurn } from './script.ts';
import { claimFor, taskOfTurn } from './task.ts';
import { unseenBy } from './unseen.ts';

/** The place of the turn is ready. */
export function dispatch(pen: Pen, cast: Cast, turn: Turn, input: Extract<Input, { kind: 'turn.prepared' }>): Verdict {
  if (cast.status !== 'running' || turn.phase !== 'owed' || input.attempt !== turn.attempt + 1) {
    return deny('STALE_ATTEMPT', `attempt ${input.attempt} of turn ${turn.id} is not owed`);
  }
  if (keysWanted(input).some((key) => input.used && Object.hasOwn(input.used, key))) {
    const reason = `the id of the handoff to ${turn.socket} was used before; prepare the turn again with a new one`;
    return putOff(pen, cast, turn, deny('REPLAY', reason, { turn: turn.id }));
  }
  if (input.unseen !== undefined) return putOff(pen, cast, turn, unseenBy(turn, input.unseen));
  // What an attempt changed would govern the next one of the turn before anybody has looked at either.
  const ordered = refusalOfAgentConfigIn(pen.state, cast, turn, input.orders ?? {});
  if (ordered) return putOff(pen, cast, turn, ordered);
  return startAttempt(pen, cast, turn, input);
}

type Prepared = Pick<Extract<Input, { kind: 'turn.prepared' }>, 'seal' | 'trust'>;

/** Whether anything outside has to be looked at before a dispatch. A script that writes nothing says all there is to say. */
export function needsPreparing({ state }: Pen, cast: Cast, turn: Turn): boolean {
  return isWatched(state, cast, turn) || isAttested(state.trust, cast.rules, chosenMateria(cast, turn));
}

/** Whether what the turn does beside its answer is to be seen from outside. */
export function isWatched(state: Pick<State, 'ledger'>, cast: Cast, turn: Turn): boolean {
  if (!isScripted(cast, turn.socket)) return true;
  const next = nextScripted(cast, turn);
  const said = next ? scriptedTurn(cast, next) : undefined;
  const writes = isObject(said) && isObject(said.$turn) && said.$turn.write !== undefined;
  const task = taskOfTurn(state, cast, turn);
  return (writes && isBound(cast, turn.socket)) || (task !== null && Object.keys(task.checkers).length > 0);
}

/** Starts every owed turn that has nothing to wait for, in the decision that made it owed: it saves a sync to disk. */
export function startReady(pen: Pen, cast: Cast): void {
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

function startAttempt(pen: Pen, cast: Cast, turn: Turn, { seal, trust }: Prepared = {}): Verdict {
  const refusal = refusedBeforeDispatch(pen.state, cast, pen.at, pen.ranUntil(cast));
  if (refusal) return putOff(pen, cast, turn, refusal);
  const untrusted = refusalOfTrust(pen, cast, turn, trust);
  if (untrusted) return putOff(pen, cast, turn, untrusted);
  const unowned = claimFor(pen, cast, turn);
  if (unowned) return putOff(pen, cast, turn, unowned);
  const task = taskOfTurn(pen.state, cast, turn);
  const attempt = turn.attempt + 1;
  const input = reportsStatus(cast, turn.socket) ? inputOf(pen.state, cast, turn) : null;
  pen.write({
    kind: 'attempt.started',
    cast: cast.id,
    turn: turn.id,
    attempt,
    brief: briefFor(pen, cast, { ...turn, input }, trust?.attestation !== undefined && trust.attestation !== null),
    script: nextScripted(cast, turn),
    reserved: reservationFor(cast, turn.socket),
    // The first attempt's seal counts for the whole turn: a second attempt must not cover up what the first one changed.
    ...(seal === undefined || turn.seal !== null ? {} : { seal }),
    ...(task?.fence ? { fence: task.fence } : {}),
    ...(trust?.attestation ? { attestation: trust.attestation } : {}),
    ...(trust?.envelope ? { envelope: trust.envelope } : {}),
    ...(input ? { input } : {}),
  });
  if (isPersons(cast, turn)) pen.write({ kind: 'turn.asked', cast: cast.id, turn: turn.id, attempt });
  return allow(`attempt ${attempt} of turn ${turn.id} started`);
}

/** What is found to be wrong with an agent is blocked with the refusal. */
function refusalOfTrust(pen: Pen, cast: Cast, turn: Turn, sighting: Sighting | undefined): Denied | null {
  const { trust } = pen.state;
  if (sighting?.origin === 'workspace' && sighting.registry) load(pen, sighting.registry, sighting.texts);
  const source = trustWatchOf(trust, cast, turn)?.source ?? null;
  const refusal = refusedByTrust(trust, cast.rules, chosenMateria(cast, turn), source, sighting);
  if (!refusal) return null;
  // What was seen is what is noted, also where the agent is blocked already.
  block(pen, sighting?.refusal ?? refusal, { cast: cast.id, turn: turn.id });
  const { code, reason, details } = refusal.verdict;
  return deny(code, `${turn.socket}: ${reason}${wayOut(refusal)}`, { ...details, socket: turn.socket });
}

const SUGGESTED = 'details.suggested_target where one is named';

/** What a person does about it. A refusal of something that is blocked says so itself. */
function wayOut({ verdict, blocks }: Refusal): string {
  if (verdict.code === 'QUARANTINED' || verdict.code === 'REGISTRY_UNUSABLE') return '';
  // The text of a cast is frozen: nothing but another cast, or the old lock, brings the two together.
  if (verdict.code === 'HASH_MISMATCH')
    return '; it was started with another prompt than is locked: `baton check` says whether the configuration still has it; if not, start a new cast';
  const release = blocks ? `; then: baton registry release ${keyOfBlocked(blocks)} --reason "…"` : '';
  const target = verdict.details.suggested_target;
  const named = isObject(target) && isString(target.agent_id) ? target.agent_id : null;
  const suggested = named === null ? '' : `; suggested target: ${named}`;
  // Who reads this has no details beside it.
  const fix = CODES[verdict.code].fix.replace(SUGGESTED, named ?? 'an agent within its boundaries');
  return `${suggested}; ${fix}${release}`;
}

/** What time can lift keeps the turn owed; anything else ends the cast. */
function putOff(pen: Pen, cast: Cast, turn: Turn, refusal: Denied): Verdict {
  if (!isLiftedByTime(refusal)) fail(pen, cast, refusal, turn.id);
  else {
    pen.write({ kind: 'turn.held', cast: cast.id, turn: turn.id, ...heldBy(refusal) });
    if (turn.lane !== null) refillPlaces(pen, cast, turn.lane);
  }
  return refusal;
}
