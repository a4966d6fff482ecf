// The order of what decides on the runner of an agent: the caller, its materia, the defaults, claude.
import { expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { check } from './check.ts';
import { faultOfRunner, withChosenRunner, withDefaultRunner } from './issue.ts';
import { resolve } from './resolve.ts';

const config = (agent: JsonObject, defaults?: JsonObject): JsonObject => ({
  ...(defaults === undefined ? {} : { defaults }),
  materia: { A: { prompt: 'Do it.', tools: 'none', ...agent } },
  loadouts: { L: { entry: 'Socket-1', sockets: { 'Socket-1': { materia: 'A' } } } },
});

test.each<[string, JsonObject, JsonObject | undefined, { runner?: string; model?: string }, [string, string | null]]>([
  ['nothing is said', {}, undefined, {}, ['claude', null]],
  ['a default', {}, { runner: 'codex', model: 'm' }, {}, ['codex', 'm']],
  ['a default model alone', {}, { model: 'm' }, {}, ['claude', 'm']],
  ['a materia with a runner of its own', { runner: 'pi' }, { runner: 'codex', model: 'm' }, {}, ['pi', null]],
  ['a materia with a model of its own', { model: 'own' }, { runner: 'codex', model: 'm' }, {}, ['codex', 'own']],
  ['a caller', { runner: 'pi', model: 'own' }, { runner: 'codex' }, { runner: 'claude' }, ['claude', null]],
  ['a caller with a model', {}, { runner: 'codex', model: 'm' }, { model: 'x' }, ['codex', 'x']],
  ['a caller with the same runner', { model: 'own' }, undefined, { runner: 'claude' }, ['claude', 'own']],
  ['a person', { runner: 'person' }, { runner: 'codex' }, { runner: 'claude' }, ['person', null]],
])('%s', (_name, agent, defaults, chosen, expected) => {
  const { materia } = resolve(withChosenRunner(withDefaultRunner(config(agent, defaults)), chosen), 'L');
  expect(materia.A).toMatchObject({ runner: expected[0], model: expected[1] });
});

test('what is meant for one runner is not given to another one', () => {
  const own = { runner: 'codex', args: ['-x'], fallbacks: [{ runner: 'pi' }] };
  const { materia } = resolve(withChosenRunner(config(own), { runner: 'claude' }), 'L');
  expect(materia.A).not.toHaveProperty('args');
  expect(materia.A).not.toHaveProperty('fallbacks');
});

test.each([
  ['claud', 'Did you mean claude?'],
  ['person', 'cannot take the place of others'],
  ['nothing-like-it', 'Name one of: '],
])('the runner %s cannot be chosen', (name, why) => {
  expect(faultOfRunner(name)).toContain(why);
  const issues = check(config({}, { runner: name }));
  expect(issues).toMatchObject([
    { code: 'INVALID_CONFIG', path: 'defaults.runner', message: expect.stringContaining(why) },
  ]);
});
