// A person keeps the promises of an agent, as far as they are his to keep; and what holds for him alone.
import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { agentRunner } from '../../src/agents/index.ts';
import type { AgentMateria } from '../../src/kernel/graph/config.ts';
import { agentPromises } from './conformance.ts';
import { ground, PERSON, packet } from './contenders.ts';
import { asked } from './person.ts';

agentPromises(PERSON);

test('a person who says too much is told so, and asked again', async () => {
  const turn = await asked(tmpdir(), 'Say it.', { limits: { maxOutputBytes: 1_000 } });
  expect((await turn.answer('x'.repeat(1_001))).allow).toBe(false);
  expect((await turn.cast()).status).toBe('waiting');
  expect((await turn.answer('x')).allow).toBe(true);
  expect(await turn.accepted()).toBe('x');
});

test('what is dispatched to a person all the same says that nobody can be started', async () => {
  const at = ground();
  const turn = packet(PERSON);
  const runner = agentRunner(turn.materia as AgentMateria);
  const result = await runner.run(turn, at.place(), new AbortController().signal);
  at.remove();
  expect(result).toMatchObject({ kind: 'fault', code: 'AGENT_UNAVAILABLE' });
});
