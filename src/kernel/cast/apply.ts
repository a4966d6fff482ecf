// What each fact changes in its cast, in place. There are no rules here, and nothing can fail.
import { type ByKind, rowFor } from '../by-kind.ts';
import { loopOf } from '../graph/route.ts';
import { taskKey } from '../ledger/state.ts';
import { withReport } from '../report/consolidation.ts';
import { SET_TO_WORK } from '../report/status.ts';
import {
  accepted,
  failed,
  forgetItem,
  forgetItems,
  interrupted,
  NO_ROUNDS,
  newTurn,
  refused,
  reported,
  settleAttempt,
  stopped,
  tracked,
} from './bookkeeping.ts';
import { elapsedOf } from './budget.ts';
import { committed } from './data.ts';
import type { CastFact } from './fact.ts';
import { mayPark } from './item.ts';
import { noteKey, noteOver, REWORK_NOTES_MAX, saidWithout, withoutList, withoutNoted, withSpoken } from './notes.ts';
import { isConversing } from './rules.ts';
import type { Cast, ReworkNote, Turn } from './state.ts';

/** The facts that change a cast alone. */
type OwnFact = Exclude<CastFact, { kind: 'cast.started' | 'items.planned' | 'run.named' }>;

/** What each fact changes in its cast. */
const ROWS: ByKind<OwnFact, [cast: Cast], [at: number]> = {
  'turn.started': (cast, fact) => {
    cast.turnsStarted = fact.turn;
    cast.visits[fact.socket] = fact.visit;
    cast.turns[fact.turn] = newTurn(fact);
    if (fact.lane !== undefined && cast.lanes[fact.lane]) walked(cast, fact.lane, fact);
    else cast.guard = tracked(cast.guard, fact.item?.key ?? '', fact.socket, fact.budgeted);
  },
  'turn.held': (cast, fact) => {
    const { code, reason, until, gate } = fact;
    const held = { code, reason, until, ...(gate === undefined ? {} : { gate }) };
    update(cast, fact.turn, { phase: 'held', held });
  },
  'turn.freed': (cast, fact) => {
    update(cast, fact.turn, { phase: 'owed', held: null });
  },
  'turn.blocked': (cast, fact) => {
    const turn = settleAttempt(cast, fact);
    const task = fact.task === undefined ? {} : { task: fact.task, fence: null };
    if (turn) Object.assign(turn, { phase: 'blocked', brief: null, answered: null, ...task });
  },
  'turn.reported': reported,
  'turn.answered': (cast, fact) => {
    const turn = cast.turns[fact.turn];
    if (fact.script !== undefined) cast.scripted[fact.script] = (cast.scripted[fact.script] ?? 0) + 1;
    if (!turn) return;
    Object.assign(turn, { phase: 'owed', asks: null, progress: SET_TO_WORK });
    const isTalk = isConversing(cast, turn);
    if (fact.finalizes) turn.finalizing = true;
    if (fact.to !== undefined) turn.exchange = withSpoken(turn.exchange, { from: 'agent', text: fact.to });
    turn.exchange = withSpoken(turn.exchange, { from: fact.from, text: fact.text }, isTalk);
  },
  'report.noted': (cast, fact) => {
    cast.reports = withReport(cast.reports, fact.note);
  },
  'lanes.opened': (cast, fact) => {
    // An item that is not over keeps its worktree, also where the loop is entered once more.
    cast.lanes[fact.loop] = {
      ...{ entry: fact.entry, from: cast.lastAgent, held: null },
      walks: cast.lanes[fact.loop]?.walks ?? {},
    };
  },
  'lanes.held': (cast, fact) => {
    const lanes = cast.lanes[fact.loop];
    if (lanes) lanes.held = { code: fact.code, reason: fact.reason, until: fact.until };
  },
  'lane.ended': (cast, fact) => {
    leaveLane(cast, fact.turn);
    if (fact.item !== null) forgetItem(cast, fact.item);
    delete cast.turns[fact.turn];
  },
  'attempt.started': (cast, fact, at) => {
    update(cast, fact.turn, {
      phase: 'running',
      attempt: fact.attempt,
      brief: fact.brief,
      script: fact.script,
      reserved: fact.reserved,
      startedAt: at,
      ranAtStart: elapsedOf(cast, at),
      attestation: fact.attestation ?? null,
      handoffId: fact.envelope?.handoff_id ?? null,
      input: fact.input ?? null,
      ...(fact.seal === undefined ? {} : { seal: fact.seal }),
      ...(fact.fence === undefined ? {} : { fence: fact.fence }),
      ...(fact.session === undefined ? {} : { session: fact.session }),
    });
    delete cast.turns[fact.turn]?.interrupted;
    delete cast.restores?.[cast.turns[fact.turn]?.task ?? ''];
    const turn = cast.turns[fact.turn];
    if (!turn || !fact.told) return;
    const left = saidWithout(cast, turn);
    if (left.length > 0) cast.said = left;
    else delete cast.said;
    for (const text of fact.told) turn.exchange = withSpoken(turn.exchange, { from: 'person', text });
  },
  'cast.said': (cast, fact) => {
    cast.said = [...(cast.said ?? []), { item: fact.item, text: fact.text, told: [] }];
    for (const turn of fact.interrupts ?? []) update(cast, turn, { interrupted: true });
  },
  'attempt.answered': (cast, fact) => {
    const { output, handoff, usage, truncated, scrubbed, agent } = fact;
    const answered = { output, handoff, usage, truncated, scrubbed, ...(agent ? { agent } : {}) };
    update(cast, fact.turn, { phase: 'verifying', answered });
  },
  'attempt.refused': refused,
  'attempt.failed': failed,
  'turn.asked': (cast, fact) => {
    update(cast, fact.turn, { phase: 'asked' });
  },
  'wait.begun': (cast, { turn, what, words, until, other }, at) => {
    const awaits = { what, words, since: at, until, ...(other === undefined ? {} : { other }) };
    update(cast, turn, { phase: 'awaiting', awaits });
  },
  'wait.seen': (cast, { turn, found }) => {
    const awaits = cast.turns[turn]?.awaits;
    if (awaits) update(cast, turn, { awaits: { ...awaits, found } });
  },
  'wait.ended': (cast, fact) => {
    update(cast, fact.turn, { phase: fact.met === null ? 'owed' : 'running', reserved: 0 });
    delete cast.turns[fact.turn]?.awaits;
  },
  'attempt.lost': (cast, fact) => {
    update(cast, fact.turn, { phase: 'owed', reserved: 0, brief: null });
  },
  'attempt.interrupted': interrupted,
  'attempt.spent': stopped,
  'turn.unknown': (cast, fact) => {
    update(cast, fact.turn, { phase: 'unknown', reserved: 0 });
  },
  'turn.decided': (cast, fact) => {
    // An agent that asked goes on with what it has; any other attempt begins over.
    const brief = cast.turns[fact.turn]?.asks ? (cast.turns[fact.turn]?.brief ?? null) : null;
    update(cast, fact.turn, { phase: fact.choice === 'rerun' ? 'owed' : 'running', brief, asks: null });
  },
  'turn.accepted': accepted,
  'event.emitted': (cast, { sequence }) => {
    cast.events = sequence;
  },
  'merge.awaited': (cast, fact) => {
    update(cast, fact.turn, { phase: 'merging' });
    cast.merges = [...(cast.merges ?? []), fact.turn];
  },
  'turn.merged': (cast, fact) => {
    update(cast, fact.turn, { phase: 'accepted', merged: true });
    mergeEnded(cast, fact.turn);
  },
  'merge.refused': (cast, fact) => {
    update(cast, fact.turn, { phase: 'accepted' });
    mergeEnded(cast, fact.turn);
  },
  'turn.reopened': (cast, fact) => {
    mergeEnded(cast, fact.turn);
    delete cast.turns[fact.turn]?.loops;
    delete cast.turns[fact.turn]?.retries;
    delete cast.turns[fact.turn]?.awaits;
    update(cast, fact.turn, {
      phase: 'owed',
      repairs: 0,
      faults: 0,
      waits: 0,
      choice: 0,
      session: null,
      briefBytesMax: null,
      refusal: null,
      reserved: 0,
      brief: null,
      ...(fact.sealed ? {} : { seal: null }),
      held: null,
      // Its next attempt has the fence of a new claim, or none where its task is over.
      fence: null,
      asks: null,
      progress: SET_TO_WORK,
    });
  },
  'turn.dropped': (cast, fact) => {
    delete cast.turns[fact.turn];
  },
  'cursor.advanced': (cast, fact) => {
    cast.cursors[fact.cursor] = fact.to;
    if (fact.item !== null) noteOver(cast, cast.turns[fact.turn]);
    if (fact.item !== null) noteAdvanced(cast, fact.cursor, cast.turns[fact.turn]);
    if (fact.item !== null) cast.guard = NO_ROUNDS;
  },
  'cursor.reset': (cast, fact) => {
    cast.cursors[fact.cursor] = 0;
    delete cast.lists[fact.cursor];
    cast.heard = withoutList(cast.heard, fact.cursor);
    for (const loop of cast.rules.graph.loops) if (loop.id === fact.loop) forgetItems(cast, loop);
  },
  'edge.taken': (cast, fact) => {
    if (fact.counts) cast.traversals[fact.counts] = (cast.traversals[fact.counts] ?? 0) + 1;
    if (fact.settles) forgetItem(cast, fact.settles);
    if (fact.leaves !== undefined) delete cast.lanes[fact.leaves];
    delete cast.turns[fact.turn];
  },
  'edge.spent': (cast, fact) => {
    update(cast, fact.turn, { phase: 'spent' });
  },
  'edge.extended': (cast, fact) => {
    cast.extended[fact.key] = (cast.extended[fact.key] ?? 0) + fact.more;
    update(cast, fact.turn, { phase: 'accepted' });
  },
  'exit.taken': (cast, fact) => {
    if (fact.settles) forgetItem(cast, fact.settles);
    if (fact.loop !== null) delete cast.lanes[fact.loop];
    if (fact.changes) cast.data = committed(cast.data, fact.changes, null);
    if (fact.turn !== null) delete cast.turns[fact.turn];
  },
  'rework.noted': (cast, fact) => {
    const key = noteKey(fact.note.target, fact.note.item);
    const notes = [...(cast.rework[key] ?? []), fact.note];
    cast.rework[key] = notes.slice(-REWORK_NOTES_MAX);
    // A rejection too old for a note leaves the context too.
    cast.heard = withoutNoted(cast.heard, notes.slice(0, -REWORK_NOTES_MAX));
  },
  'rework.cleared': (cast, fact) => {
    for (const [key, notes] of Object.entries(cast.rework)) {
      const isKept = (note: ReworkNote) => note.from !== fact.from || note.item !== fact.item;
      const kept = notes.filter(isKept);
      cast.heard = withoutNoted(
        cast.heard,
        notes.filter((note) => !isKept(note)),
      );
      if (kept.length > 0) cast.rework[key] = kept;
      else delete cast.rework[key];
    }
  },
  'budget.warned': (cast) => {
    cast.budget.warned = true;
  },
  'budget.changed': (cast, fact) => {
    cast.budget = {
      maxTokens: fact.maxTokens,
      maxCost: fact.maxCost,
      maxDurationMs: fact.maxDurationMs,
      warned: cast.budget.warned,
    };
  },
  'cast.completed': (cast, fact, at) => {
    ended(cast, 'completed', null, 'completed', at, fact.elapsedMs);
  },
  'cast.failed': (cast, fact, at) => {
    ended(cast, 'failed', fact.code, fact.reason, at, fact.elapsedMs);
    cast.stand = fact.stand;
  },
  'cast.aborted': (cast, fact, at) => {
    ended(cast, 'aborted', 'ABORTED', fact.reason, at, fact.elapsedMs);
  },
  'cast.waiting': (cast, fact, at) => {
    ended(cast, 'waiting', fact.code, fact.reason, at, fact.elapsedMs);
    if (fact.until !== undefined) cast.until = fact.until;
  },
  'cast.paused': (cast, fact, at) => {
    ended(cast, 'paused', null, fact.reason, at, fact.elapsedMs);
    for (const turn of Object.values(cast.turns)) {
      if (turn.phase === 'running') Object.assign(turn, { phase: 'owed', reserved: 0, brief: null });
    }
  },
  // Its consequences have facts of their own.
  'cast.recovered': () => {},
  'cast.resumed': (cast, _fact, at) => {
    running(cast, at);
  },
  'cast.recast': (cast, fact, at) => {
    running(cast, at);
    cast.stand = null;
    cast.guard = NO_ROUNDS;
    if (fact.extends) cast.extended[fact.extends.key] = (cast.extended[fact.extends.key] ?? 0) + fact.extends.by;
  },
  'park.awaited': (cast, fact) => {
    const turn = cast.turns[fact.turn];
    if (turn) turn.phase = 'parking';
  },
  'item.parked': (cast, fact) => {
    const { item, task, edge, lane, note, kept = null } = fact;
    cast.parked = { ...cast.parked, [task]: { item, task, edge, lane, note, kept } };
    cast.guard = NO_ROUNDS;
    // The diff starts again from where a retry begins.
    delete cast.work?.[taskKey(cast.id, task)]?.diff;
    if (lane !== null) delete cast.lanes[lane]?.walks[item.key];
    delete cast.turns[fact.turn];
  },
  'item.retried': (cast, fact) => {
    const parked = cast.parked?.[fact.task];
    if (!parked || !cast.parked) return;
    delete cast.parked[fact.task];
    delete cast.traversals[parked.edge.key];
    if (parked.lane === null) cast.cursors[parked.item.cursorKey] = parked.item.index;
    if (parked.kept) cast.restores = { ...cast.restores, [fact.task]: parked.kept };
  },
  'item.dropped': (cast, fact) => {
    delete cast.parked?.[fact.task];
  },
};

