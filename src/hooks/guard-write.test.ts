// Where an agent's tools may write when it works in a worktree of a cast, or of an item beside others.
import { expect, test } from 'vitest';
import { play } from '../../test/play.ts';
import { envelope, TEAM } from '../../test/team.ts';
import { claimsOf } from './claims.ts';
import { refusalOfGoverning, refusalOfWrite } from './guard-write.ts';

const dir = '/proj';
const stateDir = '/proj/.baton/state';
const workspace = { dir, stateDir, configFile: '/proj/.baton/config.json' };
const TREE = `${stateDir}/worktrees/c`;

test.each<[path: string, code: string | null]>([
  ['/proj/.baton/config.json', 'SCOPE_VIOLATION'],
  [`${stateDir}/worktrees/c.json`, 'SCOPE_VIOLATION'],
  [`${TREE}/src/x.ts`, null],
  [`${TREE}.lane-2/src/x.ts`, null],
  [`${TREE}.lane-2/.baton/config.json`, 'SCOPE_VIOLATION'],
  [`${TREE}.lane-2/../../log.db`, 'SCOPE_VIOLATION'],
  ['/proj/src/x.ts', null],
])('what governs the work: %s', (path, code) => {
  expect(refusalOfGoverning(path, workspace)?.code ?? null).toBe(code);
});

test.each<[path: string, code: string | null]>([
  [`${TREE}/src/T-1.ts`, null],
  [`${TREE}.lane-1/src/T-1.ts`, null],
  [`${TREE}.lane-1/src/T-2.ts`, 'LOCK_CONFLICT'],
  [`${TREE}.lane-1/src/T-9.ts`, 'SCOPE_VIOLATION'],
  ['/proj/src/T-1.ts', 'SCOPE_VIOLATION'],
])('paths mean the same in the worktree of an item as in that of its cast: %s', (path, code) => {
  const plan = envelope({ id: 'T-1' }, { id: 'T-2' });
  const agents = { Lead: [plan], Worker: ['x', '$repeat'], Sum: ['ok'] };
  const cast = play({ config: TEAM, agents, hold: true, root: '.baton/state/worktrees/c' });
  cast.tell({ kind: 'attempt.output', cast: 'c', turn: 1, attempt: 1, output: JSON.stringify(plan) });
  const { ledger } = cast.state;
  const claims = claimsOf(ledger, { fence: 1, names: [] });
  expect(refusalOfWrite(path, ledger, claims, workspace)?.code ?? null).toBe(code);
});
