// `baton cast --dry-run`: what would run, and the first brief, without starting anything.
import { dialects } from '../dialects/index.ts';
import { Desk } from '../engine/desk.ts';
import { LocalDoor } from '../engine/door.ts';
import { MemoryLog } from '../log/memory.ts';
import type { Plan } from '../workspace/plan.ts';
import { type Call, EXIT, out, outJson } from './command.ts';

/** Rough, and said to be: a token is about four characters. */
const CHARS_PER_TOKEN = 4;

export async function dryRun(call: Call, plan: Plan, request: string): Promise<number> {
  const briefs = await firstBriefs(plan, request);
  const sockets = Object.values(plan.rules.graph.sockets).map(({ id, materia, contract }) => {
    const used = plan.rules.materia[materia];
    const who = used?.type === 'agent' ? { runner: used.runner, model: used.model } : {};
    return { socket: id, materia: used?.label ?? materia, type: used?.type ?? 'agent', contract, ...who };
  });
  const inputTokens = briefs.reduce((sum, { brief }) => sum + Math.ceil(brief.length / CHARS_PER_TOKEN), 0);
  const shown = {
    loadout: plan.loadout,
    request,
    sockets,
    briefs,
    // What agents read with their tools, and what they answer, is not known before; nor is any provider's price.
    estimate: { inputTokensPerRound: inputTokens, cost: null, exact: false },
  };
  if (call.json) outJson(shown);
  else {
    out(`loadout ${plan.loadout}`);
    for (const socket of sockets) out(`  ${lineOf(socket)}`);
    for (const { socket, brief } of briefs) out(`\n--- brief of ${socket} ---\n${brief}`);
    out(`\nAbout ${inputTokens} input tokens for one turn of each agent (an estimate, without what their tools read).`);
    out('The cost is not known before. Nothing was started.');
  }
  return EXIT.ok;
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
