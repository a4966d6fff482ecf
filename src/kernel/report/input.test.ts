import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { play } from '../../../test/play.ts';
import { INPUT_SCHEMA } from '../../dialects/gaia/contract.ts';
import { dialects } from '../../dialects/index.ts';
import { taskOfTurn } from '../cast/item.ts';
import { decide } from '../decide.ts';
import type { Json, JsonObject } from '../json.ts';
import { suggestMemory } from '../knowledge/memory.ts';
import { type Knowledge, noKnowledge } from '../knowledge/state.ts';
import { newPen } from '../pen.ts';
import { utf8Length } from '../text.ts';
import { inputOf } from './input.ts';

const fitsSchema = new Ajv2020({ strict: false }).compile(INPUT_SCHEMA);

type Scene = {
  readonly config?: JsonObject;
  readonly request?: string;
  readonly sections?: Readonly<Record<string, JsonObject>>;
  readonly notes?: readonly (readonly [string, string | null])[];
  readonly identity?: string;
};

function knowledgeOf({ sections = {}, notes = [] }: Scene): Knowledge {
  const knowledge = noKnowledge();
  for (const [name, value] of Object.entries(sections)) {
    knowledge.sections[name] = { value, version: 1, at: 0, by: 'x' };
  }
  for (const [index, [body, section]] of notes.entries()) {
    const id = `m${index + 1}`;
    knowledge.memory[id] = { id, key: id, description: null, body, section, at: index };
  }
  return knowledge;
}

/** The INPUT of the first turn of a cast with one agent. */
function input(scene: Scene): JsonObject {
  const { config = {}, request = 'mend the login', identity } = scene;
  const { state, cast, turn } = play({
    config: {
      materia: { Build: { prompt: 'x', tools: 'none', ...(identity === undefined ? {} : { identity }) } },
      loadouts: { L: { entry: 'Socket-1', sockets: { 'Socket-1': { materia: 'Build', parse: 'json' } } } },
      ...config,
    },
    request,
    hold: true,
  });
  const envelope = inputOf({ ...state, knowledge: knowledgeOf(scene) }, cast, turn);
  expect(fitsSchema(envelope) || fitsSchema.errors).toBe(true);
  expect(utf8Length(JSON.stringify(envelope))).toBeLessThanOrEqual(16_384);
  return envelope;
}

const at = (envelope: JsonObject, section: string) => envelope[section] as JsonObject;

test('without anything configured the agent reads everything and writes nothing', () => {
  const envelope = input({ sections: { services: { web: {} }, infra: { region: 'eu' } } });
  expect(envelope).toEqual({
    project_knowledge: { infra: { region: 'eu' }, services: { web: {} } },
    surface_routing: {
      active_surfaces: [],
      primary_surface: '',
      multi_surface: false,
      dispatch_mode: 'reconnaissance',
      confidence: 0,
      recommended_agents: [],
      matched_signals: {},
      reconnaissance_agent: '',
    },
    agent_contract_handoff: expect.objectContaining({
      goal: 'mend the login',
      acceptance_criteria: [],
      scope: [],
      agent_role: 'reconnaissance',
      cross_check_required: false,
      consolidation_required: false,
      contract_sections_to_anchor: ['infra', 'services'],
    }),
    write_permissions: {
      readable_sections: ['infra', 'services'],
      writable_sections: [],
      empty_sections: [],
      source: 'default',
    },
    metadata: {
      session_id: expect.any(String),
      provider: 'claude',
      contract_version: '1',
      surface_routing_version: '1',
      surface_routing_confidence: 0,
      active_surfaces_count: 0,
      historical_episodes_count: 0,
    },
  });
});

const SURFACES = {
  surfaces: {
    api: { agent: 'Build', keywords: ['login'], neighbours: ['web'], checks: ['npm test'], sections: ['services'] },
    web: { agent: 'Front', keywords: ['button'], checks: ['npm run e2e'] },
  },
  reconnaissanceAgent: 'Front',
  materia: { Build: { prompt: 'x', tools: 'none', identity: 'domain-02' }, Front: { prompt: 'x', tools: 'none' } },
};

