// `baton cast --dry-run`: what would run, and the first brief, without starting anything.
import { estimated, PRICES_CHECKED } from '../agents/prices.ts';
import { dialects } from '../dialects/index.ts';
import { Desk } from '../engine/desk.ts';
import { LocalDoor } from '../engine/door.ts';
import type { Rules } from '../kernel/graph/config.ts';
import { MemoryLog } from '../log/memory.ts';
import type { Plan } from '../workspace/plan.ts';
import { type Call, EXIT, out, outJson } from './command.ts';
import { costText } from './cost-text.ts';

/** Rough, and said to be: a token is about four characters. */
const CHARS_PER_TOKEN = 4;
/** What an answer is taken for; nobody knows it before. */
const ANSWER_TOKENS = 1_000;

export async function dryRun(call: Call, plan: Plan, request: string): Promise<number> {
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
  const shown = {
    loadout: plan.loadout,
    request,
    sockets,
    briefs,
    // What agents read with their tools, and what they answer, is not known before.
    estimate: {
      inputTokensPerRound: inputTokens,
      outputTokensPerRound: turns.length * ANSWER_TOKENS,
      cost,
      ...(unpriced.length > 0 ? { unpriced } : {}),
      pricesChecked: PRICES_CHECKED,
      turns,
      exact: false,
    },
  };
  if (call.json) outJson(shown);
  else {
    out(`loadout ${plan.loadout}`);
    for (const socket of sockets) out(`  ${lineOf(socket)}`);
    for (const { socket, brief } of briefs) out(`\n--- brief of ${socket} ---\n${brief}`);
    out(`\nAbout ${inputTokens} input tokens for one turn of each agent (an estimate, without what their tools read).`);
    for (const line of costLines(cost, unpriced)) out(line);
    out('Nothing was started.');
  }
  return EXIT.ok;
}

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
  const isFree = materia?.type === 'agent' && materia.runner === 'person';
  const used = estimated({ input: inputTokens, output: ANSWER_TOKENS, cost: 0 }, model, rules.prices);
  return { socket, model, inputTokens, cost: isFree ? 0 : used.estimated ? used.cost : null };
}

function costLines(cost: number | null, unpriced: readonly string[]): string[] {
  if (cost === null) return ['The cost is not known before: no model is named that a price is known of.'];
  const without = unpriced.length > 0 ? ` It leaves out ${unpriced.join(', ')}, whose price is not known.` : '';
  const what = `About ${costText({ cost, estimated: true })} for one turn of each with an answer of ${ANSWER_TOKENS} tokens`;
  return [`${what}, by prices of ${PRICES_CHECKED}.${without}`];
}

type Shown = {
  readonly socket: string;
  readonly materia: string;
  readonly type: string;
  readonly contract: string;
  readonly runner?: string;
  readonly model?: string | null;
};

function lineOf({ socket, materia, type, contract, runner, model }: Shown): string {
  const by = runner === undefined ? type : `${type} on ${runner}${model ? ` with ${model}` : ''}`;
  return `${socket}  ${materia}  (${by}, ${contract})`;
}

/** Each agent's brief on an empty cast: what comes from other turns is missing in it. */
async function firstBriefs(plan: Plan, request: string): Promise<{ socket: string; brief: string }[]> {
  const briefs = [];
  for (const [socket, { materia }] of Object.entries(plan.rules.graph.sockets)) {
    if (plan.rules.materia[materia]?.type !== 'agent') continue;
    const graph = { ...plan.rules.graph, entry: socket, loops: [] };
    const door = new LocalDoor(await Desk.open(new MemoryLog(), dialects));
    await door.submit(
      {
        kind: 'cast.start',
        cast: 'dry',
        request,
        loadout: plan.loadout,
        rules: { ...plan.rules, graph },
        script: null,
      },
      'dry-run',
    );
    await door.submit({ kind: 'turn.prepared', cast: 'dry', turn: 1, attempt: 1 }, 'dry-run');
    const cast = await door.cast('dry');
    briefs.push({ socket, brief: cast?.turns['1']?.brief ?? '' });
    await door.close();
  }
  return briefs;
}
