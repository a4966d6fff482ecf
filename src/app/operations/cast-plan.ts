// What a cast would run, and its first briefs, without starting anything.
import { estimated, PRICES_CHECKED } from '../../agents/prices.ts';
import { dialects } from '../../dialects/index.ts';
import { Decider } from '../../engine/decider.ts';
import { LocalStore } from '../../engine/local-store.ts';
import { CAPABILITIES, PRESENT, runnerCan } from '../../kernel/capabilities.ts';
import type { Rules } from '../../kernel/graph/config.ts';
import { allow } from '../../kernel/verdict.ts';
import { MemoryLog } from '../../log/memory.ts';
import type { Plan } from '../../workspace/plan.ts';
import { planned, refusedPlan } from '../driving/check-start.ts';
import type { Operation } from './table.ts';

/** Rough, and said to be: a token is about four characters. */
const CHARS_PER_TOKEN = 4;
/** What an answer is taken for; nobody knows it before. */
const ANSWER_TOKENS = 1_000;

export const castPlan: Operation<'cast.plan'> = async (workspace, input, context) => {
  const found = await planned(workspace, input, context);
  if (!found.ok) return refusedPlan(found.issues);
  const { plan } = found;
  const { request } = input;
  const briefs = await firstBriefs(plan, request);
  const sockets = Object.values(plan.rules.graph.sockets).map(({ id, materia, contract }) => {
    const used = plan.rules.materia[materia];
    const who = used?.type === 'agent' ? { runner: used.runner, model: used.model } : {};
    return { socket: id, materia: used?.label ?? materia, type: used?.type ?? 'agent', contract, ...who };
  });
  const turns = briefs.map(({ socket, brief }) => turnOf(plan.rules, socket, brief));
  const inputTokens = turns.reduce((sum, { inputTokens: one }) => sum + one, 0);
  const unpriced = turns.filter(({ cost }) => cost === null).map(({ socket }) => socket);
  const cost = unpriced.length === turns.length ? null : turns.reduce((sum, one) => sum + (one.cost ?? 0), 0);
  // What agents read with their tools, and what they answer, is not known before.
  const estimate = {
    inputTokensPerRound: inputTokens,
    outputTokensPerRound: turns.length * ANSWER_TOKENS,
    cost,
    ...(unpriced.length > 0 ? { unpriced } : {}),
    pricesChecked: PRICES_CHECKED,
    turns,
    exact: false,
  };
  return allow('nothing was started', { loadout: plan.loadout, request, sockets, briefs, estimate });
};

type Estimate = {
  readonly socket: string;
  readonly model: string | null;
  readonly inputTokens: number;
  readonly cost: number | null;
};

/** A runner that is asked for no model has one of its own, whose price cannot be told before. */
function turnOf(rules: Rules, socket: string, brief: string): Estimate {
  const materia = rules.materia[rules.graph.sockets[socket]?.materia ?? ''];
  const model = materia?.type === 'agent' ? materia.model : null;
  const inputTokens = Math.ceil(brief.length / CHARS_PER_TOKEN);
  const isFree = materia?.type === 'agent' && runnerCan(PRESENT, materia.runner, 'isPerson');
  const used = estimated({ input: inputTokens, output: ANSWER_TOKENS, cost: 0 }, model, rules.prices);
  return { socket, model, inputTokens, cost: isFree ? 0 : used.estimated ? used.cost : null };
}

/** Each agent's brief on an empty cast: what comes from other turns is missing in it. */
async function firstBriefs(plan: Plan, request: string): Promise<{ socket: string; brief: string }[]> {
  const briefs = [];
  for (const [socket, { materia }] of Object.entries(plan.rules.graph.sockets)) {
    if (plan.rules.materia[materia]?.type !== 'agent') continue;
    const graph = { ...plan.rules.graph, entry: socket, loops: [] };
    const store = new LocalStore(await Decider.open(new MemoryLog(), dialects));
    await store.submit(
      {
        kind: 'cast.start',
        cast: 'dry',
        request,
        loadout: plan.loadout,
        rules: { ...plan.rules, graph },
        script: null,
        capabilities: CAPABILITIES,
      },
      { name: 'dry-run' },
    );
    await store.submit({ kind: 'turn.prepared', cast: 'dry', turn: 1, attempt: 1 }, { name: 'dry-run' });
    const cast = await store.view('cast', 'dry');
    briefs.push({ socket, brief: cast?.turns['1']?.brief ?? '' });
    await store.close();
  }
  return briefs;
}
