// What agents suggest to remember, from their report to the brief of a later turn.
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import { agent, baton, cast, flow, json, project, put } from './baton.ts';

const REPORT = (more: JsonObject) => `\`\`\`agent_contract_handoff
${JSON.stringify({
  agent_status: { plan_status: 'COMPLETE', agent_id: 'a0c0ffee', pending_steps: [], next_action: 'done' },
  evidence_report: {
    patterns_checked: [],
    files_checked: [],
    commands_run: [],
    key_outputs: [],
    verbatim_outputs: [],
    cross_layer_impacts: [],
    open_gaps: [],
    verification: { method: 'test', checks: ['npm test'], result: 'pass', details: 'fine' },
  },
  ...more,
})}
\`\`\``;
const SUGGESTS = {
  memory_suggestions: ['The linter wants tabs.', 'the linter  wants TABS.', null],
  memorialize_suggestions: [{ description: 'Ports', body: 'Services listen on 8080.', type: 'decision' }, 'nonsense'],
};
const TEAM = flow({ Build: agent }, { 'Socket-1': { materia: 'Build', contract: 'gaia' } });

async function suggested(): Promise<string> {
  const dir = project();
  expect(await cast(dir, TEAM, { Build: [REPORT(SUGGESTS)] })).toMatchObject({ status: 'completed' });
  return dir;
}

const list = async (dir: string, ...args: string[]) =>
  json<JsonObject[]>(await baton(dir, ['memory', 'list', ...args, '--json']));
const said = async (dir: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) => {
  const ran = await baton(dir, ['memory', ...args, '--json'], { env });
  return [json(ran).code, ran.code];
};

test('suggestions wait for a person, each once; what is accepted is told to later turns', async () => {
  const dir = await suggested();
  expect(await list(dir)).toMatchObject([
    {
      id: 'm1',
      status: 'waiting',
      description: 'Ports',
      body: 'Services listen on 8080.',
      type: 'decision',
      agent: 'Build',
    },
    { id: 'm2', status: 'waiting', description: null, body: 'The linter wants tabs.' },
  ]);
  expect((await baton(dir, ['memory'])).stdout).toMatch(/m1 +Build, \S+:1 +Ports: Services listen on 8080\./);
  expect(await said(dir, ['accept', 'm1', '--section', 'services'])).toEqual(['OK', 0]);
  expect(await said(dir, ['drop', 'm2', '--reason', 'known'])).toEqual(['OK', 0]);
  expect(await list(dir)).toEqual([]);
  expect(await list(dir, '--all')).toMatchObject([{ id: 'm1', status: 'accepted', section: 'services' }]);
  const again = await cast(dir, TEAM, { Build: [REPORT(SUGGESTS)] });
  const briefs = (again.turns ?? []).map(({ brief }) => brief).join('');
  expect(briefs).toContain('Services listen on 8080.');
  expect(briefs).not.toContain('wants tabs');
  expect(await list(dir)).toEqual([]);
  expect(await said(dir, ['drop', 'm1', '--reason', 'moved'])).toEqual(['OK', 0]);
  expect(await list(dir, '--all')).toEqual([]);
});

test('what cannot be decided is refused with its code', async () => {
  const dir = await suggested();
  const agents = { BATON_ATTEMPT: '1.1' };
  expect(await said(dir, ['accept', 'm9'])).toEqual(['UNKNOWN_MEMORY', 1]);
  expect(await said(dir, ['accept', 'm1', '--section', 'a b'])).toEqual(['SECTION_NAME_INVALID', 1]);
  put(dir, { '.baton/config.json': { materia: {}, loadouts: {}, context: { sections: { services: {} } } } });
  expect(await said(dir, ['accept', 'm1', '--section', 'nosuch'])).toEqual(['UNKNOWN_SECTION', 1]);
  expect(await said(dir, ['accept', 'm1'], agents)).toEqual(['APPROVER_IS_AGENT', 1]);
  expect(await said(dir, ['drop', 'm1', '--reason', 'x'], agents)).toEqual(['APPROVER_IS_AGENT', 1]);
  expect(await said(dir, ['accept', 'm1'])).toEqual(['OK', 0]);
  expect(await said(dir, ['accept', 'm1'])).toEqual(['NOT_ALLOWED_NOW', 1]);
  expect(await said(project(), ['accept', 'm1'])).toEqual(['UNKNOWN_MEMORY', 1]);
  expect(await said(dir, ['drop', 'm1'])).toEqual(['OK', 0]);
});

test.each([[['nonsense']], [['accept']], [['drop']], [['list', 'm1']], [['accept', 'm1', '--all']]])(
  'baton memory %j is wrong usage',
  async (args) => {
    expect((await baton(project(), ['memory', ...args])).code).toBe(2);
  },
);

test('an empty workspace has nothing to decide', async () => {
  const dir = project();
  expect(await list(dir)).toEqual([]);
  expect((await baton(dir, ['memory', 'list'])).stdout).toBe('Nothing waits to be decided.\n');
});
