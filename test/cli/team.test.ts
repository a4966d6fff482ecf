// A team works off a plan: six tasks with dependencies and scopes, a secret in a note, a silent agent, a false claim and a
// change outside a scope. Every one of them is in the log with its code, and a person carries on what stands still.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Fact } from '../../src/kernel/fact.ts';
import { baton, CHECKOUT, project, put, read } from './baton.ts';

const TEAM = join(CHECKOUT, 'examples/team');
const CAST = ['--file', join(TEAM, 'config.json'), '--agents', join(TEAM, 'agents.json'), 'Greet every visitor'];

async function factsOf(dir: string): Promise<readonly Fact[]> {
  const { stdout } = await baton(dir, ['log', '--json', '--after', '0']);
  return JSON.parse(stdout) as Fact[];
}

test('a plan of six tasks is worked off, whatever goes wrong on the way', async () => {
  const dir = project();
  const first = await baton(dir, ['cast', '--json', ...CAST]);
  const stands = JSON.parse(first.stdout);
  expect([first.code, stands.status, stands.code]).toEqual([4, 'waiting', 'SCOPE_VIOLATION']);
  expect(stands.reason).toContain('src/page/index.txt');

  const facts = await factsOf(dir);
  const refused = facts.flatMap((fact) => (fact.kind === 'attempt.refused' ? [fact.verdict.code] : []));
  expect(refused).toEqual(['UNTRUSTED_CONTEXT_BLOCK', 'ACCEPTANCE_FAILED', 'SCOPE_VIOLATION', 'SCOPE_VIOLATION']);
  const moves = facts.flatMap((fact) => (fact.kind === 'task.moved' && fact.code ? [[fact.task, fact.code]] : []));
  expect(moves).toEqual([
    ['T-3', 'TASK_TIMEOUT'],
    ['T-6', 'SCOPE_VIOLATION'],
  ]);
  // Neither what the agent said nor the script that lets it say so is kept with the secret in it.
  expect(JSON.stringify(facts)).not.toContain('hunter2');
  const claims = facts.flatMap((fact) => (fact.kind === 'task.claimed' ? [[fact.task, fact.fence]] : []));
  expect(claims).toEqual([
    ['T-1', 1],
    ['T-2', 2],
    ['T-3', 3],
    ['T-3', 4],
    ['T-4', 5],
    ['T-5', 6],
    ['T-6', 7],
  ]);

  // What stopped for a person has its closing entry in its worklog.
  expect(read(dir, 'worklogs/T-6.jsonl')).toContain('SCOPE_VIOLATION');

  // The brief of the repair says what the checker found instead of what was claimed.
  const { stdout } = await baton(dir, ['show', 'latest', '--json', '--turns']);
  const briefs = JSON.parse(stdout).turns.map(({ brief }: { brief: string }) => brief);
  expect(briefs.join('\n')).toContain('does not contain the text');

  // A person takes the stray change back and carries on.
  put(dir, { 'src/page/index.txt': 'Hello, {name}!\n' });
  const second = await baton(dir, ['continue', '--json']);
  expect([second.code, JSON.parse(second.stdout).status]).toEqual([0, 'completed']);
  expect(read(dir, 'docs/releases.txt')).toBe('1.0\n');
  const list = JSON.parse((await baton(dir, ['task', 'list', '--json', '--run', stands.cast])).stdout);
  expect(list.map(({ status }: { status: string }) => status)).toEqual(Array(6).fill('done'));
});
