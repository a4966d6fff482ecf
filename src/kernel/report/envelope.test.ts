import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  buildInput,
  confidenceOf,
  fallbackTo,
  type InputParts,
  matchSurfaces,
  type SurfaceRouting,
} from './envelope.ts';

const surface = (agent: string, neighbours: string[] = [], sections: string[] = []) => ({
  agent,
  neighbours,
  checks: [`check ${agent}`],
  sections,
});
const parts = (fields: Partial<InputParts>): InputParts => ({
  agent: 'backend',
  goal: 'mend the login',
  acceptanceCriteria: ['sessions last an hour'],
  scope: ['src/auth'],
  surfaces: {
    api: surface('backend', ['web'], ['services']),
    web: surface('frontend'),
    planning_specs: surface('planner'),
  },
  activeSurfaces: ['api'],
  reconnaissanceAgent: 'scout',
  store: { services: { login: {} }, apps: 'unreadable', secrets: { a: 1 } },
  readableSections: ['apps', 'services', 'absent'],
  writableSections: ['services', 'clusters'],
  permissionSource: 'config',
  metadata: { session_id: 's-1' },
  ...fields,
});

test('an envelope has five sections and carries what the turn needs', () => {
  const envelope = buildInput(parts({}));
  expect(Object.keys(envelope)).toEqual([
    'project_knowledge',
    'surface_routing',
    'agent_contract_handoff',
    'write_permissions',
    'metadata',
  ]);
  expect(envelope.project_knowledge).toEqual({ services: { login: {} } });
  expect(envelope.agent_contract_handoff).toMatchObject({
    goal: 'mend the login',
    acceptance_criteria: ['sessions last an hour'],
    agent_role: 'primary',
    adjacent_surfaces: ['web'],
    required_checks: ['check backend', 'check frontend'],
    contract_sections_to_anchor: ['services'],
    consolidation_fields: [],
  });
  expect(envelope.agent_contract_handoff.evidence_required).toHaveLength(7);
  expect(envelope.write_permissions).toMatchObject({ empty_sections: ['clusters'] });
  expect(envelope.metadata).toEqual({ session_id: 's-1', active_surfaces_count: 1 });
});

const ROUTE_ROWS: [string, Partial<InputParts>, string, string, string, boolean][] = [
  ['its own surface', {}, 'single_surface', 'api', 'primary', false],
  ['no surface of anybody', { agent: 'guest', activeSurfaces: [] }, 'reconnaissance', '', 'reconnaissance', false],
  ['no surface, but it has one', { activeSurfaces: [] }, 'single_surface', 'api', 'primary', false],
  ['another surface', { activeSurfaces: ['web'] }, 'single_surface', 'web', 'adjacent', true],
  ['two surfaces, its own second', { activeSurfaces: ['web', 'api'] }, 'parallel', 'api', 'primary', true],
  ['two surfaces with planning', { activeSurfaces: ['api', 'planning_specs'] }, 'sequential', 'api', 'primary', true],
  [
    'the second of its two surfaces',
    { surfaces: { api: surface('backend'), db: surface('backend') }, activeSurfaces: ['db'] },
    'single_surface',
    'db',
    'primary',
    false,
  ],
  ['a surface of another, without its own', { agent: 'guest' }, 'single_surface', 'api', 'adjacent', false],
];

test.each(ROUTE_ROWS)('an agent for %s', (_name, fields, mode, primary, role, consolidation) => {
  const { surface_routing: routing, agent_contract_handoff: brief } = buildInput(parts(fields));
  expect(routing).toMatchObject({ dispatch_mode: mode, primary_surface: primary });
  expect(brief).toMatchObject({
    agent_role: role,
    consolidation_required: consolidation,
    cross_check_required: consolidation,
  });
});

const ROUTING_ROWS: [string, Partial<InputParts>, Partial<SurfaceRouting>][] = [
  [
    'one surface, not counted',
    {},
    { multi_surface: false, confidence: 0, matched_signals: {}, recommended_agents: ['backend'] },
  ],
  [
    'one surface, found by a word',
    { matches: [{ surface: 'api', score: 3, signals: ['login'] }] },
    { confidence: 1, matched_signals: { api: ['login'] } },
  ],
  ['two surfaces', { activeSurfaces: ['web', 'api'] }, { multi_surface: true }],
  [
    'no surface, so that its own is taken',
    { activeSurfaces: [] },
    { confidence: 0.07, matched_signals: { api: ['agent-fallback'] } },
  ],
  [
    'no surface of anybody',
    { agent: 'guest', activeSurfaces: [] },
    { multi_surface: false, confidence: 0, matched_signals: {}, recommended_agents: ['scout'] },
  ],
  [
    'no surface and no scout',
    { agent: 'guest', activeSurfaces: [], reconnaissanceAgent: '' },
    { recommended_agents: [] },
  ],
];

test.each(ROUTING_ROWS)('the routing for %s', (_name, fields, routing) => {
  expect(buildInput(parts(fields)).surface_routing).toMatchObject(routing);
});

