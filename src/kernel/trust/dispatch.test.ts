// Trust in a cast: who hands to whom, what is recorded with a dispatch, and what a refusal leaves behind.
import { expect, test } from 'vitest';
import { always, exit, graph, notSatisfied, satisfied } from '../../../test/loadouts.ts';
import { play, replayed } from '../../../test/play.ts';
import { envelope, result, TEAM } from '../../../test/team.ts';
import { packetOf, watchOf } from '../cast/packet.ts';
import type { Json, JsonObject } from '../json.ts';
import { deny } from '../verdict.ts';
import type { LoadedRegistry, Sighting } from './state.ts';

const REGISTRY: LoadedRegistry = {
  digest: 'r1',
  lock: 'l1',
  version: '1.0.0',
  agents: { build: { version: '1.0.0', hash: 'h' } },
};
const id = (turn: number) => `550e8400-e29b-41d4-a716-44665544${String(turn).padStart(4, '0')}`;

const seen = (agent: string, turn: number, change: Partial<Sighting> = {}): Sighting => ({
  origin: 'workspace',
  registry: REGISTRY,
  attestation: {
    agent,
    type: 'domain',
    version: '1.0.0',
    promptHash: 'h',
    registry: 'r1',
    lockHash: 'l1',
    composition: null,
    runner: 'claude',
    model: null,
    tools: 'none',
    pinned: false,
    drift: [],
  },
  envelope: { handoff_id: id(turn), timestamp: 'T', digest: 'd', pattern: 1, envelope: {} },
  refusal: null,
  ...change,
});

const LINE = graph(
  {
    'Socket-1': { materia: 'Plan', edges: [always('Socket-2')] },
    'Socket-2': { materia: 'Tidy', edges: [always('Socket-3')] },
    'Socket-3': { materia: 'Build' },
  },
  {
    materia: {
      Plan: { prompt: 'Plan it.', tools: 'none', identity: 'plan' },
      Tidy: { type: 'utility', command: ['true'] },
      Build: { prompt: 'Build it. {{request}}', tools: 'none', identity: 'build' },
    },
  },
);
const AGENTS: Readonly<Record<string, readonly Json[]>> = {
  Plan: ['a plan', '$repeat'],
  Tidy: ['tidy', '$repeat'],
  Build: ['built', '$repeat'],
};

type Play = ReturnType<typeof play>;
const watched = (cast: Play, turn: number) => {
  const open = cast.cast.turns[turn];
  if (!open) throw new Error(`there is no turn ${turn}`);
  return watchOf(cast.state, cast.cast, open).trust;
};
const prepare = (cast: Play, turn: number, trust?: Sighting, used?: JsonObject) =>
  cast.tell({
    kind: 'turn.prepared',
    cast: 'c',
    turn,
    attempt: 1,
    ...(trust ? { trust } : {}),
    ...(used ? { used } : {}),
  } as never);
const say = (cast: Play, turn: number, output: string) =>
  cast.tell({ kind: 'attempt.output', cast: 'c', turn, attempt: 1, output });

/** The cast stands before its third turn: a plan was made, and a utility has passed it on. */
function beforeBuild(config: JsonObject = LINE): Play {
  const cast = play({ config, agents: AGENTS, hold: true, request: 'Do the thing' });
  prepare(cast, 1, seen('plan', 1, { envelope: null }));
  say(cast, 1, 'a plan');
  say(cast, 2, 'tidy');
  return cast;
}

test('an agent with an identity is looked at first, a scripted one too; a utility is not', () => {
  const cast = play({ config: LINE, agents: AGENTS, hold: true });
  expect(cast.owed.map(({ kind }) => kind)).toEqual(['prepare']);
  prepare(cast, 1, seen('plan', 1));
  say(cast, 1, 'a plan');
  expect(cast.owed).toMatchObject([{ kind: 'dispatch', turn: 2 }]);
});

test('the source is the last agent; utilities are passed through', () => {
  const cast = beforeBuild();
  expect(watched(cast, 3)).toMatchObject({ isOn: true, source: 'plan', target: 'build', origin: null, parent: null });
  expect(watched(cast, 3)?.request).toMatchObject({
    type: 'analysis',
    description: 'Do the thing',
    input_data: { handoff: 'tidy' },
  });
});

test('what was established is recorded with the dispatch, and the registry once', () => {
  const cast = beforeBuild();
  prepare(cast, 3, seen('build', 3));
  const started = cast.all('attempt.started');
  expect(started.map(({ attestation }) => attestation?.agent)).toEqual(['plan', undefined, 'build']);
  expect(started.at(-1)?.envelope).toMatchObject({ handoff_id: id(3) });
  expect(cast.all('registry.loaded')).toHaveLength(1);
  expect(replayed(cast.entries)).toEqual(cast.state);
});