const ROUTES: [string, Scene, string[], string, string[], boolean][] = [
  ['its own surface', {}, ['api'], 'primary', ['services'], false],
  ['two surfaces', { request: 'the button after login' }, ['api', 'web'], 'primary', ['services'], true],
  ['the surface of another', { request: 'the button' }, ['web'], 'adjacent', ['infra', 'services'], true],
  ['no surface: its own', { request: 'hello' }, ['api'], 'primary', ['services'], false],
];

test.each(ROUTES)('work on %s', (_name, scene, active, role, knowledge, crossCheck) => {
  const envelope = input({ config: SURFACES, sections: { services: { web: {} }, infra: { a: 1 } }, ...scene });
  expect(at(envelope, 'surface_routing').active_surfaces).toEqual(active);
  expect(Object.keys(at(envelope, 'project_knowledge'))).toEqual(knowledge);
  expect(at(envelope, 'agent_contract_handoff')).toMatchObject({
    agent_role: role,
    cross_check_required: crossCheck,
    consolidation_required: crossCheck,
  });
  expect(at(envelope, 'metadata').surface_routing_confidence).toBe(at(envelope, 'surface_routing').confidence);
});

test('a surface may name its agent by its identity', () => {
  const { surfaces, ...rest } = SURFACES;
  const config = { ...rest, surfaces: { ...surfaces, api: { ...surfaces.api, agent: 'domain-02' } } };
  expect(at(input({ config }), 'agent_contract_handoff')).toMatchObject({ agent_role: 'primary' });
});

test('permissions come from the configuration, and empty sections ask to be filled', () => {
  const context = {
    sections: { services: {}, infra: {} },
    read: { Build: ['infra'] },
    write: { '*': ['services', 'infra'] },
  };
  const envelope = input({ config: { context }, sections: { infra: { a: 1 }, other: { b: 1 } } });
  expect(at(envelope, 'project_knowledge')).toEqual({ infra: { a: 1 } });
  expect(at(envelope, 'write_permissions')).toEqual({
    readable_sections: ['infra'],
    writable_sections: ['infra', 'services'],
    empty_sections: ['services'],
    source: 'config',
  });
});

test('what was accepted is told by section, the newest first, where the section may be read', () => {
  const context = { sections: { infra: {}, services: {} }, read: { '*': ['infra'] } };
  const notes = [
    ['use tabs', null],
    ['eu only', 'infra'],
    ['no ipv6', 'infra'],
    ['hidden', 'services'],
  ] as const;
  const envelope = input({ config: { context }, notes });
  expect(at(envelope, 'project_knowledge').memory).toEqual({
    '*': [{ id: 'm1', body: 'use tabs' }],
    infra: [
      { id: 'm3', body: 'no ipv6' },
      { id: 'm2', body: 'eu only' },
    ],
  });
  expect(at(envelope, 'agent_contract_handoff').contract_sections_to_anchor).toEqual([]);
});

test('metadata names the session, the provider and the version of the contract', () => {
  const envelope = input({ config: { materia: { Build: { prompt: 'x', tools: 'none', runner: 'codex' } } } });
  expect(at(envelope, 'metadata')).toMatchObject({ session_id: 'c', provider: 'codex', contract_version: '1' });
});

const PROVIDERS: [string, JsonObject, Json | undefined][] = [
  ['none', { region: 'eu' }, undefined],
  ['one', { cloud_provider: 'AWS' }, 'aws'],
  ['several', { cloud_providers: [{ name: 'GCP' }, { name: 'aws' }] }, 'gcp'],
  ['no single one', { provider: 'multi-cloud' }, undefined],
  ['no text', { provider: 7 }, undefined],
];

test.each(PROVIDERS)('the infrastructure names %s', (_name, infrastructure, provider) => {
  expect(at(input({ sections: { infrastructure } }), 'metadata').cloud_provider).toBe(provider);
});

