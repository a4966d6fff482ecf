// Random small loadouts that check, random scripts for them, and random things that people, crashes and late answers do
// to a cast: the material of the property tests.
import fc from 'fast-check';
import { check } from '../src/kernel/graph/check.ts';
import type { Json, JsonObject } from '../src/kernel/json.ts';
import { asBlock, type PlanStatus, reportOf } from './reports.ts';

const LIST_PATHS = ['state.workItems', 'state.workItems', 'state.other', 'state.nowhere'];

type Drawn = { readonly sockets: JsonObject; readonly loops: Readonly<Record<string, JsonObject>> };

/** Sockets and loops joined in any way. */
const tangle: fc.Arbitrary<Drawn> = fc.integer({ min: 1, max: 5 }).chain((count) => {
  const ids = Array.from({ length: count }, (_, index) => `Socket-${index + 1}`);
  return fc.record({
    sockets: fc.tuple(...ids.map(() => socket(ids))).map((all) => entries(ids, all)),
    loops: fc.dictionary(fc.constantFrom('a', 'b'), loop(ids), { maxKeys: 2 }),
  });
});

/** Plan (1), build (2), judge (3) and maintain (4) each item; then plan again (5) and go through the new items (6). */
const workflow: fc.Arbitrary<Drawn> = fc
  .record({
    back: fc.constantFrom('Socket-1', 'Socket-2'),
    retries: seldom(fc.integer({ min: 1, max: 3 }), 2),
    when: fc.constantFrom('always', 'satisfied'),
    keeper: fc.constantFrom('Judge', 'Tool', 'Publish'),
    exits: fc.subarray(['satisfied', 'not_satisfied', 'always'], { minLength: 1 }),
    next: fc.constantFrom('Socket-5', 'Socket-5', 'Socket-1', 'Socket-2'),
    last: fc.constantFrom('Socket-7', 'Socket-7', 'Socket-5'),
  })
  .map(({ back, retries, when, keeper, exits, next, last }) => {
    const walk = { cursor: 'workItemIndex', items: 'state.workItems' };
    const route = (from: string, condition: string, targetSocketId: string) => {
      return { id: `${from} ${condition}`, from, condition, targetSocketId };
    };
    return {
      sockets: {
        'Socket-1': { materia: 'Plan', edges: [{ when: 'always', to: 'Socket-2' }] },
        'Socket-2': { materia: 'Write', edges: [{ when: 'always', to: 'Socket-3' }] },
        'Socket-3': {
          materia: 'Judge',
          edges: [
            { when: 'satisfied', to: 'Socket-4' },
            defined({ when: 'not_satisfied', to: back, maxTraversals: retries }),
          ],
        },
        'Socket-4': { materia: keeper, advance: { ...walk, when }, edges: [{ when: 'always', to: 'Socket-2' }] },
        'Socket-5': { materia: 'List', edges: [{ when: 'always', to: 'Socket-6' }] },
        'Socket-6': { materia: 'Tool', advance: walk, edges: [{ when: 'always', to: 'Socket-6' }] },
        'Socket-7': { materia: 'Write' },
      },
      loops: {
        a: {
          sockets: ['Socket-2', 'Socket-3', 'Socket-4'],
          consumes: { from: 'Socket-1' },
          exits: exits.map((condition) => route('Socket-4', condition, next)),
        },
        b: { sockets: ['Socket-6'], consumes: { from: 'Socket-5' }, exits: [route('Socket-6', 'always', last)] },
      },
    };
  });

/** A configuration whose one loadout `Flow` has no error. */
export const config: fc.Arbitrary<JsonObject> = fc
  .oneof(tangle, workflow)
  .chain(({ sockets, loops }) => {
    return fc.record({
      sockets: fc.constant(sockets),
      loops: fc.constant(loops),
      limits: fc.record({
        maxNoAdvanceCycles: fc.integer({ min: 1, max: 3 }),
        repairTurnsMax: fc.integer({ min: 0, max: 2 }),
        maxBriefBytes: fc.constantFrom(300, 2_000, 65_536),
      }),
      budget: fc.record({ maxTokens: fc.integer({ min: 5, max: 120 }), warnAtPercent: fc.constant(50) }),
    });
  })
  .map(({ sockets, loops, ...rest }) => soundest(sockets, loops, rest));

