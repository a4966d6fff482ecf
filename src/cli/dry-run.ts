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
    const { type, label } = plan.rules.materia[materia] ?? { type: 'agent', label: materia };
    return { socket: id, materia: label, type, contract };
  });
  const inputTokens = briefs.reduce((sum, { brief }) => sum + Math.ceil(brief.length / CHARS_PER_TOKEN), 0);
  const shown = {
    loadout: plan.loadout,
    request,
    sockets,
    briefs,
    estimate: { inputTokensPerRound: inputTokens, exact: false },
  };
  if (call.json) outJson(shown);
  else {
    out(`loadout ${plan.loadout}`);
    for (const { socket, materia, type, contract } of sockets) out(`  ${socket}  ${materia}  (${type}, ${contract})`);
    for (const { socket, brief } of briefs) out(`\n--- brief of ${socket} ---\n${brief}`);
    out(`\nAbout ${inputTokens} input tokens for one turn of each agent (an estimate). Nothing was started.`);
  }
  return EXIT.ok;
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