test('the provider is told to nobody who may not read the section', () => {
  const scene = { config: { context: { read: {} } }, sections: { infrastructure: { cloud_provider: 'aws' } } };
  expect(at(input(scene), 'metadata').cloud_provider).toBeUndefined();
});

test('the goal of an item is its title and context; criteria and scope are those of its task', () => {
  const played = play({
    config: {
      materia: {
        Plan: { prompt: 'x', tools: 'none', generator: true },
        Build: { prompt: '{{item.title}}', tools: 'coding', lockScope: ['src/auth'] },
      },
      loadouts: {
        L: {
          entry: 'Socket-1',
          sockets: {
            'Socket-1': {
              materia: 'Plan',
              parse: 'json',
              assign: { workItems: '$.workItems' },
              edges: [{ when: 'always', to: 'Socket-2' }],
            },
            'Socket-2': {
              materia: 'Build',
              edges: [{ when: 'always', to: 'Socket-2' }],
              advance: { cursor: 'i', items: 'state.workItems', done: 'end' },
            },
          },
          loops: { items: { sockets: ['Socket-2'], consumes: { from: 'Socket-1', output: 'workItems' } } },
        },
      },
      surfaces: { api: { agent: 'Build', keywords: ['expiry'] } },
    },
    request: 'make sessions last',
    hold: true,
  });
  const workItems = [{ title: 'Mend the login', context: 'The expiry is in seconds.' }];
  played.tell({ kind: 'turn.prepared', cast: played.cast.id, turn: 1, attempt: 1, seal: 's' });
  played.tell({
    kind: 'attempt.output',
    cast: played.cast.id,
    turn: 1,
    attempt: 1,
    output: JSON.stringify({ workItems }),
  });
  if (played.turn.id === 1) {
    played.tell({ kind: 'turn.verified', cast: played.cast.id, turn: 1, attempt: 1, seal: 's' });
  }
  const { state, cast, turn } = played;
  expect(turn.item?.key).toBe('WI-1');
  Object.assign(taskOfTurn(state, cast, turn) ?? {}, { criteria: ['sessions last an hour'] });
  const envelope = inputOf(state, cast, turn);
  expect(at(envelope, 'agent_contract_handoff')).toMatchObject({
    goal: 'Mend the login\n\nThe expiry is in seconds.',
    acceptance_criteria: ['sessions last an hour'],
    scope: ['src/auth'],
  });
  expect(at(envelope, 'surface_routing').matched_signals).toEqual({ api: ['expiry'] });
});

test('knowledge is shortened from the end, and what is missing is named', () => {
  const big = (name: string) => ({
    first: `${name} first`,
    list: Array.from({ length: 90 }, (_, n) => `${name} ${n} ${'x'.repeat(80)}`),
    last: 'x',
  });
  const envelope = input({ sections: { a: big('a'), b: big('b'), c: big('c') } });
  const knowledge = at(envelope, 'project_knowledge');
  expect(Object.keys(knowledge)).toEqual(['a', 'b', 'c']);
  expect(knowledge.a).toEqual(big('a'));
  expect((at(knowledge, 'b').list as Json[]).length).toBeGreaterThan(5);
  const missing = 90 - (at(knowledge, 'b').list as Json[]).length;
  const { left_out: left, left_out_count: count } = at(envelope, 'metadata');
  expect(left).toEqual(expect.arrayContaining([`b.list: ${missing} of 90`]));
  expect(count).toBe((left as Json[]).length);
  expect(at(envelope, 'metadata').left_out_note).toContain('read_context');
});

test('more is left out than can be named: how much it is is told all the same', () => {
  const many = Object.fromEntries(Array.from({ length: 400 }, (_, n) => [`member-number-${n}`, 'x'.repeat(100)]));
  const { left_out: left, left_out_count: count } = at(input({ sections: { a: many } }), 'metadata');
  const kept = Object.keys(at(at(input({ sections: { a: many } }), 'project_knowledge'), 'a')).length;
  expect(count).toBe(400 - kept);
  expect((left as Json[]).length).toBeLessThan(400 - kept);
});

