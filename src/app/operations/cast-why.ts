// Why a cast is where it is, since when, and the commands that carry it on.
import type { LastSign } from '../../engine/ports.ts';
import { type Cast, isOver } from '../../kernel/cast/state.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Quarantine } from '../../kernel/trust/state.ts';
import { allow } from '../../kernel/verdict.ts';
import { UsageError } from '../../workspace/locate.ts';
import { nameCast } from '../name-cast.ts';
import type { WorkspaceStore } from '../store.ts';
import { foldAll } from '../views/cast-view.ts';
import { type Situation, whyOf } from '../views/why/why.ts';
import { trustIn } from '../workspace-status.ts';
import type { Operation } from './table.ts';

export const castWhy: Operation<'cast.why'> = async (workspace, { cast: word }) => {
  const { program, stateDir } = workspace;
  const store = workspace.castStore();
  const { cast } = await nameCast(store, word, program);
  const why = await whyOf(await look(store, cast, program, stateDir));
  return allow(why.sentences[0] ?? '', why as unknown as JsonObject);
};

/** Only what the status of the cast makes worth looking at is looked at. */
async function look(store: WorkspaceStore, id: string, baton: string, stateDir: string): Promise<Situation> {
  const before = await store.view('cast', id);
  const driver = before?.status === 'running' ? await store.view('driver', id) : null;
  const ledger = before && !isOver(before.status) ? await store.view('ledger') : null;
  // A cast without a driver may have ended between the two looks.
  const view = foldAll(await store.read({ after: 0, cast: id, briefs: 'digest' }));
  const { cast } = view;
  if (!cast) throw new UsageError(`there is no cast ${id}`, 'UNKNOWN_CAST');
  const quarantine = cast.status === 'failed' ? await blockedAgents(store, cast) : [];
  const signs = cast.status === 'running' ? await heardOf(stateDir, cast) : new Map<number, LastSign>();
  return { cast, view, now: Date.now(), baton, driver, ledger, quarantine, signs };
}

async function heardOf(stateDir: string, cast: Cast): Promise<ReadonlyMap<number, LastSign>> {
  const { lastSignOf } = await import('../../agents/live-watch.ts');
  const found = new Map<number, LastSign>();
  for (const turn of Object.values(cast.turns)) {
    const sign = lastSignOf(stateDir, cast, turn);
    if (sign) found.set(turn.id, sign);
  }
  return found;
}

/** What is blocked of the agents that take part in the cast. */
async function blockedAgents(store: WorkspaceStore, { rules }: Cast): Promise<readonly Quarantine[]> {
  const agents = Object.values(rules.materia).flatMap((materia) =>
    materia.type === 'agent' ? [materia.identity] : [],
  );
  if (agents.every((identity) => identity === null)) return [];
  const { quarantine } = await trustIn(store);
  return Object.values(quarantine).filter(({ agent }) => agent === null || agents.includes(agent));
}