export function applyToCast(cast: Cast, fact: OwnFact, at: number): void {
  rowFor(ROWS, fact)?.(cast, fact, at);
  if (cast.status === 'running') rest(cast, at);
}

/** While all open turns of a cast wait, its running time does not grow. */
function rest({ turns, clock }: Cast, at: number): void {
  let open = 0;
  for (const id in turns) {
    if (turns[id]?.phase !== 'awaiting') {
      clock.runningSince ??= at;
      return;
    }
    open += 1;
  }
  if (open === 0) clock.runningSince ??= at;
  else if (clock.runningSince !== null) {
    clock.elapsedMs += Math.max(0, at - clock.runningSince);
    clock.runningSince = null;
  }
}

/** An item in a lane counts its own rounds. */
function walked(cast: Cast, lane: string, fact: Extract<CastFact, { kind: 'turn.started' }>): void {
  const lanes = cast.lanes[lane];
  const key = fact.item?.key ?? '';
  if (!lanes) return;
  const before = lanes.walks[key];
  const guard = tracked(before?.guard ?? NO_ROUNDS, key, fact.socket, fact.budgeted);
  const place = before?.place ?? fact.place;
  lanes.walks[key] = {
    ...{ guard, said: before?.said ?? null, agent: before?.agent ?? null },
    ...(place === undefined ? {} : { place }),
  };
  lanes.held = null;
}