/** A socket that may be anything: what its materia cannot have is taken away from it. */
function socket(ids: readonly string[]): fc.Arbitrary<JsonObject> {
  const target = fc.constantFrom(...ids, ...ids, ...ids, 'end');
  const budget = seldom(fc.integer({ min: 1, max: 3 }), 2);
  const edge = (when: string) =>
    fc.option(
      fc.record({ to: target, maxTraversals: budget }).map((made) => defined({ when, ...made })),
      { nil: undefined, freq: 3 },
    );
  const walk = fc.record({ items: fc.constantFrom(...LIST_PATHS), cursor: fc.constantFrom('i', 'j', 'workItemIndex') });
  const when = fc.constantFrom('always', 'satisfied', 'not_satisfied');
  return fc
    .record({
      materia: fc.constantFrom('Plan', 'Write', 'Judge', 'Report', 'Tool', 'Publish', 'List'),
      edges: fc.tuple(edge('satisfied'), edge('not_satisfied'), edge('always')),
      advance: seldom(
        fc.tuple(walk, when).map(([over, condition]) => ({ ...over, when: condition })),
        3,
      ),
      foreach: seldom(walk, 12),
      assign: fc.constantFrom<(JsonObject | undefined)[]>(
        undefined,
        undefined,
        { note: '$.context' },
        { other: '$.workItems', last: 'lastOutput' },
        { 'deep.slot': 'state.context', context: 'item' },
      ),
    })
    .map(({ materia, edges, advance, foreach, assign }) => {
      const isText = materia === 'Write';
      const kept = edges.filter((each) => each !== undefined).filter((each) => !isText || each.when === 'always');
      const stays = isText && advance ? { ...advance, when: 'always' } : advance;
      const reports = materia === 'Report';
      const parts = { materia, edges: kept, advance: stays, foreach, assign: isText || reports ? undefined : assign };
      return defined(reports ? { ...parts, contract: 'gaia' } : parts);
    });
}

function loop(ids: readonly string[]): fc.Arbitrary<JsonObject> {
  const member = fc.constantFrom(...ids);
  const route = fc.record({
    from: member,
    condition: fc.constantFrom('always', 'satisfied', 'not_satisfied'),
    targetSocketId: member,
  });
  return fc
    .record({
      sockets: fc.uniqueArray(member, { minLength: 1 }),
      consumes: seldom(fc.record({ from: member }), 2),
      iterator: seldom(fc.record({ items: fc.constantFrom(...LIST_PATHS) }), 2),
      exits: fc.uniqueArray(route, { maxLength: 3, selector: ({ from, condition }) => `${from} ${condition}` }),
    })
    .map(({ exits, ...rest }) => {
      const inside = exits.filter(({ from }) => rest.sockets.includes(from));
      return defined({ ...rest, exits: inside.map((each) => ({ id: `${each.from} ${each.condition}`, ...each })) });
    });
}

/** The loadout as it was drawn if it checks, else without what loops consume, else without loops. */
function soundest(sockets: JsonObject, loops: Readonly<Record<string, JsonObject>>, rest: JsonObject): JsonObject {
  const plain = Object.entries(loops).map(([id, { consumes: _, ...others }]) => [id, { ...others }] as const);
  const drafts = [loops, Object.fromEntries(plain), {}].map((kept) => ({
    ...rest,
    materia: MATERIA,
    loadouts: { Flow: { entry: 'Socket-1', sockets, loops: kept } },
  }));
  const sound = drafts.find((draft) => check(draft).every(({ level }) => level !== 'error'));
  if (!sound) throw new Error(`a random loadout does not check: ${JSON.stringify(drafts.at(-1))}`);
  return sound;
}

const MATERIA: JsonObject = {
  Plan: { tools: 'none', prompt: 'Plan {{request}}.', generator: true },
  Write: { tools: 'coding', prompt: 'Write {{item.title}}.' },
  Judge: { tools: 'none', prompt: 'Judge {{state.note}}.', parse: 'json', onCrash: 'wait' },
  Report: { tools: 'none', prompt: 'Report {{request}}.', parse: 'json' },
  Tool: { type: 'utility', command: ['tool'], parse: 'json' },
  Publish: { type: 'utility', command: ['publish'], parse: 'json', once: true },
  List: { type: 'utility', command: ['list'], generator: true },
};

