import { expect, test } from 'vitest';
import { buildInput, type InputParts, type SurfaceRouting } from './input-envelope.ts';

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
