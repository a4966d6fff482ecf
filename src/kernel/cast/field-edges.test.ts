// Edges that ask for the value of a field, played through.
import { expect, test } from 'vitest';
import { always, graph } from '../../../test/loadouts.ts';
import { play, replayed } from '../../../test/play.ts';
import type { Json, JsonObject } from '../json.ts';

const REPORT = { agent_id: 'a12345', pending_steps: [], next_action: 'none' };
const SCHEMA = { type: 'object', properties: { severity: { type: 'string' }, urgent: { type: 'boolean' } } };

const triage = (...edges: JsonObject[]): JsonObject =>
  graph({
    'Socket-1': { materia: 'Judge', parse: 'json', schema: SCHEMA, edges },
    'Socket-2': { materia: 'Write', parse: 'text' },
    'Socket-3': { materia: 'Write', parse: 'text' },
  });

test.each<[answer: JsonObject, path: string[]]>([
  [{ severity: 'high' }, ['Socket-1', 'Socket-2']],
  [{ severity: 'critical' }, ['Socket-1', 'Socket-2']],
  [{ severity: 'low' }, ['Socket-1', 'Socket-3']],
  [{ severity: 'low', urgent: true }, ['Socket-1', 'Socket-2']],
  // Without the field only `always` would match, and here is none.
  [{ context: 'nothing was found' }, ['Socket-1']],
])('%j leads %j', (answer, path) => {
  const cast = play({
    config: triage(
      { when: { field: 'severity', in: ['high', 'critical'] }, to: 'Socket-2' },
      { when: { field: 'urgent', is: true }, to: 'Socket-2' },
      { when: { field: 'severity', isNot: 'high' }, to: 'Socket-3' },
    ),
    agents: { Judge: [answer], Write: ['done'] },
  });
  expect([cast.cast.status, cast.path]).toEqual(['completed', path]);
  expect(replayed(cast.entries)).toEqual(cast.state);
});

test('only a not_satisfied edge carries a note, and no value makes the boolean required', () => {
  const cast = play({
    config: triage({ when: { field: 'severity', is: 'high' }, to: 'Socket-2', maxTraversals: 2 }, always('end')),
    agents: { Judge: [{ severity: 'high', satisfied: false, context: 'look here' }], Write: ['done'] },
  });
  expect(cast.all('edge.taken').map(({ when }) => when)).toEqual([{ field: 'severity', is: 'high' }]);
  expect(cast.all('rework.noted')).toEqual([]);
  expect(cast.briefs('Socket-1')[0]).not.toContain('`satisfied`: the boolean');
});

test('an edge with a value is counted like any other, for each item', () => {
  const again = { when: { field: 'severity', is: 'high' }, to: 'Socket-1', maxTraversals: 2 };
  const cast = play({
    config: triage(again, always('end')),
    agents: { Judge: [{ severity: 'high' }, '$repeat'] as Json[] },
  });
  expect([cast.cast.status, cast.path.length]).toEqual(['failed', 3]);
  expect(cast.all('cast.failed')[0]?.code).toBe('EDGE_BUDGET_EXHAUSTED');
});

test('a field of a gaia report is found where the report keeps it', () => {
  const fence = '```';
  const report = (owner: string) => ({
    agent_status: { ...REPORT, plan_status: 'COMPLETE' },
    evidence_report: {
      ...Object.fromEntries(
        [
          'patterns_checked',
          'files_checked',
          'commands_run',
          'key_outputs',
          'verbatim_outputs',
          'cross_layer_impacts',
          'open_gaps',
        ].map((key) => [key, ['x']]),
      ),
      verification: { method: 'test', checks: ['x'], result: 'pass', details: 'x' },
    },
    consolidation_report: {
      ownership_assessment: owner,
      confirmed_findings: ['x'],
      suspected_findings: ['x'],
      conflicts: ['x'],
      open_gaps: ['x'],
      next_best_agent: 'b',
    },
  });
  const config = graph(
    {
      'Socket-1': {
        materia: 'Report',
        edges: [{ when: { field: 'ownership_assessment', is: 'not_my_surface' }, to: 'Socket-2' }, always('end')],
      },
      'Socket-2': { materia: 'Write', parse: 'text' },
    },
    { materia: { Report: { tools: 'none', prompt: 'Report.', contract: 'gaia' } } },
  );
  const path = (owner: string) => {
    const text = `${fence}agent_contract_handoff\n${JSON.stringify(report(owner))}\n${fence}`;
    return play({ config, agents: { Report: [text], Write: ['done'] } }).path;
  };
  expect([path('not_my_surface'), path('owned_here')]).toEqual([['Socket-1', 'Socket-2'], ['Socket-1']]);
});
