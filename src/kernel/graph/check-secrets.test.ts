import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../json.ts';
import { check, checkSecrets } from './check.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 500);
const KEY = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';

test.each<[string, JsonObject, string | null]>([
  ['a key among the words', { type: 'utility', command: ['deploy', `--key=${KEY}`] }, 'materia.M.command'],
  ['a header', { type: 'utility', command: ['curl', '-H', `Authorization: Bearer ${KEY}`] }, 'materia.M.command'],
  [
    'an option and its value',
    { type: 'utility', command: ['psql', '--password', 'x7Kp2mQ9vL4t'] },
    'materia.M.command',
  ],
  [
    'a password in an address',
    { type: 'utility', command: ['fetch', 'https://a:x7Kp2mQ9vL4t@host/'] },
    'materia.M.command',
  ],
  ['params', { type: 'utility', command: ['deploy'], params: { apiKey: 'x7Kp2mQ9vL4tR8wZ' } }, 'materia.M.params'],
  ['arguments of an agent', { prompt: 'Do it.', args: ['--api-key', KEY] }, 'materia.M.args'],
  [
    'the program of an agent',
    { prompt: 'Do it.', runner: 'command', command: ['x', ['--key', KEY]] },
    'materia.M.command',
  ],
  ['a variable', { type: 'utility', command: ['sh', '-c', 'deploy --token "$DEPLOY_TOKEN"'] }, null],
  ['an option that only sounds so', { type: 'utility', command: ['lint', '--max-tokens', '200', '--key', 'id'] }, null],
  ['a prompt, which is for people to answer for', { prompt: `Never say ${KEY}.` }, null],
])('%s', (_what, M, path) => {
  const config = { materia: { M }, loadouts: {} };
  const found = check(config).filter(({ code }) => code === 'COMMAND_HOLDS_SECRET');
  expect(found.map((issue) => [issue.level, issue.path])).toEqual(path === null ? [] : [['warning', path]]);
  expect(JSON.stringify(found)).not.toContain(KEY);
});

test('the command of a checker', () => {
  const config = { materia: {}, loadouts: {}, checkers: { live: { command: ['probe', `--key=${KEY}`] } } };
  expect([...checkSecrets(config)]).toMatchObject([{ path: 'checkers.live.command' }]);
});

test('whatever stands there, it is looked at', () => {
  const value = fc.oneof(fc.jsonValue(), fc.array(fc.oneof(fc.string(), fc.constantFrom('--password', KEY))));
  fc.assert(
    fc.property(value, value, (command, params) => {
      const found = [...checkSecrets({ materia: { M: { command, params } as Json } as JsonObject })];
      expect(found.every(({ code }) => code === 'COMMAND_HOLDS_SECRET')).toBe(true);
    }),
    { numRuns: RUNS },
  );
});
