// Small loadouts for tests, and the words agents say in them. A test names only what it is about.
import { flow } from '../src/kernel/graph/fixtures/software.ts';
import type { Json, JsonObject } from '../src/kernel/json.ts';

const MATERIA: JsonObject = {
  Plan: { tools: 'readOnly', prompt: 'Plan the work.', generator: true },
  Write: { tools: 'coding', prompt: 'Write it.' },
  Judge: { tools: 'readOnly', prompt: 'Judge it.', parse: 'json' },
  Tool: { type: 'utility', command: ['tool'], parse: 'json' },
  Publish: { type: 'utility', command: ['publish'], parse: 'json', once: true },
};

/** A configuration with the one loadout `Flow`, entered at Socket-1. Sockets may use the materia above and their own. */
export function graph(sockets: JsonObject, { loops = {}, materia = {}, ...config }: Partial<Extras> = {}): JsonObject {
  return {
    ...config,
    materia: { ...MATERIA, ...materia },
    loadouts: { Flow: { entry: 'Socket-1', sockets, loops } },
  };
}

type Extras = {
  readonly loops: JsonObject;
  readonly materia: JsonObject;
  readonly budget: JsonObject;
  readonly limits: JsonObject;
  readonly language: string;
};

export const always = (to: string, maxTraversals?: number): JsonObject => edge('always', to, maxTraversals);
export const satisfied = (to: string, maxTraversals?: number): JsonObject => edge('satisfied', to, maxTraversals);
export const notSatisfied = (to: string, maxTraversals?: number): JsonObject =>
  edge('not_satisfied', to, maxTraversals);

function edge(when: string, to: string, maxTraversals?: number): JsonObject {
  return { when, to, ...(maxTraversals === undefined ? {} : { maxTraversals }) };
}

/** A route out of a loop, under its usual id. */
export function exit(from: string, condition: string, targetSocketId: string): JsonObject {
  return { id: `exit:${from}:${condition}`, from, condition, targetSocketId };
}

/**
 * Plan (1), then for each item build (2), judge (3) and maintain (4), then sum up (5). The judge's rejection leads back
 * to the builder, without a budget unless one is given.
 */
export function workflow(edits: Readonly<Record<string, Json | undefined>> = {}): JsonObject {
  return flow({
    'sockets.Socket-3.assign': undefined,
    'sockets.Socket-3.edges': [satisfied('Socket-4'), notSatisfied('Socket-2')],
    ...edits,
  });
}

/** What a planner says: so many items, `Item 1` and on. */
export function plan(count: number, name = 'Item'): JsonObject {
  const workItems = Array.from({ length: count }, (_, index) => ({
    title: `${name} ${index + 1}`,
    context: `do ${name.toLowerCase()} ${index + 1}`,
  }));
  return { workItems };
}

export const yes: JsonObject = { satisfied: true };
export const no = (context?: string): JsonObject => ({
  satisfied: false,
  ...(context === undefined ? {} : { context }),
});

/** The agents of the workflow, who do well for as long as they are asked, but for those who are said to do otherwise. */
export function crew(
  others: Readonly<Record<string, readonly Json[]>> = {},
): Readonly<Record<string, readonly Json[]>> {
  const smooth = {
    Build: ['built', '$repeat'],
    Eval: [yes, '$repeat'],
    Maintain: [yes, '$repeat'],
    Sum: ['all', '$repeat'],
  };
  return { Plan: [plan(2)], ...smooth, ...others };
}

/** A turn that used so many tokens. */
export function costing(tokens: number, output: Json, cost = 0): JsonObject {
  return { $turn: { output, usage: { input: tokens, output: 0, cost } } };
}

export function failing(fail: 'crash' | 'timeout' | 'transport'): JsonObject {
  return { $turn: { fail } };
}
