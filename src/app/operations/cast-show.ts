// One cast for a reader: as it is now, as it goes on, when it ends, one turn in full, and why it is where it is.

import type { LastSign } from '../../engine/ports.ts';
import { dialectCan } from '../../kernel/capabilities.ts';
import { type Cast, isOver } from '../../kernel/cast/state.ts';
import { contractOf } from '../../kernel/graph/route.ts';
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import type { Quarantine } from '../../kernel/trust/state.ts';
import { allow, deny } from '../../kernel/verdict.ts';
import { UsageError } from '../../workspace/locate.ts';
import { readRecord } from '../../workspace/worktree/record.ts';
import { followToEnd, loadView } from '../look-at-cast.ts';
import { castNamed } from '../name-cast.ts';
import type { WorkspaceStore } from '../store.ts';
import { foldAll } from '../views/cast-view.ts';
import { castVerdict } from '../views/shown-cast.ts';
import type { ReadReport } from '../views/turn-detail.ts';
import type { Situation } from '../views/why/why.ts';
import type { Operation } from './table.ts';

/** One cast, as it is now. What it produced comes first. */
export const castShow: Operation<'cast.show'> = async (workspace, { cast: word, turns = false }) => {
  const { store, cast } = await castNamed(workspace, word);
  const view = await loadView(workspace, store, cast, turns);
  const isDriven = view.status !== 'running' || (await store.view('driver', cast)) !== null;
  const record = view.branch === undefined ? null : readRecord(workspace.stateDir, cast);
  return castVerdict({
    ...view,
    ...(isDriven ? {} : { driven: false }),
    ...(record === null ? {} : { worktree: { branch: record.branch, state: record.state } }),
  });
};

/** A cast whose agents are silent goes on, too. */
const TELL_EVERY_MS = 5_000;

/** Timers of the runtime count no further. */
const SECONDS_MAX = 2_147_483;

/** Waits for a cast, up to a limit. The caller may come back later, and nothing is lost. */
export const castWait: Operation<'cast.wait'> = async (workspace, { cast, timeout_seconds: seconds }, context) => {
  const { onEvent } = context;
  if (seconds !== undefined && !(seconds >= 0 && seconds <= SECONDS_MAX))
    return deny('BAD_USAGE', `timeout_seconds must be from 0 to ${SECONDS_MAX}; leave it out to wait on`);
  const times = seconds === undefined ? [] : [AbortSignal.timeout(Math.round(seconds * 1000))];
  const telling = setInterval(() => onEvent({ kind: 'note', text: `cast ${cast ?? 'latest'} runs` }), TELL_EVERY_MS);
  try {
    return await followToEnd(workspace, cast, {
      signal: AbortSignal.any([context.signal, ...times]),
      tell: (news) => news.kind === 'live' && onEvent({ kind: 'value', value: news as Json }),
    });
  } finally {
    clearInterval(telling);
  }
};

/** Follows a cast and tells everything that happens in it, from its first entry on. */
export const castWatch: Operation<'cast.watch'> = (workspace, { cast, turns }, { signal, onEvent }) =>
  followToEnd(workspace, cast, { turns, signal, tell: (news) => onEvent({ kind: 'value', value: news as Json }) });

export const castTurn: Operation<'cast.turn'> = async (workspace, { cast: word, turn }) => {
  const { store, cast } = await castNamed(workspace, word);
  const view = foldAll(await store.read({ after: 0, cast }));
  const { turnDetailOf } = await import('../views/turn-detail.ts');
  const detail = view.cast && turnDetailOf(view, turn, await readerFor(view.cast));
  if (!detail) {
    const way = `\`${workspace.program} show ${cast}\` lists them`;
    throw new UsageError(`cast ${cast} has no turn ${turn}; ${way}`, 'UNKNOWN_TURN');
  }
  return allow(`turn ${turn} of cast ${cast}`, detail as unknown as JsonObject);
};

/** The log has only the text of a report that ended its turn blocked, so the text is read again. */
async function readerFor({ rules }: Cast): Promise<ReadReport> {
  if (!Object.values(rules.graph.sockets).some(({ contract }) => dialectCan(rules, contract, 'reportsStatus')))
    return () => null;
  const { gaiaRead: read } = await import('../../dialects/gaia/read.ts');
  return (socket, output, input) => {
    const reading = read(output, { ...contractOf(rules, socket), turn: { agentId: null, input } });
    return reading.ok && isObject(reading.handoff.payload) ? reading.handoff.payload : null;
  };
}

export const castWhy: Operation<'cast.why'> = async (workspace, { cast: word }) => {
  const { program, stateDir } = workspace;
  const { store, cast } = await castNamed(workspace, word);
  const { whyOf } = await import('../views/why/why.ts');
  const why = await whyOf(await situationOf(store, cast, program, stateDir));
  return allow(why.sentences[0] ?? '', why as unknown as JsonObject);
};

/** Only what the status of the cast makes worth looking at is looked at. */
async function situationOf(store: WorkspaceStore, id: string, baton: string, stateDir: string): Promise<Situation> {
  const before = await store.view('cast', id);
  const driver = before?.status === 'running' ? await store.view('driver', id) : null;
  const ledger = before && !isOver(before.status) ? await store.view('ledger') : null;
  // A cast without a driver may have ended between the two looks.
  const view = foldAll(await store.read({ after: 0, cast: id, briefs: 'digest' }));
  const { cast } = view;
  if (!cast) throw new UsageError(`there is no cast ${id}`, 'UNKNOWN_CAST');
  const quarantine = cast.status === 'failed' ? await blockedAgents(store, cast) : [];
  const signs = cast.status === 'running' ? await lastSignsOf(stateDir, cast) : new Map<number, LastSign>();
  const state = cast.status === 'completed' ? readRecord(stateDir, id)?.state : undefined;
  const work = state === undefined || state === 'making' ? {} : { work: state };
  return { cast, view, now: Date.now(), baton, driver, ledger, quarantine, signs, ...work };
}

async function lastSignsOf(stateDir: string, cast: Cast): Promise<ReadonlyMap<number, LastSign>> {
  const { lastSignOf } = await import('../../agents/live-watch.ts');
  const found = new Map<number, LastSign>();
  for (const turn of Object.values(cast.turns)) {
    const sign = lastSignOf(stateDir, cast, turn);
    if (sign) found.set(turn.id, sign);
  }
  return found;
}

/** The agents of the cast that are blocked. */
async function blockedAgents(store: WorkspaceStore, { rules }: Cast): Promise<readonly Quarantine[]> {
  const agents = Object.values(rules.materia).flatMap((materia) =>
    materia.type === 'agent' ? [materia.identity] : [],
  );
  if (agents.every((identity) => identity === null)) return [];
  const { trustIn } = await import('../at-head.ts');
  const { quarantine } = await trustIn(store);
  return Object.values(quarantine).filter(({ agent }) => agent === null || agents.includes(agent));
}
