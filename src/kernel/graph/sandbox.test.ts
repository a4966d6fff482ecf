import { expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { check } from './check.ts';
import { resolve } from './resolve.ts';

function config(materia: JsonObject): JsonObject {
  return { materia: { M: materia }, loadouts: { L: { entry: 'Socket-1', sockets: { 'Socket-1': { materia: 'M' } } } } };
}

test.each<[string, JsonObject]>([
  ['an agent', { tools: 'coding', prompt: 'Do it.' }],
  ['a utility', { type: 'utility', command: ['true'] }],
])('%s may ask for a sandbox that is known, and its rules keep it', (_kind, materia) => {
  expect(check(config({ ...materia, sandbox: 'bwrap' }))).toEqual([]);
  expect(resolve(config({ ...materia, sandbox: 'bwrap' }), 'L').materia.M?.sandbox).toBe('bwrap');
  expect(resolve(config(materia), 'L').materia.M).not.toHaveProperty('sandbox');
  const [issue] = check(config({ ...materia, sandbox: 'docker' }));
  expect([issue?.code, issue?.path]).toEqual(['INVALID_MATERIA', 'materia.M.sandbox']);
});

test('the folder of a materia is kept in its rules, and only where it names one', () => {
  const materia = { tools: 'coding', prompt: 'Do it.' };
  expect(resolve(config({ ...materia, cwd: 'packages/api' }), 'L').materia.M?.cwd).toBe('packages/api');
  expect(resolve(config(materia), 'L').materia.M).not.toHaveProperty('cwd');
});