test('a long goal is cut, and what may be written is never', () => {
  const names = Array.from({ length: 60 }, (_, n) => `${'s'.repeat(60)}${n}`);
  const context = { sections: Object.fromEntries(names.map((name) => [name, {}])), write: { '*': names } };
  const envelope = input({ config: { context }, request: '\u0001'.repeat(50_000) });
  expect(at(envelope, 'write_permissions').writable_sections).toEqual(names.toSorted());
  expect(String(at(envelope, 'agent_contract_handoff').goal)).toMatch(/…$/);
  expect(at(envelope, 'metadata').left_out).toEqual(expect.arrayContaining(['goal']));
});

test('where everything is at its bound, the goal makes room', () => {
  const names = Array.from({ length: 128 }, (_, n) => `${'s'.repeat(60)}${n}`);
  const long = Array.from({ length: 64 }, (_, n) => `${n} ${'x'.repeat(100)}`);
  const config = {
    context: {
      sections: Object.fromEntries(names.map((name) => [name, {}])),
      write: { Build: names.slice(0, 64), 'domain-02': names.slice(64) },
    },
    surfaces: { api: { agent: 'Build', keywords: ['login'], checks: long } },
    materia: { Build: { prompt: 'x', tools: 'none', identity: 'domain-02' } },
  };
  const envelope = input({ config, request: `login ${'é'.repeat(50_000)}` });
  expect(at(envelope, 'write_permissions').writable_sections).toEqual(names.toSorted());
  expect(utf8Length(String(at(envelope, 'agent_contract_handoff').goal))).toBeLessThan(4_000);
});

const runs = Number(process.env.FUZZ_RUNS ?? 500);
const anyJson = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>;
const anySection = fc.dictionary(
  fc.string({ maxLength: 40 }),
  fc.oneof(anyJson, fc.string({ maxLength: 9_000, size: 'max' })),
  {
    maxKeys: 5,
    noNullPrototype: true,
  },
);

test('whatever is known, the envelope keeps its shape and its bound', { timeout: 20_000 + runs * 10 }, () => {
  const sections = fc.dictionary(fc.stringMatching(/^[a-z]{1,20}$/), anySection, { maxKeys: 8, noNullPrototype: true });
  const notes = fc.array(fc.tuple(fc.string({ maxLength: 2_000, size: 'max' }), fc.constantFrom(null, 'infra')), {
    maxLength: 6,
  });
  fc.assert(
    fc.property(sections, notes, fc.string({ maxLength: 9_000, size: 'max' }), (known, told, request) => {
      const scene = { sections: known as Record<string, JsonObject>, notes: told, request, config: SURFACES };
      const envelope = input(scene);
      expect(JSON.parse(JSON.stringify(envelope))).toEqual(envelope);
      expect(input(scene)).toEqual(envelope);
    }),
    { numRuns: Math.ceil(runs / 50) },
  );
});

test('a suggestion is told to later turns once a person has accepted it', () => {
  const played = play({
    config: {
      materia: { Build: { prompt: 'x', tools: 'none' } },
      loadouts: { L: { entry: 'Socket-1', sockets: { 'Socket-1': { materia: 'Build', parse: 'json' } } } },
    },
    hold: true,
  });
  const { state, cast, turn } = played;
  const who = { agent: 'Build', agentId: 'a00c0ffee', cast: cast.id, turn: turn.id };
  suggestMemory(newPen(state, 0, dialects), { memory_suggestions: ['use tabs'] }, who);
  expect(at(inputOf(state, cast, turn), 'project_knowledge')).toEqual({});
  decide(dialects, state, { kind: 'memory.accept', id: 'm1', isAgent: false, at: 0, by: 'user:ada' });
  expect(at(inputOf(state, cast, turn), 'project_knowledge')).toEqual({
    memory: { '*': [{ id: 'm1', body: 'use tabs' }] },
  });
});
