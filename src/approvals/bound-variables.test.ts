// The environment of an approved command: what is in it, what is compared, and what never gets there.
import { expect, test } from 'vitest';
import { userVariables } from '../agents/environment.ts';
import { boundNames, environmentOf, marksOf, plainVariables } from './bound-parts.ts';
import { sealKey } from './seal.ts';

const key = sealKey(Buffer.alloc(32, 7));

test('language, terminal and time zone are kept in clear, and nothing else', () => {
  const token = ['ghp', 'A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8'].join('_');
  const env = { LANG: 'C', LC_ALL: 'C', LC_TIME: 'de', TERM: 'dumb', TZ: 'UTC', LC_: 'x', lc_all: 'x', LANGUAGE: 'x' };
  const more = { PATH: '/bin', HOME: '/h', LC_PAPER: token, LC_NAME: 'x'.repeat(201), LC_NUMERIC: undefined };
  expect(plainVariables({ ...env, ...more })).toEqual({
    LANG: 'C',
    LC_ALL: 'C',
    LC_TIME: 'de',
    TERM: 'dumb',
    TZ: 'UTC',
  });
});

test('the home and what is handed over by name are compared, each once', () => {
  expect(boundNames(['B', 'A', 'B', 'PATH', 'LANG', 'LC_ALL', 'HOME'])).toEqual(['A', 'B', 'HOME']);
});

test('a mark differs by name, by value and by whether there is one', () => {
  const marks = marksOf(['A', 'B', 'C', 'D'], { A: 'x', B: 'x', C: '' }, key);
  expect(new Set(Object.values(marks)).size).toBe(4);
  expect(marks.D).toBeNull();
  expect(marksOf(['A'], { A: 'y' }, key).A).not.toBe(marks.A);
});

test('a command gets the approved path, the plain variables of the request and the values that were compared', () => {
  const env = { PATH: '/evil', HOME: '/h', A: 'a', B: 'b', LANG: 'de', X: 'x' };
  const sealed = { path: '/bin', plainEnv: { LANG: 'C' }, envMarks: { HOME: 'm', A: 'm', B: null, GONE: 'm' } };
  expect(environmentOf(sealed, env)).toEqual({ PATH: '/bin', LANG: 'C', HOME: '/h', A: 'a' });
});

test('variables that were kept away from baton are the user’s again for what it starts', () => {
  expect(userVariables({ A: '1', BATON_USER_NODE_OPTIONS: '--x', BATON_USER_: 'y' })).toEqual({
    ...{ A: '1', NODE_OPTIONS: '--x', BATON_USER_: 'y' },
  });
});
