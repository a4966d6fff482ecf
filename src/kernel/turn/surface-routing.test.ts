import fc from 'fast-check';
import { expect, test } from 'vitest';
import { confidenceOf, fallbackTo, matchSurfaces } from './surface-routing.ts';

const runs = Number(process.env.FUZZ_RUNS ?? 2000);
const words = (keywords: string[] = [], commands: string[] = [], artifacts: string[] = []) => ({
  keywords,
  commands,
  artifacts,
});
const SURFACES = {
  infra: words(['cluster', 'network'], ['terraform apply'], ['main.tf']),
  api: words(['login', 'session'], ['npm test']),
  web: words(['button']),
};

const ROWS: [string, string, [string, number, string[]][]][] = [
  ['says nothing of any', 'hello', []],
  ['has a keyword', 'mend the login', [['api', 1, ['login']]]],
  ['has a keyword in capitals, within a word', 'LOGINS fail', [['api', 1, ['login']]]],
  ['has a command, over a line break', 'run terraform\n  apply', [['infra', 1.5, ['terraform apply']]]],
  ['has an artifact', 'see main.tf', [['infra', 1, ['main.tf']]]],
  ['has the name of a surface', 'the web', [['web', 1, ['web']]]],
  ['repeats a keyword', 'login login login', [['api', 1, ['login']]]],
  [
    'has two surfaces, one of them just above the share',
    'login session of the cluster: terraform apply',
    [
      ['infra', 2.5, ['cluster', 'terraform apply']],
      ['api', 2, ['login', 'session']],
    ],
  ],
  [
    'has a surface below the share of the best',
    'cluster network terraform apply, and a button',
    [['infra', 3.5, ['cluster', 'network', 'terraform apply']]],
  ],
  [
    'has a tie, told by name',
    'a button after login',
    [
      ['api', 1, ['login']],
      ['web', 1, ['button']],
    ],
  ],
];

test.each(ROWS)('a text that %s', (_name, text, expected) => {
  const matches = matchSurfaces(text, SURFACES);
  expect(matches.map(({ surface, score, signals }) => [surface, score, signals])).toEqual(expected);
});

test.each([
  [[], 0],
  [[0.2], 0.07],
  [[1], 0.33],
  [[3], 1],
  [[9], 1],
  [[2.5, 2], 0.75],
])('scores %j are a confidence of %d', (scores, confidence) => {
  expect(confidenceOf(scores.map((score) => ({ score })))).toBe(confidence);
});

test('an agent that nothing points to falls back on its own surface', () => {
  expect(fallbackTo('api')).toEqual({ surface: 'api', score: 0.2, signals: ['agent-fallback'] });
});

test('blank words match nothing', () => {
  expect(matchSurfaces('a  b', { x: words(['', ' ']) })).toEqual([]);
});

test('any text is scored, best first, the same each time, and in time', { timeout: 20_000 + runs * 10 }, () => {
  const list = fc.array(fc.string({ maxLength: 6 }), { maxLength: 4 });
  const surfaces = fc.dictionary(fc.string({ minLength: 1, maxLength: 4 }), fc.tuple(list, list, list), { maxKeys: 5 });
  fc.assert(
    fc.property(fc.string({ maxLength: 60 }), surfaces, (text, given) => {
      const named = Object.fromEntries(Object.entries(given).map(([name, [k, c, a]]) => [name, words(k, c, a)]));
      const matches = matchSurfaces(text, named);
      expect(matchSurfaces(text, named)).toEqual(matches);
      const scores = matches.map(({ score }) => score);
      expect(scores).toEqual(scores.toSorted((a, b) => b - a));
      expect(scores.every((score) => score >= 1 && score >= 0.55 * (scores[0] ?? 0))).toBe(true);
      expect(confidenceOf(matches)).toBeLessThanOrEqual(1);
    }),
    { numRuns: runs },
  );
  const before = performance.now();
  const many = Array.from({ length: 64 }, (_, n) => `${'a'.repeat(199)}${n}`);
  const all = Object.fromEntries(many.map((name) => [name, words(many, many, many)]));
  matchSurfaces('a'.repeat(1_000_000), all);
  expect(performance.now() - before).toBeLessThan(5_000);
});