test('a pinned prompt goes out as it was hashed, without its slots; where nothing is attested they are filled', () => {
  const pinned = beforeBuild();
  prepare(pinned, 3, seen('build', 3));
  expect(pinned.briefs('Socket-3')[0]).toMatch(/^Build it\. \{\{request\}\}\n\n## Request\nDo the thing/);
  const cast = play({ config: LINE, agents: AGENTS, request: 'Do the thing' });
  expect(cast.briefs('Socket-3')[0]).toMatch(/^Build it\. Do the thing\n/);
});

test('a runner that takes a system prompt gets the pinned one there, whole, and the brief is the rest', () => {
  const cast = play({ config: LINE, hold: true, request: 'Do the thing' });
  prepare(cast, 1, seen('plan', 1, { envelope: null }));
  const packet = packetOf(cast.cast, cast.turn);
  expect(packet.materia).toMatchObject({ system: 'Plan it.' });
  expect(packet.brief).not.toContain('Plan it.');
  expect(packet.brief).toContain('Do the thing');
});

test('a refusal stops the dispatch, blocks what is at fault, and ends the cast with its code', () => {
  const cast = beforeBuild();
  const verdict = deny('PROMPT_BYTES_MISMATCH', 'not the locked one');
  const refusal = { stage: 11, verdict, blocks: { agent: 'build', hash: null, context: null } };
  expect(prepare(cast, 3, seen('build', 3, { attestation: null, envelope: null, refusal })).code).toBe(
    'PROMPT_BYTES_MISMATCH',
  );
  expect([cast.cast.status, cast.cast.code]).toEqual(['failed', 'PROMPT_BYTES_MISMATCH']);
  expect(cast.all('attempt.started')).toHaveLength(2);
  expect(cast.all('quarantine.opened')).toMatchObject([{ key: 'build', where: { cast: 'c', turn: 3 } }]);
  cast.tell({ kind: 'cast.recast', cast: 'c' });
  expect(prepare(cast, 3, seen('build', 4)).code).toBe('QUARANTINED');
  cast.tell({
    kind: 'quarantine.release',
    id: 'build',
    reason: 'restored',
    isAgent: false,
    registry: REGISTRY,
    faults: {},
  });
  cast.tell({ kind: 'cast.recast', cast: 'c' });
  expect(prepare(cast, 3, seen('build', 5)).code).toBe('OK');
  expect(replayed(cast.entries)).toEqual(cast.state);
});

test.each([
  [
    'PROMPT_BYTES_MISMATCH',
    'restore the prompt, or give the change a new version and lock it; then: baton registry release build --reason',
  ],
  ['HASH_MISMATCH', 'start a new cast'],
  ['BOUNDARY_NOT_ALLOWED', 'hand to an agent within its boundaries, go through an orchestrator'],
] as const)('a person is told what to do about %s', (code, advice) => {
  const cast = beforeBuild();
  const blocks = code === 'BOUNDARY_NOT_ALLOWED' ? null : { agent: 'build', hash: null, context: null };
  prepare(cast, 3, seen('build', 3, { attestation: null, refusal: { stage: 11, verdict: deny(code, 'no'), blocks } }));
  expect(cast.cast.reason).toContain(advice);
});

test('once there was a registry every agent is asked for, and a missing one stops the cast', () => {
  const cast = beforeBuild(
    graph(
      {
        'Socket-1': { materia: 'Plan', edges: [always('Socket-2')] },
        'Socket-2': { materia: 'Tidy', edges: [always('Socket-3')] },
        'Socket-3': { materia: 'Build' },
      },
      {
        materia: {
          Plan: { prompt: 'Plan.', tools: 'none', identity: 'plan' },
          Tidy: { type: 'utility', command: ['true'] },
          Build: { prompt: 'Build.', tools: 'none' },
        },
      },
    ),
  );
  expect(watched(cast, 3)).toMatchObject({ target: null, source: 'plan' });
  prepare(cast, 3);
  expect(cast.cast.code).toBe('REGISTRY_UNUSABLE');
});

test('an id that was used is not used again', () => {
  const cast = beforeBuild();
  prepare(cast, 3, seen('build', 3), { [`handoff:${id(3)}`]: 4 });
  expect([cast.cast.code, cast.all('attempt.started').length]).toEqual(['REPLAY', 2]);
});

test('side by side, each item is handed to by the agent before it on its own way', () => {
  const materia = TEAM.materia as Record<string, JsonObject>;
  const named = Object.fromEntries(
    Object.entries(materia).map(([name, one]) => [name, { ...one, tools: 'none', identity: name.toLowerCase() }]),
  );
  const plan = envelope({ id: 'T-1' }, { id: 'T-2' });
  const cast = play({
    config: { ...TEAM, materia: named },
    agents: { Lead: [plan], Worker: ['x', '$repeat'], Sum: ['ok'] },
    hold: true,
  });
  prepare(cast, 1, seen('lead', 1, { envelope: null }));
  say(cast, 1, JSON.stringify(plan));
  expect([2, 3].map((turn) => watched(cast, turn)?.source)).toEqual(['lead', 'lead']);
  for (const turn of [2, 3]) prepare(cast, turn, seen('worker', turn));
  say(cast, 2, JSON.stringify(result('T-1')));
  expect(watched(cast, 3)?.source).toBe('lead');
  say(cast, 3, JSON.stringify(result('T-2')));
  expect(watched(cast, 4)).toMatchObject({ source: 'worker', origin: 'lead', parent: id(3) });
});

const nested = (levels: number): Json => (levels === 0 ? 1 : { a: nested(levels - 1) });
const LONG = 'x'.repeat(16_384);

test.each<[string, string, Json | undefined]>([
  ['a payload as deep as is carried along', JSON.stringify(nested(16)), nested(16)],
  ['one that is deeper, as text', JSON.stringify(nested(17)), JSON.stringify(nested(17))],
  ['one that is as long', JSON.stringify({ a: LONG.slice(8) }), { a: LONG.slice(8) }],
  ['one that is longer, as text that is cut', JSON.stringify({ a: LONG }), expect.stringMatching(/^\{"a":"x{100}/)],
])('what is handed on in an envelope: %s', (_, output, handoff) => {
  const { 'Socket-2': tidy, ...sockets } = (LINE.loadouts as { Flow: { sockets: JsonObject } }).Flow.sockets;
  const flow = { entry: 'Socket-1', sockets: { ...sockets, 'Socket-2': { ...(tidy as JsonObject), parse: 'json' } } };
  const cast = play({ config: { ...LINE, loadouts: { Flow: flow } }, agents: AGENTS, hold: true });
  prepare(cast, 1, seen('plan', 1));
  say(cast, 1, 'a plan');
  say(cast, 2, output);
  const input = watched(cast, 3)?.request.input_data as JsonObject;
  expect(input.handoff).toEqual(handoff);
  expect(JSON.stringify(input.handoff).length).toBeLessThan(20_000);
});

test('where nobody has said anything, nothing is handed on', () => {
  const cast = play({ config: LINE, agents: AGENTS, hold: true });
  expect(watched(cast, 1)?.request.input_data).toEqual({ socket: 'Socket-1', item: null });
});

test('the team has every agent that is used, and a person only under an id of its own', () => {
  const person = { prompt: 'Look.', tools: 'none', runner: 'person' };
  const config = graph(
    {
      'Socket-1': { materia: 'Plan', edges: [always('Socket-2')] },
      'Socket-2': { materia: 'Look', edges: [always('Socket-3')] },
      'Socket-3': { materia: 'Sign', edges: [always('Socket-4')] },
      'Socket-4': { materia: 'Build' },
    },
    {
      materia: {
        Plan: { prompt: 'Plan.', tools: 'none', identity: 'plan' },
        Look: person,
        Sign: { ...person, identity: 'boss' },
        Build: { prompt: 'Build.', tools: 'none' },
        Unused: { prompt: 'No.', tools: 'none', identity: 'unused' },
      },
    },
  );
  const cast = play({ config, hold: true });
  expect(watched(cast, 1)?.team.map(({ identity }) => identity)).toEqual(['plan', 'boss', null]);
});

test('an item that has been with an agent is handed on by that agent, whatever others did meanwhile', () => {
  const materia = TEAM.materia as Record<string, JsonObject>;
  const sockets = (TEAM.loadouts as { Flow: { sockets: Record<string, JsonObject> } }).Flow.sockets;
  const loops = (TEAM.loadouts as { Flow: { loops: { work: JsonObject } } }).Flow.loops;
  const { advance, edges, ...worker } = sockets['Socket-2'] ?? {};
  const flow = {
    entry: 'Socket-1',
    sockets: {
      ...sockets,
      'Socket-2': { ...worker, edges: [always('Socket-4')] },
      'Socket-4': { ...worker, materia: 'Review', advance: advance ?? null, edges: edges ?? [] },
    },
    loops: {
      work: { ...loops.work, sockets: ['Socket-2', 'Socket-4'], exits: [exit('Socket-4', 'always', 'Socket-3')] },
    },
  };
  const all = { ...materia, Review: materia.Worker ?? {} };
  const named = Object.fromEntries(
    Object.entries(all).map(([name, one]) => [name, { ...one, tools: 'none', identity: name.toLowerCase() }]),
  );
  const plan = envelope({ id: 'T-1' }, { id: 'T-2' });
  const cast = play({
    config: { ...TEAM, materia: named, loadouts: { Flow: flow } },
    agents: { Lead: [plan], Worker: ['x', '$repeat'], Review: ['x', '$repeat'], Sum: ['ok'] },
    hold: true,
  });
  prepare(cast, 1, seen('lead', 1, { envelope: null }));
  say(cast, 1, JSON.stringify(plan));
  for (const turn of [2, 3]) prepare(cast, turn, seen('worker', turn));
  say(cast, 2, JSON.stringify(result('T-1')));
  say(cast, 3, JSON.stringify(result('T-2')));
  expect([4, 5].map((turn) => watched(cast, turn))).toMatchObject([
    { source: 'worker', target: 'review', origin: 'lead', parent: id(2) },
    { source: 'worker', target: 'review', origin: 'lead', parent: id(3) },
  ]);
});

/** A reviewer has rejected the first item once, and its builder begins again. */
function afterRework(): Play {
  const named = (prompt: string, tools: string, identity: string) => ({ prompt, tools, identity });
  const config = graph(
    {
      'Socket-1': { materia: 'Plan', edges: [always('Socket-2')] },
      'Socket-2': { materia: 'Build', lockScope: ['src'], edges: [always('Socket-3')] },
      'Socket-3': {
        materia: 'Judge',
        parse: 'json',
        edges: [satisfied('Socket-2'), notSatisfied('Socket-2')],
        advance: { cursor: 'i', items: 'state.workItems', when: 'satisfied' },
      },
    },
    {
      materia: {
        Plan: { ...named('Plan it.', 'none', 'plan'), generator: true },
        Build: named('Build it.', 'coding', 'build'),
        Judge: { ...named('Judge it.', 'readOnly', 'judge'), label: 'The judge' },
      },
      loops: { items: { sockets: ['Socket-2', 'Socket-3'], consumes: { from: 'Socket-1' } } },
    },
  );
  const surfaces = { api: { agent: 'Build', keywords: ['endpoint'] }, docs: { agent: 'Plan', keywords: ['manual'] } };
  const cast = play({ config: { ...config, surfaces }, hold: true, request: 'Read the manual' });
  prepare(cast, 1, seen('plan', 1, { envelope: null }));
  say(cast, 1, JSON.stringify({ workItems: [{ title: 'Add it', context: 'The endpoint is new.' }], context: 'small' }));
  prepare(cast, 2, seen('build', 2));
  say(cast, 2, 'built');
  return cast;
}

test('an envelope of ours carries the item, its constraints, what is expected, and what was decided', () => {
  const cast = afterRework();
  const [task] = Object.values(cast.state.ledger.tasks);
  Object.assign(task ?? {}, { criteria: ['It works'], context: [{ kind: 'constraint', value: 'no new dependency' }] });
  const judging = watched(cast, 3);
  expect(judging?.request).toMatchObject({
    type: 'decision',
    description: 'Add it',
    constraints: ['Change no file.', 'Leave alone: .baton', 'no new dependency'],
    expected_output: 'an answer in the contract materia, with satisfied\n- It works',
  });
  prepare(cast, 3, seen('judge', 3));
  say(cast, 3, JSON.stringify({ satisfied: false, context: 'no test' }));
  const building = watched(cast, 4);
  expect(building?.request).toMatchObject({
    type: 'task',
    constraints: expect.arrayContaining([
      'Change only: src',
      expect.stringMatching(/^Settle what .* rejected: no test$/),
    ]),
  });
  expect(building?.state).toMatchObject({
    conversation_history: expect.arrayContaining([{ role: 'agent', content: expect.stringContaining('small') }]),
    accumulated_context: {
      request: 'Read the manual',
      item: { key: 'WI-1', title: 'Add it', context: 'The endpoint is new.' },
    },
    decisions_made: [{ by: expect.any(String), decision: 'not_satisfied', reason: 'no test' }],
  });
  expect(building?.surfaces).toEqual(['api']);
  expect(watched(beforeBuild(), 3)?.request).toMatchObject({ type: 'analysis', expected_output: expect.any(String) });
});
