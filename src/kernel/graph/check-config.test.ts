import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../json.ts';
import { check } from './check.ts';
import { type Edits, software } from './fixtures/software.ts';

const OTHER = { entry: 'Socket-1', sockets: { 'Socket-1': { materia: 'Sum' } } };
const rows: [rule: string, edits: Edits, issues: string[]][] = [
  ['`roles` is obsolete', { roles: {} }, ['error roles']],
  ['`materiaDefinitions` is obsolete', { materiaDefinitions: {} }, ['error materiaDefinitions']],
  ['there are materia', { materia: [], loadouts: {} }, ['error materia', 'error loadouts']],
  ['there are loadouts', { loadouts: undefined }, ['error loadouts']],
  ['there is at least one loadout', { loadouts: {}, activeLoadout: undefined }, ['error loadouts']],
  ['a loadout is an object', { 'loadouts.Other': null }, ['error loadouts.Other']],
  [
    'a loadout has sockets',
    { 'loadouts.Other': { entry: 'Socket-1' } },
    ['error loadouts.Other.sockets', 'error loadouts.Other.entry'],
  ],
  ['hooks ask for a known contract', { hooks: { contract: 'bogus' } }, ['error hooks.contract']],
  ['hooks ask for it at a stop', { hooks: { contractAt: ['PreToolUse'] } }, ['error hooks.contractAt']],
  ['hooks have known names', { hooks: { contrct: 'gaia' } }, ['error hooks.contrct']],
  ['the active loadout exists', { activeLoadout: 'Nope' }, ['error activeLoadout']],
  ['a single loadout need not be named active', { activeLoadout: undefined }, []],
  ['of several loadouts one is active', { activeLoadout: undefined, 'loadouts.Other': OTHER }, ['error activeLoadout']],
  [
    'it may be named by its id',
    { activeLoadout: undefined, activeLoadoutId: 'two', 'loadouts.Other': { id: 'two', ...OTHER } },
    [],
  ],
  [
    'by an id that exists',
    { activeLoadout: undefined, activeLoadoutId: 'three', 'loadouts.Other': { id: 'two', ...OTHER } },
    ['error activeLoadoutId'],
  ],
  [
    'by name and id together it is the same one',
    { activeLoadoutId: 'two', 'loadouts.Other': { id: 'two', ...OTHER } },
    ['error activeLoadoutId'],
  ],
  ['an id beside the name exists too', { activeLoadoutId: 'three' }, ['error activeLoadoutId']],
  ['a prompt on a loadout is obsolete', { 'loadouts.Flow.prompt': 'x' }, ['error loadouts.Flow.prompt']],
  [
    'a system prompt on a loadout is obsolete',
    { 'loadouts.Flow.systemPrompt': 'x' },
    ['error loadouts.Flow.systemPrompt'],
  ],
  ['unknown fields of a loadout are pointed out', { 'loadouts.Flow.socket': {} }, ['error loadouts.Flow.socket']],
  ['the place of sockets on a screen means nothing', { 'loadouts.Flow.layout': { sockets: {} } }, []],
  ['a loadout has a known source', { 'loadouts.Flow.source': 'web' }, ['error loadouts.Flow.source']],

  ['`budget` is an object', { budget: 5 }, ['error budget']],
  ['`maxTokens` is a whole number', { budget: { maxTokens: 1.5 } }, ['error budget.maxTokens']],
  ['`maxTokens` is not negative', { budget: { maxTokens: -1 } }, ['error budget.maxTokens']],
  ['`maxTokens` may be 0: already used up', { budget: { maxTokens: 0 } }, []],
  ['`maxCost` is not negative', { budget: { maxCost: -0.1 } }, ['error budget.maxCost']],
  ['`maxCost` may be a fraction', { budget: { maxCost: 0.5 } }, []],
  ['`maxDurationMs` is positive', { budget: { maxDurationMs: 0 } }, ['error budget.maxDurationMs']],
  ['`warnAtPercent` starts at 1', { budget: { warnAtPercent: 0 } }, ['error budget.warnAtPercent']],
  ['`warnAtPercent` ends at 100', { budget: { warnAtPercent: 101 } }, ['error budget.warnAtPercent']],
  ['what a day may use is a number', { budget: { maxTokensPerDay: 10, maxCostPerDay: 0.5 } }, []],
  ['`maxTokensPerDay` is a whole number', { budget: { maxTokensPerDay: 0.5 } }, ['error budget.maxTokensPerDay']],
  ['`maxCostPerDay` is not negative', { budget: { maxCostPerDay: -1 } }, ['error budget.maxCostPerDay']],
  ['a runner may have limits', { runners: { claude: { maxConcurrent: 2, perMinute: 10 } } }, []],
  ['`runners` is an object', { runners: [] }, ['error runners']],
  ['limits are of a known runner', { runners: { gpt: {} } }, ['error runners.gpt']],
  ['the limits of a runner are an object', { runners: { pi: 2 } }, ['error runners.pi']],
  ['`maxConcurrent` is positive', { runners: { pi: { maxConcurrent: 0 } } }, ['error runners.pi.maxConcurrent']],
  ['unknown limits are pointed out', { runners: { pi: { perHour: 1 } } }, ['warning runners.pi.perHour']],
  ['a model may have a price', { prices: { m: { input: 1, output: 2.5, cached: 0 } } }, []],
  ['`prices` is an object', { prices: [] }, ['error prices']],
  ['a price is an object', { prices: { m: 3 } }, ['error prices.m']],
  ['a price says both', { prices: { m: { input: 1 } } }, ['error prices.m']],
  ['a price is not negative', { prices: { m: { input: -1, output: 1 } } }, ['error prices.m.input']],
  ['unknown prices are pointed out', { prices: { m: { input: 1, output: 1, hit: 1 } } }, ['warning prices.m.hit']],
  ['`mcp` is true or false', { mcp: 'no' }, ['error mcp']],
  ['`mcp` may be declined', { mcp: false }, []],
  ['old budget fields are ignored', { budget: { maxCostUsd: 20, stopAtLimit: true } }, []],
  ['`limits` is an object', { limits: [] }, ['error limits']],
  ['`maxNoAdvanceCycles` is positive', { limits: { maxNoAdvanceCycles: 0 } }, ['error limits.maxNoAdvanceCycles']],
  ['`repairTurnsMax` is not negative', { limits: { repairTurnsMax: -1 } }, ['error limits.repairTurnsMax']],
  ['`repairTurnsMax` may be 0', { limits: { repairTurnsMax: 0 } }, []],
  ['`maxBriefBytes` is positive', { limits: { maxBriefBytes: 'x' } }, ['error limits.maxBriefBytes']],
  ['old limits are ignored', { limits: { maxSocketVisits: 0, maxEdgeTraversals: -1 } }, []],
  ['`maxConcurrency` is positive', { parallelism: { maxConcurrency: 0 } }, ['error parallelism.maxConcurrency']],
  [
    'compaction is a percentage',
    { compaction: { proactiveThresholdPercent: 300 } },
    ['error compaction.proactiveThresholdPercent'],
  ],
  [
    'the windows of models are covered from 0 on, each once',
    {
      compaction: {
        proactiveThresholdTiers: [
          { id: 'small', maxContextWindow: 128_000, thresholdPercent: 70 },
          { minContextWindow: 128_000, thresholdPercent: 50.5 },
        ],
      },
    },
    [],
  ],
  ...tiers(
    ['tiers are a list', {}, ''],
    ['there is at least one tier', [], ''],
    ['a tier is an object', [3], '[0]'],
    ['a tier says when', [{}], '[0].thresholdPercent'],
    ['a tier is a percentage', [tier(null, null, 0)], '[0].thresholdPercent'],
    ['a window is a whole number', [tier(1.5, null)], '[0].minContextWindow'],
    ['the first tier begins at 0', [tier(5, null)], '[0].minContextWindow'],
    ['the last tier has no end', [tier(0, 10)], '[0].maxContextWindow'],
    ['any other has one', [tier(0, null), tier(5, null)], '[0].maxContextWindow'],
    ['which lies above its beginning', [tier(0, 5), tier(5, 5), tier(5, null)], '[1].maxContextWindow'],
    ['there is no gap', [tier(0, 5), tier(6, null)], '[1].minContextWindow'],
    ['there is no overlap', [tier(0, 5), tier(4, null)], '[1].minContextWindow'],
  ),
  [
    'models that are qualified have a name',
    { finalization: { agentJson: { qualifiedModels: [{ model: '*' }, {}] } } },
    ['error finalization.agentJson.qualifiedModels'],
  ],
  [
    'the strategy of finalization is known',
    { finalization: { agentJson: { strategy: 'x' } } },
    ['error finalization.agentJson.strategy'],
  ],
  ['unknown fields of the configuration are pointed out', { limit: {} }, ['error limit']],
  ['unknown budgets are pointed out', { budget: { maxToken: 5 } }, ['error budget.maxToken']],
  ['unknown limits are pointed out', { limits: { maxNoAdvanceCycle: 5 } }, ['error limits.maxNoAdvanceCycle']],
  ['the schema for editors, and what starts with x_, is nobody else’s', { $schema: './s.json', x_mine: 1 }, []],
  ['a sink is an object', { eventing: { sinks: { hook: 'http://x' } } }, ['error eventing.sinks.hook']],
];

