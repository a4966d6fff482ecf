// What a line of shell runs, sets, reads and writes, as far as it can be seen.
import { expect, test } from 'vitest';
import { stepsOf } from './programs.ts';

function seen(line: string) {
  const read = stepsOf(line);
  const steps = read.ok ? read.steps : [];
  return {
    runs: steps.flatMap(({ runs }) => runs.map(({ program, isPlain }) => (isPlain ? program : '?'))),
    assigns: steps.flatMap(({ assigns }) => assigns),
    reads: steps.flatMap(({ reads }) => reads.map(({ text }) => text)),
    writes: steps.flatMap(({ writes }) => writes.map(({ text, isPlain }) => (isPlain ? text : '?'))),
  };
}

test.each<[string, Partial<ReturnType<typeof seen>>]>([
  ['sudo env A=1 nice ls', { runs: ['sudo', 'env', 'nice', 'ls'], assigns: ['A'] }],
  ['A=1 B+=2 ls C=3', { runs: ['ls'], assigns: ['A', 'B'] }],
  ['export PATH=/x', { assigns: ['PATH'] }],
  ['A=1', { runs: [], assigns: ['A'] }],
  ['$X y', { runs: ['?', 'y'] }],
  ['psql < a.sql', { reads: ['a.sql'] }],
  ['echo x > "$F"', { writes: ['?'] }],
  ['bash -c "A=1 rm b < c > d"', { runs: ['bash', 'rm'], assigns: ['A'], reads: ['c'], writes: ['d'] }],
])('%s', (line, what) => {
  expect(seen(line)).toMatchObject(what);
});

test('a word that comes from elsewhere is added to what xargs runs', () => {
  const read = stepsOf('ls | xargs rm -v');
  const [, , rm] = read.ok ? read.steps.flatMap(({ runs }) => runs) : [];
  expect(rm?.args.map(({ isPlain }) => isPlain)).toEqual([true, false]);
});

test.each([
  ['sudo', `${'sudo '.repeat(50_000)}ls`],
  ['find', `${'find -exec '.repeat(20_000)}ls`],
  ['a shell', `${'bash -c '.repeat(20_000)}ls`],
])('%s that passes on without end is not looked through', (_, line) => {
  expect(stepsOf(line).ok).toBe(line.startsWith('bash'));
});
