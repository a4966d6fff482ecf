// What a newcomer sees: the overview, the help of every command, the version.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.ts';
import { baton, CHECKOUT, project } from './baton.ts';

const rowsIn = (text: string) => text.split('\n').flatMap((line) => /^ {2}(\w+) /.exec(line)?.[1] ?? []);

test('the overview fits a screen of 24 lines and 80 columns, with the everyday commands first', async () => {
  const { code, stdout, stderr } = await baton(project(), ['--help']);
  expect([code, stderr]).toEqual([0, '']);
  const everyday = ['init', 'cast', 'status', 'continue', 'approve', 'ui'];
  expect(rowsIn(stdout).slice(0, everyday.length)).toEqual(everyday);
  const lines = stdout.trimEnd().split('\n');
  // The prompt of the shell takes the last line.
  expect(lines.length).toBeLessThanOrEqual(23);
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  expect(stdout).toContain('baton --help --all');
});

test('--help --all groups all commands and leaves none out', async () => {
  const { code, stdout } = await baton(project(), ['--help', '--all']);
  expect(code).toBe(0);
  expect(rowsIn(stdout).sort()).toEqual(COMMANDS.map(({ name }) => name).sort());
  expect(stdout.match(/^\w.*:$/gm)?.length).toBeGreaterThan(3);
  expect(await baton(project(), ['help', '--all'])).toEqual({ code: 0, stdout, stderr: '' });
});

test('without a word, and as a command, it is the same', async () => {
  const dir = project();
  const [asked, bare, spelled] = await Promise.all([['--help'], [], ['help']].map((args) => baton(dir, args)));
  expect(bare).toEqual(asked);
  expect(spelled).toEqual(asked);
});

test.each(COMMANDS.map((command) => [command.name, command] as const))(
  'baton %s --help has a usage, every option and an example',
  async (name, { options, example }) => {
    const { code, stdout, stderr } = await baton(project(), [name, '--help']);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain(`Usage: baton ${name}`);
    expect(stdout).toContain(`Example: ${example}`);
    expect(example.startsWith(`baton ${name}`)).toBe(true);
    expect(Object.keys(options).filter((option) => !stdout.includes(`--${option}`))).toEqual([]);
  },
);

test('the version is that of the package', async () => {
  const { version } = JSON.parse(readFileSync(join(CHECKOUT, 'package.json'), 'utf8'));
  expect(await baton(project(), ['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
});