function tier(min: number | null, max: number | null, thresholdPercent = 60): JsonObject {
  return { minContextWindow: min, maxContextWindow: max, thresholdPercent };
}

function tiers(...cases: readonly [string, Json, string][]): typeof rows {
  const path = 'compaction.proactiveThresholdTiers';
  return cases.map(([rule, value, at]) => [rule, { [path]: value }, [`error ${path}${at}`]]);
}

test('whoever has to name a loadout is told how, and which there are', () => {
  const [issue] = check(software({ activeLoadout: 'Nope', 'loadouts.Other': OTHER }));
  expect(issue?.message).toBe(
    'There is no loadout "Nope". Set activeLoadout to one of: Flow, Other; a cast can name one with -l.',
  );
});

test.each(rows)('%s', (_rule, edits, issues) => {
  // The loadouts of a row that takes the materia away are not its concern.
  const found = check(software({ activeLoadout: 'materia' in edits ? undefined : 'Flow', ...edits }));
  expect(found.map(({ level, path }) => `${level} ${path}`)).toEqual(issues);
  for (const issue of found)
    expect(issue.code).toBe(issue.path.endsWith('.entry') ? 'UNKNOWN_ENDPOINT' : 'INVALID_CONFIG');
});

test.each([
  [{ limit: {} }, '"limit" is not a field of the configuration, and nothing reads it. Did you mean limits?'],
  [
    { budget: { max_tokens: 5 } },
    '"max_tokens" is not a field of budget, and nothing reads it. Did you mean maxTokens?',
  ],
  [{ budget: { purse: 5 } }, '"purse" is not a field of budget, and nothing reads it. Correct its name, remove it'],
])('%j: the nearest name is told', (edits: Edits, message) => {
  expect(check(software(edits))[0]?.message).toContain(message);
});

test.each([null, true, 7, 'x', []])('%j is no configuration', (config) => {
  expect(check(config)).toMatchObject([{ code: 'INVALID_CONFIG', level: 'error', path: 'config' }]);
});

test.each(['', ' ', '__proto__'])('%j is no name of a loadout', (name) => {
  const { Flow } = software().loadouts as { Flow: object };
  const config = { ...software(), activeLoadout: name, loadouts: JSON.parse(`{"${name}": ${JSON.stringify(Flow)}}`) };
  expect(check(config)[0]).toMatchObject({ code: 'INVALID_CONFIG', path: `loadouts.${name}` });
});
