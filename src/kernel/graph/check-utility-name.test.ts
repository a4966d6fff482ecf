import { expect, test } from 'vitest';
import type { Json } from '../json.ts';
import { check } from './check.ts';
import { software } from './fixtures/software.ts';

const utilities = { aliases: ['noop', 'echo', 'vcs.detect'], scripts: ['Detect-VCS', 'Commit-Sigil'] };
const script = (name: string): Json => ({ script: { kind: 'shippedUtility', name } });

test.each([
  ['a built-in alias', { utility: 'echo' }, []],
  ['no alias', { utility: 'touch pwned' }, ['materia.Tool.utility']],
  ['a name that every object has', { utility: 'constructor' }, ['materia.Tool.utility']],
  ['a shipped script', script('Detect-VCS'), []],
  ['no shipped script', script('Detect-VSC'), ['materia.Tool.script.name']],
  ['an alias is no script', script('echo'), ['materia.Tool.script.name']],
  ['a script is no alias', { utility: 'Detect-VCS' }, ['materia.Tool.utility']],
  ['a fixed output is never looked up', { utility: 'anything', params: { output: 'x' } }, []],
  ['a command is anybody’s own', { command: ['whatever'] }, []],
] as [string, Json, string[]][])('%s', (_rule, materia, paths) => {
  const issues = check(software({ 'materia.Tool': materia }), { utilities });
  expect(issues.map(({ code, level, path }) => [code, level, path])).toEqual(
    paths.map((path) => ['INVALID_MATERIA', 'error', path]),
  );
});

test('the message names what is meant and what there is', () => {
  const [issue] = check(software({ 'materia.Tool': { utility: 'vcs.detekt' } }), { utilities });
  expect(issue?.message).toBe(
    'There is no built-in utility "vcs.detekt". Did you mean vcs.detect? There are noop, echo, vcs.detect; for a program of your own write command.',
  );
});

test('what a script speaks for need not exist', () => {
  const names = { ...utilities, scripted: ['Tool'] };
  expect(check(software({ 'materia.Tool': { utility: 'touch pwned' } }), { utilities: names })).toEqual([]);
});

test('who does not say what there is gets no opinion on names', () => {
  expect(check(software({ 'materia.Tool': { utility: 'touch pwned' } }))).toEqual([]);
});
