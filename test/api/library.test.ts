// The examples of docs/library.md: they compile, run, and say what the page says they do.
import { execFileSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { CHECKOUT, flow, personToken, project, put, start } from '../cli/baton.ts';

const INDEX = join(CHECKOUT, 'src', 'index.ts');
const CONTRACTS = join(CHECKOUT, 'src', 'contracts.ts');
const EXAMPLES = Array.from(
  readFileSync(join(CHECKOUT, 'docs', 'library.md'), 'utf8').matchAll(/^```ts\n(.*?)^```$/gms),
  ([, code = '']) => code,
);

const ask = { tools: 'none', prompt: 'Is it good?', runner: 'person' };
const greet = { tools: 'none', prompt: 'Greet.', runner: 'command', command: [process.execPath, 'greet.mjs'] };
const judged = { parse: 'json', edges: [{ when: 'satisfied', to: 'end' }] };
const { loadouts: Ask } = flow({}, { 'Socket-1': { materia: 'Ask', ...judged } });
const { loadouts: Greet } = flow({}, { 'Socket-1': { materia: 'Greet', parse: 'text' } });

const config = {
  activeLoadout: 'Greet',
  materia: { Ask: ask, Greet: greet },
  loadouts: { Ask: (Ask as { L: object }).L, Greet: (Greet as { L: object }).L },
};

/** It speaks, and ends when it was heard; that it was is no change of the project. */
const GREETER = `import { existsSync } from 'node:fs';
  console.log('Hello, Ada!');
  while (!existsSync('.baton/state/heard')) await new Promise((resolve) => setTimeout(resolve, 20));`;

/** What an example prints. */
async function said(number: number): Promise<string[]> {
  const source = (file: string) => `'${pathToFileURL(file).href}'`;
  const code = (EXAMPLES[number] ?? '')
    .replace(`'baton-run'`, source(INDEX))
    .replace(`'baton-run/contracts'`, source(CONTRACTS));
  const dir = project({ '.baton/config.json': config as never, 'greet.mjs': GREETER, 'example.mts': code });
  const program = [process.execPath, '--disable-warning=ExperimentalWarning', 'example.mts'];
  // A program of a person that has no terminal answers with a token.
  const { child, ended } = start(dir, [], { program, env: { BATON_TOKEN: personToken() } });
  child.stdout?.on('data', (text: string) => {
    if (text.includes('heard ')) put(dir, { '.baton/state/heard': '' });
  });
  const ran = await ended;
  expect(ran.stderr).toBe('');
  return ran.stdout.trim().split('\n');
}

test('a cast is started and followed: facts in order, what its agent says, and the end', async () => {
  const lines = await said(0);
  expect(lines).toContain('heard Hello, Ada!');
  const facts = lines.filter((line) => line.startsWith('fact ')).map((line) => line.split(' '));
  expect(facts.map(([, , kind]) => kind)).toEqual(
    expect.arrayContaining(['cast.started', 'turn.started', 'attempt.started', 'turn.accepted', 'cast.completed']),
  );
  const numbers = facts.map(([, seq]) => Number(seq));
  expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
  expect(lines.at(-1)).toMatch(/^end cast \S+ is completed/);
});

test('a cast is waited for and answered', async () => {
  expect(await said(1)).toEqual(['CONTRACT_VIOLATION', 'completed']);
});

test('a task is made, claimed, worked on and handed in', async () => {
  expect(await said(2)).toEqual([expect.stringMatching(/^OK OK OK T-1 /)]);
});

test('a payload is read without a workspace', async () => {
  expect(await said(3)).toEqual(['CONTRACT_VIOLATION']);
});

test('every example of the page has a test above, and compiles', () => {
  expect(EXAMPLES).toHaveLength(4);
  const dir = project(Object.fromEntries(EXAMPLES.map((code, index) => [`example-${index}.mts`, code])));
  symlinkSync(join(CHECKOUT, 'node_modules'), join(dir, 'node_modules'));
  const options = {
    noEmit: true,
    paths: { 'baton-run': [INDEX], 'baton-run/contracts': [CONTRACTS] },
    types: ['node'],
  };
  const tsconfig = { extends: join(CHECKOUT, 'tsconfig.json'), compilerOptions: options, include: ['*.mts'] };
  put(dir, { 'tsconfig.json': tsconfig });
  execFileSync(join(CHECKOUT, 'node_modules', '.bin', 'tsc'), ['-p', dir], { cwd: dir, encoding: 'utf8' });
});
