import { expect, test } from 'vitest';
import { play } from '../../../test/play.ts';
import { envelope, TEAM, type Wish } from '../../../test/team.ts';
import type { JsonObject } from '../json.ts';

/** The brief of a worker with such a materia, that really runs. */
function briefOf(worker: JsonObject, wish: Partial<Wish> = {}, isScripted = false): string {
  const config = { ...TEAM, materia: { ...(TEAM.materia as JsonObject), Worker: { prompt: 'Do it.', ...worker } } };
  const plan = envelope({ id: 'T-1', ...wish });
  const agents = { Lead: [plan], Worker: ['x'], Sum: ['ok'] };
  const cast = play({ config, ...(isScripted ? { agents } : {}), hold: true });
  if (!isScripted) cast.tell({ kind: 'turn.prepared', cast: 'c', turn: 1, attempt: 1 });
  cast.tell({ kind: 'attempt.output', cast: 'c', turn: 1, attempt: 1, output: JSON.stringify(plan) });
  if (!isScripted) cast.tell({ kind: 'turn.prepared', cast: 'c', turn: 2, attempt: 1 });
  return cast.briefs('Socket-2')[0] ?? '';
}

const [TOOL, COMMAND] = ['`worklog_add`', '`baton worklog add T-1 -`'];

test.each<[string, JsonObject, boolean, string | null]>([
  ['a program that is offered our tools', { tools: 'coding', runner: 'claude' }, false, TOOL],
  ['one that declines them and has a shell', { tools: 'coding', runner: 'claude', mcp: false }, false, COMMAND],
  ['a command with a shell', { tools: 'coding', runner: 'command', command: ['x'] }, false, COMMAND],
  ['one that may only read', { tools: 'readOnly', runner: 'command', command: ['x'] }, false, null],
  ['a script', { tools: 'coding' }, true, null],
])('%s is told how to keep the worklog of its task', (_, worker, isScripted, how) => {
  const brief = briefOf(worker, {}, isScripted);
  expect(brief).toContain('[ASSIGNMENT PACKET]');
  expect([TOOL, COMMAND].filter((way) => brief.includes(way))).toEqual(how === null ? [] : [how]);
});

test('a report is asked for where the packet names its path', () => {
  const worker = { tools: 'coding', runner: 'command', command: ['x'] };
  expect(briefOf(worker, { report_path: 'reports/T-1.md' })).toContain('to report_path as well');
  expect(briefOf(worker)).not.toContain('to report_path as well');
});