function mergeEnded(cast: Cast, turn: number): void {
  const left = (cast.merges ?? []).filter((each) => each !== turn);
  if (left.length > 0) cast.merges = left;
  else delete cast.merges;
}

function leaveLane(cast: Cast, id: number): void {
  const turn = cast.turns[id];
  if (turn?.lane && turn.item) delete cast.lanes[turn.lane]?.walks[turn.item.key];
}

function update(cast: Cast, id: number, values: Partial<Turn>): void {
  const turn = cast.turns[id];
  if (turn) Object.assign(turn, values);
}

/** Counts time that a driver measured. The time after it is counted from here. */
export function countTime(cast: Cast | undefined, ranMs: number, at: number): void {
  if (!cast || cast.clock.runningSince === null) return;
  cast.clock.elapsedMs += ranMs;
  cast.clock.runningSince = at;
}

/** Without a measured time the time between two entries counts. */
function ended(
  cast: Cast,
  status: Cast['status'],
  code: string | null,
  reason: string,
  at: number,
  elapsedMs?: number,
): void {
  const { clock } = cast;
  if (elapsedMs !== undefined) clock.elapsedMs = elapsedMs;
  else if (clock.runningSince !== null) clock.elapsedMs += Math.max(0, at - clock.runningSince);
  clock.runningSince = null;
  delete cast.until;
  Object.assign(cast, { status, code, reason, since: at });
}

function running(cast: Cast, at: number): void {
  cast.clock.runningSince = at;
  delete cast.until;
  delete cast.since;
  Object.assign(cast, { status: 'running', code: null, reason: '' });
}

/** Who advanced an item of a loop last, and with which verdict: the exit of a loop whose parked items are over asks for it. */
function noteAdvanced(cast: Cast, cursor: string, turn: Turn | undefined): void {
  const loop = turn && loopOf(cast.rules.graph, turn.socket);
  if (!turn?.handoff || !loop || !mayPark(cast.rules.graph, loop)) return;
  cast.advancedBy = { ...cast.advancedBy, [cursor]: { socket: turn.socket, satisfied: turn.handoff.satisfied } };
}
