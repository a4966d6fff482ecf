// The packet of a task that a cast makes itself, of an item or of a turn, and what is asked of the result that answers it.
import { expect, test } from 'vitest';
import { always, exit, graph } from '../../../test/loadouts.ts';
import { play } from '../../../test/play.ts';
import { RUN, result } from '../../../test/team.ts';
import { validateAssignment } from '../../dialects/operator/assignment.ts';
import type { JsonObject } from '../json.ts';
import { tasksOf } from '../ledger/state.ts';

/** A planner of another dialect hands items to a worker that speaks the operator contract. */
function mixed(items: readonly JsonObject[], said: readonly JsonObject[], tools = 'coding') {
  const sockets = {
    'Socket-1': {
      materia: 'Plan',
      parse: 'json',
      assign: { workItems: '$.workItems' },
      edges: [always('Socket-2')],
    },
    'Socket-2': {
      materia: 'Worker',
      contract: 'operator',
      advance: { cursor: 'workItemIndex', items: 'state.workItems', when: 'satisfied' },
      edges: [always('Socket-2')],
    },
    'Socket-3': { materia: 'Sum' },
  };
  const config = graph(sockets, {
    loops: {
      work: {
        sockets: ['Socket-2'],
        consumes: { from: 'Socket-1', output: 'workItems' },
        exits: [exit('Socket-2', 'always', 'Socket-3')],
      },
    },
    materia: {
      Plan: { prompt: 'Plan.', tools: 'none', generator: true },
      Worker: { prompt: 'Do it.', tools },
      Sum: { prompt: 'Sum up.', tools: 'none' },
    },
  });
  return play({ config, request: 'Ship it', agents: { Plan: [{ workItems: items }], Worker: said, Sum: ['done'] } });
}

function single(tools: string, said: JsonObject) {
  const config = graph(
    { 'Socket-1': { materia: 'Worker', contract: 'operator' } },
    { materia: { Worker: { prompt: 'Do it.', tools } } },
  );
  return play({ config, request: 'Ship it', agents: { Worker: [said] } });
}

/** A list that stands in the data of the cast; what its items look like is nobody's contract. */
function each(items: readonly JsonObject[], said: readonly JsonObject[]) {
  const socket = { foreach: { items: 'state.list', as: 'part', cursor: 'at' }, advance: ADVANCE };
  const config = graph(
    { 'Socket-1': { materia: 'Worker', contract: 'operator', ...socket, edges: [always('Socket-1')] } },
    { materia: { Worker: { prompt: 'Do it.', tools: 'coding' } } },
  );
  return play({ config, data: { list: items }, agents: { Worker: said } });
}

const ADVANCE = { cursor: 'at', items: 'state.list', when: 'satisfied' };

function packetIn(brief: string | undefined): JsonObject {
  const [, text = ''] = (brief ?? '').split('[ASSIGNMENT PACKET]');
  const packet = JSON.parse(text.split('\n## ')[0] ?? '') as JsonObject;
  // The play calls its run by the name of the cast; on a disk it has an id of its own.
  return { ...packet, run_id: packet.run_id === 'c' ? RUN : 'another' };
}

const claims = (...criteria: string[]) =>
  criteria.map((criterion) => ({ criterion, status: 'pass', evidence: 'ran it' }));

test('an item becomes a packet with its context, its title for a criterion, and a worklog', () => {
  const items = [
    { title: 'One', context: 'the first' },
    { title: 'Two', context: 'the second' },
  ];
  const cast = mixed(items, [result('T-1'), result('T-2')]);
  const [first, second] = cast.briefs('Socket-2').map(packetIn);
  for (const packet of [first, second]) expect(validateAssignment(packet, { strict: true }).code).toBe('OK');
  expect(first).toMatchObject({
    run_id: RUN,
    global_objective: 'Ship it',
    task: {
      task_id: 'T-1',
      title: 'One',
      lock_scope: ['.'],
      forbidden_scope: [],
      acceptance_criteria: ['One'],
      worklog_path: 'worklogs/T-1.jsonl',
    },
    context_package: [{ kind: 'note', value: 'the first' }],
  });
  expect(second).toMatchObject({ task: { task_id: 'T-2' }, context_package: [{ value: 'the second' }] });
  expect(cast.briefs('Socket-2')[0]).toMatch(/Work on this task only.*nothing in \.baton/);
});

