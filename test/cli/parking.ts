// A loadout whose judge sends an item back once, then parks it.
import type { JsonObject } from '../../src/kernel/json.ts';
import { agent, always, flow } from './baton.ts';

const advance = { cursor: 'workItemIndex', items: 'state.workItems', when: 'satisfied' };
const again = { when: 'not_satisfied', to: 'Socket-2', maxTraversals: 1, then: 'park' };

const LOOPS = {
  items: {
    sockets: ['Socket-2', 'Socket-3'],
    consumes: { from: 'Socket-1', output: 'workItems' },
    exits: [{ id: 'done', from: 'Socket-3', condition: 'always', targetSocketId: 'Socket-4' }],
  },
};

/** `build` says how its builder is declared. */
export function parking(build: JsonObject = agent): JsonObject {
  const config = flow(
    { Plan: { ...agent, generator: true }, Build: build, Judge: agent, Sum: agent },
    {
      'Socket-1': { materia: 'Plan', edges: [always('Socket-2')] },
      'Socket-2': { materia: 'Build', parse: 'text', edges: [always('Socket-3')] },
      'Socket-3': { materia: 'Judge', parse: 'json', advance, edges: [{ when: 'satisfied', to: 'Socket-2' }, again] },
      'Socket-4': { materia: 'Sum', parse: 'text' },
    },
  ) as unknown as { loadouts: Record<string, JsonObject> };
  for (const [name, loadout] of Object.entries(config.loadouts)) config.loadouts[name] = { ...loadout, loops: LOOPS };
  return config as unknown as JsonObject;
}

export const plan = (...titles: string[]) => ({
  workItems: titles.map((title) => ({ title, context: `Do ${title}.` })),
});
export const no = (context: string) => ({ satisfied: false, context });
export const yes = { satisfied: true };

export const PARKING = parking();
/** The only item is rejected twice, then accepted. */
export const PARKING_AGENTS = {
  Plan: [plan('first')],
  Build: ['built', '$repeat'],
  Judge: [no('bad'), no('still bad'), yes],
  Sum: ['all done'],
};