/** What a cast may know at its start. */
export const data: fc.Arbitrary<JsonObject> = fc.constantFrom<JsonObject[]>(
  {},
  { workItems: [{ title: 'Given', context: 'at the start' }], other: ['a', { name: 'b' }, 3] },
);

const items = fc.array(fc.constant({ title: 'T', context: 'C' }), { maxLength: 3 });
const whole = fc.record({
  satisfied: fc.boolean(),
  workItems: items,
  context: fc.constantFrom('why', ' ', 'w'.repeat(1500)),
});
const output: fc.Arbitrary<Json> = fc.oneof(
  { weight: 30, arbitrary: whole },
  { weight: 4, arbitrary: whole.chain((all) => fc.subarray(Object.keys(all)).map((keys) => pick(all, keys))) },
  { weight: 1, arbitrary: fc.constant({ satisfied: false, state: { part: { ok: false, error: 'no' }, n: 1 } }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom<Json[]>(
      '',
      'plain words',
      '[1]',
      '{"satisfied":"yes"}',
      '{"tasks":[]}',
      '{"satisfied":true,"workItems":[],"context":"half \\ud83d"}',
      'x'.repeat(3000),
    ),
  },
);

/** Every turn uses at least a token, so that a budget ends what goes on for ever. */
const turn: fc.Arbitrary<Json> = fc.oneof(
  {
    weight: 30,
    arbitrary: fc
      .tuple(output, fc.integer({ min: 1, max: 3 }))
      .map(([said, input]) => ({ $turn: { output: said, usage: { input } } })),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('crash', 'timeout', 'transport')
      .map((fail) => ({ $turn: { fail, usage: { input: 1 } } })),
  },
);

const turns: fc.Arbitrary<readonly Json[]> = fc
  .tuple(fc.array(turn, { minLength: 1, maxLength: 5 }), seldom(fc.constant(true), 4))
  .map(([said, runsOut]) => (runsOut ? said : [...said, '$repeat']));

/** Reports of every status but the one that needs a person's hand on real files, and what a person says in between. */
const status = fc.constantFrom<PlanStatus[]>('COMPLETE', 'COMPLETE', 'IN_PROGRESS', 'NEEDS_INPUT', 'BLOCKED');
const report: fc.Arbitrary<Json> = status.map((each) => {
  const said = asBlock(reportOf(each, { next_action: 'which?', key_outputs: ['found'], open_gaps: ['a gap'] }));
  return { $turn: { output: said, usage: { input: 1 } } };
});
const reports: fc.Arbitrary<readonly Json[]> = fc
  .array(
    fc.oneof(
      { weight: 6, arbitrary: report },
      { weight: 2, arbitrary: fc.constantFrom<Json[]>({ $answer: 'this' }, '$continue') },
      { weight: 1, arbitrary: turn },
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((said) => [...said, '$repeat']);

/** Turns for every materia, and for some sockets of their own. */
export const script: fc.Arbitrary<Readonly<Record<string, readonly Json[]>>> = fc
  .tuple(
    fc.tuple(...Object.keys(MATERIA).map((id) => (id === 'Report' ? reports : turns))),
    fc.dictionary(fc.constantFrom('Socket-1', 'Socket-2'), turns, { maxKeys: 2 }),
  )
  .map(([common, own]) => ({ ...entries(Object.keys(MATERIA), common), ...own }));

/** The value in one of so many cases, else nothing. */
function seldom<T>(value: fc.Arbitrary<T>, outOf: number): fc.Arbitrary<T | undefined> {
  return fc.oneof({ weight: outOf - 1, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value });
}

function entries<T>(keys: readonly string[], values: readonly T[]): Readonly<Record<string, T>> {
  return Object.fromEntries(keys.flatMap((key, index) => (index < values.length ? [[key, values[index] as T]] : [])));
}

function defined(object: Readonly<Record<string, Json | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(object).filter((entry): entry is [string, Json] => entry[1] !== undefined));
}

function pick(object: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(keys.map((key) => [key, object[key] as Json]));
}