test.each(['coding', 'readOnly'])('a %s socket without an item gets a packet, too', (tools) => {
  const cast = single(tools, result('T-1'));
  const packet = packetIn(cast.briefs('Socket-1')[0]);
  expect(validateAssignment(packet, { strict: true }).code).toBe('OK');
  expect(packet).toMatchObject({ task: { task_id: 'T-1', acceptance_criteria: ['Worker'] }, context_package: [] });
  expect(cast.cast.status).toBe('completed');
  expect(tasksOf(cast.state.ledger, cast.cast.id).map(({ status }) => status)).toEqual(['done']);
});

test('an item of a worker that only reads keeps the contract, too', () => {
  const cast = mixed([{ title: 'One', context: 'x' }], [result('T-1')], 'readOnly');
  expect(validateAssignment(packetIn(cast.briefs('Socket-2')[0])).code).toBe('OK');
});

test.each<[string, JsonObject]>([
  ['another task', { task_id: 'T-777' }],
  ['another run', { run_id: '0'.repeat(36) }],
  ['another worklog', { worklog_path: 'elsewhere.jsonl' }],
  ['a criterion of its own', { acceptance_check: claims('anything') }],
])('a result for a task that no orchestrator assigned may name %s', (_what, over) => {
  expect(mixed([{ title: 'One', context: 'x' }], [result('T-1', over)]).cast.status).toBe('completed');
  expect(single('coding', result('T-1', over)).cast.status).toBe('completed');
});

test.each<[string, JsonObject, string]>([
  ['one of them left out', { acceptance_check: claims('it is fast') }, 'ACCEPTANCE_FAILED'],
  ['all of them', { acceptance_check: claims('it is fast', 'it is small') }, 'OK'],
  ['all of them, and foreign ids', { task_id: 'T-9', acceptance_check: claims('it is fast', 'it is small') }, 'OK'],
])('criteria that the item states are asked for: %s', (_what, over, code) => {
  const items = [{ title: 'One', size: 5, acceptance_criteria: ['it is fast', 'it is small'] }];
  const { cast, briefs } = each(items, [result('T-1', over), result('T-1', over)]);
  expect(cast.status === 'completed' ? 'OK' : cast.code).toBe(code);
  expect(packetIn(briefs('Socket-1')[0])).toMatchObject({
    task: { acceptance_criteria: ['it is fast', 'it is small'] },
    context_package: [{ kind: 'note', value: '{"size":5}' }],
  });
});

test('a lockScope whose slot names what governs the work ends the cast before its turn starts', () => {
  const config = graph(
    {
      'Socket-1': {
        materia: 'Where',
        parse: 'json',
        assign: { place: '$.context' },
        edges: [{ when: 'always', to: 'Socket-2' }],
      },
      'Socket-2': { materia: 'Worker', contract: 'operator', lockScope: ['src', '{{place}}'] },
    },
    { materia: { Where: { prompt: 'Say where.', tools: 'none' }, Worker: { prompt: 'Do it.', tools: 'coding' } } },
  );
  const { cast, path, briefs } = play({
    config,
    agents: { Where: [{ context: '.baton/prompts' }], Worker: [result('T-1')] },
  });
  expect([cast.status, cast.code, path, briefs('Socket-2')]).toEqual(['failed', 'SCOPE_VIOLATION', ['Socket-1'], []]);
});

test.each<[string, string]>([
  ['BLOCKED: global_objective', 'MISSING_REQUIRED_INPUT'],
  ['NON_COMPLIANT: R-1 | REASON: it implemented', 'NON_COMPLIANT'],
])('an orchestrator that says %j stops the cast with %s, without a repair turn', (said, code) => {
  const config = graph(
    { 'Socket-1': { materia: 'Lead', contract: 'operator' } },
    { materia: { Lead: { prompt: 'Assign.', tools: 'readOnly', generator: true } } },
  );
  const { cast, briefs } = play({ config, agents: { Lead: [said] } });
  expect([cast.status, cast.code, briefs('Socket-1').length]).toEqual(['waiting', code, 1]);
});