test('a surface without a rule has no agent, no neighbours and no checks', () => {
  const input = buildInput(parts({ agent: 'guest', activeSurfaces: ['gone'] }));
  expect(input.surface_routing).toMatchObject({ primary_surface: 'gone', recommended_agents: ['scout'] });
  expect(input.agent_contract_handoff).toMatchObject({ adjacent_surfaces: [], required_checks: [] });
});

test('peers are the recommended agents except itself', () => {
  const { surface_routing, agent_contract_handoff } = buildInput(parts({ activeSurfaces: ['web', 'api'] }));
  expect(surface_routing.recommended_agents).toEqual(['frontend', 'backend']);
  expect(agent_contract_handoff.recommended_peer_agents).toEqual(['frontend']);
});

test('without relevant knowledge the agent sees all it may read, what cannot be used as empty', () => {
  expect(buildInput(parts({ activeSurfaces: ['web'] })).project_knowledge).toEqual({
    apps: {},
    services: { login: {} },
  });
});

const runs = Number(process.env.FUZZ_RUNS ?? 500);
const words = (keywords: string[] = [], commands: string[] = [], artifacts: string[] = []) => ({
  keywords,
  commands,
  artifacts,
});
const SURFACES = {
  infra: words(['cluster', 'network'], ['terraform apply'], ['main.tf']),
  api: words(['login', 'session'], ['npm test']),
  web: words(['button']),
};

const ROWS: [string, string, [string, number, string[]][]][] = [
  ['says nothing of any', 'hello', []],
  ['has a keyword', 'mend the login', [['api', 1, ['login']]]],
  ['has a keyword in capitals, within a word', 'LOGINS fail', [['api', 1, ['login']]]],
  ['has a command, over a line break', 'run terraform\n  apply', [['infra', 1.5, ['terraform apply']]]],
  ['has an artifact', 'see main.tf', [['infra', 1, ['main.tf']]]],
  ['has the name of a surface', 'the web', [['web', 1, ['web']]]],
  ['repeats a keyword', 'login login login', [['api', 1, ['login']]]],
  [
    'has two surfaces, one of them just above the share',
    'login session of the cluster: terraform apply',
    [
      ['infra', 2.5, ['cluster', 'terraform apply']],
      ['api', 2, ['login', 'session']],
    ],
  ],
  [
    'has a surface below the share of the best',
    'cluster network terraform apply, and a button',
    [['infra', 3.5, ['cluster', 'network', 'terraform apply']]],
  ],
  [
    'has a tie, told by name',
    'a button after login',
    [
      ['api', 1, ['login']],
      ['web', 1, ['button']],
    ],
  ],
];

test.each(ROWS)('a text that %s', (_name, text, expected) => {
  const matches = matchSurfaces(text, SURFACES);
  expect(matches.map(({ surface, score, signals }) => [surface, score, signals])).toEqual(expected);
});

test.each([
  [[], 0],
  [[0.2], 0.07],
  [[1], 0.33],
  [[3], 1],
  [[9], 1],
  [[2.5, 2], 0.75],
])('scores %j are a confidence of %d', (scores, confidence) => {
  expect(confidenceOf(scores.map((score) => ({ score })))).toBe(confidence);
});

test('an agent that nothing points to falls back on its own surface', () => {
  expect(fallbackTo('api')).toEqual({ surface: 'api', score: 0.2, signals: ['agent-fallback'] });
});

test('blank words match nothing', () => {
  expect(matchSurfaces('a  b', { x: words(['', ' ']) })).toEqual([]);
});

test('any text is scored, best first, the same each time, and in time', { timeout: 20_000 + runs * 10 }, () => {
  const list = fc.array(fc.string({ maxLength: 6 }), { maxLength: 4 });
  const surfaces = fc.dictionary(fc.string({ minLength: 1, maxLength: 4 }), fc.tuple(list, list, list), { maxKeys: 5 });
  fc.assert(
    fc.property(fc.string({ maxLength: 60 }), surfaces, (text, given) => {
      const named = Object.fromEntries(Object.entries(given).map(([name, [k, c, a]]) => [name, words(k, c, a)]));
      const matches = matchSurfaces(text, named);
      expect(matchSurfaces(text, named)).toEqual(matches);
      const scores = matches.map(({ score }) => score);
      expect(scores).toEqual(scores.toSorted((a, b) => b - a));
      expect(scores.every((score) => score >= 1 && score >= 0.55 * (scores[0] ?? 0))).toBe(true);
      expect(confidenceOf(matches)).toBeLessThanOrEqual(1);
    }),
    { numRuns: runs },
  );
  const before = performance.now();
  const many = Array.from({ length: 64 }, (_, n) => `${'a'.repeat(199)}${n}`);
  const all = Object.fromEntries(many.map((name) => [name, words(many, many, many)]));
  matchSurfaces('a'.repeat(1_000_000), all);
  expect(performance.now() - before).toBeLessThan(5_000);
});
