// When the first agent of a cast began, read from its log. A process that is younger is not taken for a person.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Fact } from '../kernel/fact.ts';
import { SqliteLog } from '../log/sqlite/log.ts';
import { latestCasts, logFileIn } from '../log/sqlite/open.ts';
import { firstInLog } from './person-proof.ts';

const ROW = { type: 'agent', tools: 'none' };
const materia = {
  A: { ...ROW, runner: 'claude' },
  P: { ...ROW, runner: 'person' },
  F: { ...ROW, runner: 'person', fallbacks: [{ runner: 'claude' }] },
  U: { type: 'utility' },
};
const graph = { sockets: Object.fromEntries(Object.keys(materia).map((id) => [id, { materia: id }])) };
const started = { kind: 'cast.started', cast: 'c', loadout: 'L', request: 'r', script: null, data: {} };
const begins = { ...started, rules: { graph, materia } };
const turn = (socket: string, cast = 'c') => ({ kind: 'turn.started', cast, turn: 1, socket });
const attempt = (script: object | null = null, cast = 'c') => ({
  ...{ kind: 'attempt.started', cast, turn: 1, attempt: 1, script },
});

type Row = readonly [what: string, facts: readonly object[], minutesAgo: number, isFound: boolean];

const MINUTE = 60_000;
const uptimeMs = () => Number(readFileSync('/proc/uptime', 'latin1').split(' ')[0]) * 1_000;

async function firstOf(facts: readonly object[], at: number) {
  const stateDir = mkdtempSync(join(tmpdir(), 'baton-first-'));
  onTestFinished(() => rmSync(stateDir, { recursive: true, force: true }));
  const log = new SqliteLog(logFileIn(stateDir));
  await log.commit(0, { decide: () => facts.map((fact) => ({ fact: fact as Fact, by: 'test', at, once: [] })) });
  await log.close();
  return firstInLog(stateDir, 'c');
}

test.each<Row>([
  ['an agent', [begins, turn('A'), attempt()], 0, true],
  ['a utility, which runs a program too', [begins, turn('U'), attempt()], 0, true],
  ['a person', [begins, turn('P'), attempt()], 0, false],
  ['a person, whose turn an agent may take', [begins, turn('F'), attempt()], 0, true],
  ['a script', [begins, turn('A'), attempt({ output: 'x' })], 0, false],
  ['a script, then an agent', [begins, turn('A'), attempt({ output: 'x' }), attempt()], 0, true],
  ['an agent of another cast', [begins, turn('A', 'd'), attempt(null, 'd')], 0, false],
  ['an agent before the machine was started', [begins, turn('A'), attempt()], 1e7, false],
  ['none, because the cast has only begun', [begins], 0, false],
  ['none, because only a turn was begun', [begins, turn('A')], 0, false],
])('the first attempt is that of %s', async (_what, facts, minutesAgo, isFound) => {
  const at = Date.now() - minutesAgo * MINUTE;
  const first = await firstOf(facts, at);
  expect(first !== null).toBe(isFound);
  // In hundredths of a second since the machine was started, as the system counts starts of processes.
  if (first) expect(Math.abs(first.start - uptimeMs() / 10)).toBeLessThan(6_000);
});

test('without a log there is none', () => {
  const stateDir = mkdtempSync(join(tmpdir(), 'baton-first-'));
  onTestFinished(() => rmSync(stateDir, { recursive: true, force: true }));
  expect(firstInLog(stateDir, 'c')).toBeNull();
});

test('all casts since the machine was started are found in the log', async () => {
  const stateDir = mkdtempSync(join(tmpdir(), 'baton-first-'));
  onTestFinished(() => rmSync(stateDir, { recursive: true, force: true }));
  const file = logFileIn(stateDir);
  expect(latestCasts(file, () => false)).toEqual([]);
  const log = new SqliteLog(file);
  const facts = ['old', 'a', 'b'].flatMap((cast) => Array.from({ length: 3_000 }, () => turn('A', cast)));
  await log.commit(0, { decide: () => facts.map((fact) => ({ fact: fact as Fact, by: 'test', at: 1, once: [] })) });
  await log.close();
  expect(latestCasts(file, () => false)).toEqual(['b', 'a', 'old']);
  expect(latestCasts(file, (line) => line.includes('"old"'))).toEqual(['b', 'a']);
});
