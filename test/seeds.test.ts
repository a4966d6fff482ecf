// docs/seeds.md says by which test each statement of the five documents is shown. A row without a test, and a test that is
// not there or that the suite leaves out, are found here. The tests themselves run with the suite.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { matchesGlob } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import config from '../vitest.config.ts';

const ROOT = new URL('..', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, ROOT), 'utf8');

type Row = { readonly id: string; readonly statement: string; readonly shown: string };

const ROWS: readonly Row[] = [...read('docs/seeds.md').matchAll(/^\| ([A-Z]\d+) \| (.*?) \| (.*) \|$/gm)].map(
  ([, id = '', statement = '', shown = '']) => ({ id, statement, shown }),
);
const NOT_YET = /^not there yet: \S/;
const NAMED = /^`([^`]+)` “(.*)”$/;

const STRING = String.raw`\s*(?:\w+: )?(?:'((?:\\.|[^'\\\n])*)'|"((?:\\.|[^"\\\n])*)"|${'`((?:\\\\.|[^`\\\\\\n])*)`'})`;
/** What is called as a test, and what begins a row of a table. */
const TITLE = new RegExp(
  String.raw`(?:\b(?:test|it|describe|inBrowser)(?:\.(?!skip|todo)\w+)*(?:<[^(]*>)?|\))\(${STRING}`,
  'g',
);
const FIRST = new RegExp(`[[{]${STRING}`, 'g');

function namesIn(source: string): ReadonlySet<string> {
  const found = [TITLE, FIRST].flatMap((form) => [...source.matchAll(form)]);
  return new Set(found.map(([, a, b, c]) => (a ?? b ?? c ?? '').replace(/\\(['"`\\])/g, '$1')));
}

type Project = { readonly test: { readonly include: readonly string[]; readonly exclude?: readonly string[] } };

function isInSuite(file: string): boolean {
  const { projects } = (config as unknown as { readonly test: { readonly projects: readonly Project[] } }).test;
  const isOf = (patterns: readonly string[] = []) => patterns.some((pattern) => matchesGlob(file, pattern));
  return projects.some(({ test: { include, exclude } }) => isOf(include) && !isOf(exclude));
}

const names = new Map<string, ReadonlySet<string>>();

/** What is wrong with a test that a row names. */
function faultOf(named: string): string | null {
  const [, file = '', name = ''] = NAMED.exec(named) ?? [];
  if (file === '') return `${named} is not a file and the name of a test`;
  if (!existsSync(new URL(file, ROOT))) return `there is no file ${file}; ${placesOf(name)}`;
  if (!isInSuite(file)) return `the suite does not run ${file}`;
  if (!names.has(file)) names.set(file, namesIn(read(file)));
  return names.get(file)?.has(name) ? null : `${file} has no test “${name}”; ${placesOf(name)}`;
}

/** Where a test is that was moved. */
function placesOf(name: string): string {
  const files = globSync('{src,test}/**/*.test.ts', { cwd: fileURLToPath(ROOT) });
  const found = files.filter((file) => namesIn(read(file)).has(name));
  return found.length === 0 ? 'no other file has it' : `it is in ${found.join(' and ')}`;
}

function faultsOf({ id, statement, shown }: Row): readonly string[] {
  if (NOT_YET.test(shown)) return [];
  const faults = shown.replaceAll('\\|', '|').split('<br>').map(faultOf);
  return faults.flatMap((fault) => (fault === null ? [] : [`${id} ${statement}: ${fault}`]));
}

test('every statement has a test that is there', () => {
  expect(ROWS.flatMap(faultsOf)).toEqual([]);
});

test('the page has all statements of the five documents, numbered one by one', () => {
  const counts = new Map<string, number>();
  for (const { id } of ROWS) {
    const [letter = ''] = id;
    counts.set(letter, (counts.get(letter) ?? 0) + 1);
    expect(id).toBe(`${letter}${counts.get(letter)}`);
  }
  expect([...counts.keys()]).toEqual(['H', 'G', 'R', 'O', 'T']);
  expect(ROWS.length).toBeGreaterThanOrEqual(300);
  // A line that is no row would not be looked at.
  expect(read('docs/seeds.md').match(/^\| [A-Z]/gm)).toHaveLength(ROWS.length);
});

describe('what is wrong is found', () => {
  const row = (shown: string): Row => ({ id: 'H1', statement: 'x', shown });
  const HERE = 'test/seeds.test.ts';
  test.each([
    ['no test at all', '', 'is not a file and the name of a test'],
    ['a reason that says nothing', 'not there yet: ', 'is not a file and the name of a test'],
    ['a file that is not there', '`test/none.test.ts` “nobody has this title”', 'no other file has it'],
    [
      'a test that was moved',
      '`test/docs.test.ts` “the commands for contributors are there”',
      'it is in test/seeds.test.ts',
    ],
    ['a file that the suite does not run', '`test/play.ts` “x”', 'the suite does not run'],
    ['a name that is not there', `\`${HERE}\` “no such test at all, ever”`, 'has no test'],
    ['the second of two', `\`${HERE}\` “every statement has a test that is there”<br>x`, 'is not a file'],
  ])('%s', (_what, shown, fault) => {
    expect(faultsOf(row(shown))).toEqual([expect.stringContaining(fault)]);
  });
});

test('the commands for contributors are there', () => {
  const { scripts } = JSON.parse(read('package.json'));
  expect(Object.keys(scripts)).toEqual(expect.arrayContaining(['typecheck', 'test', 'test:webui', 'build:webui']));
});
