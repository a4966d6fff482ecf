// Agents that report BLOCKED on items side by side: a person speaks to one of them, and the others are left as they are.
// And one that is blocked before its run was planned: the planner may call its tasks what it likes.
import { expect, test } from 'vitest';
import { always } from '../../../test/loadouts.ts';
import { play, replayed } from '../../../test/play.ts';
import { asBlock, type PlanStatus, reportOf } from '../../../test/reports.ts';
import { envelope, result, TEAM } from '../../../test/team.ts';
import type { JsonObject } from '../json.ts';
import { tasksOf } from '../ledger/state.ts';

/** The team, whose workers report with a status. */
const REPORTING: JsonObject = JSON.parse(JSON.stringify(TEAM), (key, value) =>
  key === 'Socket-2' ? { ...value, contract: 'gaia', parse: 'json' } : value,
);

function side(...ids: string[]) {
  const wishes = ids.map((id) => ({ id }));
  const cast = play({
    config: REPORTING,
    agents: { Lead: [envelope(...wishes)], Worker: ['x', '$repeat'], Sum: ['ok'] },
    hold: true,
  });
  cast.tell({ kind: 'attempt.output', cast: 'c', turn: 1, attempt: 1, output: JSON.stringify(envelope(...wishes)) });
  return cast;
}

function reports(cast: ReturnType<typeof side>, id: string, status: PlanStatus) {
  const turn = Object.values(cast.cast.turns).find(({ task, phase }) => task === id && phase === 'running');
  if (!turn) throw new Error(`nobody works on ${id}`);
  const output = asBlock(reportOf(status, status === 'BLOCKED' ? { open_gaps: [`${id} lacks a key`] } : {}));
  cast.tell({ kind: 'attempt.output', cast: 'c', turn: turn.id, attempt: turn.attempt, output });
  return turn.id;
}

test('one of several blocked agents is told what it lacks, by the number of its turn', () => {
  const cast = side('T-1', 'T-2');
  reports(cast, 'T-1', 'BLOCKED');
  const second = reports(cast, 'T-2', 'BLOCKED');
  expect(cast.cast).toMatchObject({ status: 'waiting', code: 'AGENT_BLOCKED' });
  expect(cast.tell({ kind: 'turn.answer', cast: 'c', output: 'x' })).toMatchObject({
    code: 'NOT_ALLOWED_NOW',
    details: { waiting: [2, 3] },
  });
  expect(cast.tell({ kind: 'turn.answer', cast: 'c', turn: second, output: 'in the drawer' }).allow).toBe(true);
  expect(Object.values(cast.cast.turns).map(({ phase }) => phase)).toEqual(['blocked', 'running']);
  expect(cast.briefs('Socket-2').at(-1)).toContain('You reported: BLOCKED: T-2 lacks a key');
  reports(cast, 'T-2', 'COMPLETE');
  expect(cast.cast).toMatchObject({ status: 'waiting', code: 'AGENT_BLOCKED' });
  cast.tell({ kind: 'cast.resume', cast: 'c', reason: 'the key is there' });
  reports(cast, 'T-1', 'COMPLETE');
  cast.run();
  expect(cast.cast.status).toBe('completed');
  expect(replayed(cast.entries)).toEqual(cast.state);
});

test('a blocked agent may be told while the items beside it go on', () => {
  const cast = side('T-1', 'T-2');
  const first = reports(cast, 'T-1', 'BLOCKED');
  expect(cast.cast.status).toBe('running');
  cast.tell({ kind: 'turn.answer', cast: 'c', turn: first, output: 'in the drawer' });
  reports(cast, 'T-1', 'COMPLETE');
  reports(cast, 'T-2', 'COMPLETE');
  cast.run();
  expect(cast.cast.status).toBe('completed');
});

/** The team, and somebody who reports with a status before it is planned. */
const AFTER: JsonObject = JSON.parse(JSON.stringify(TEAM), (key, value) => {
  if (key === 'Flow') return { ...value, entry: 'Socket-9' };
  const first = { materia: 'Sum', contract: 'gaia', parse: 'json', edges: [always('Socket-1')] };
  return key === 'sockets' && !Array.isArray(value) ? { ...value, 'Socket-9': first } : value;
});

test('a turn that is blocked before the run is planned takes no number from the planner', () => {
  const says = (status: PlanStatus) => asBlock(reportOf(status, { open_gaps: ['no key'] }));
  const cast = play({
    config: AFTER,
    agents: {
      Sum: [says('BLOCKED'), says('COMPLETE'), 'ok'],
      Lead: [envelope({ id: 'T-1' }, { id: 'T-2' })],
      Worker: [result('T-1'), result('T-2')],
    },
  });
  expect(cast.cast).toMatchObject({ status: 'waiting', code: 'AGENT_BLOCKED' });
  cast.say({ kind: 'cast.resume', cast: 'c', reason: 'the key is there' });
  expect(cast.cast.status).toBe('completed');
  const rows = tasksOf(cast.state.ledger, 'c').map(({ id, title, status }) => [id, title, status]);
  expect(rows).toEqual([
    [expect.stringMatching(/^[0-9a-f-]{36}$/), 'Sum', 'done'],
    ['T-1', 'Task T-1', 'done'],
    ['T-2', 'Task T-2', 'done'],
  ]);
  expect(replayed(cast.entries)).toEqual(cast.state);
});
