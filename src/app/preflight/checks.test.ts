import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { detectProject } from '../../utilities/detect-project.ts';
import { unstartableIn, unstartableText, whyNotStart } from './checks.ts';

/** A folder with files; a name that ends in `!` is a program. */
function folder(files: Readonly<Record<string, unknown>>): string {
  const dir = mkdtempSync(join(tmpdir(), 'baton-start-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  for (const [name, content] of Object.entries({ 'bin/npm!': '', 'bin/node!': '', '.git': '', ...files })) {
    const file = join(dir, name.replace(/!$/, ''));
    mkdirSync(dirname(file), { recursive: true });
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    writeFileSync(file, text, { mode: name.endsWith('!') ? 0o755 : 0o644 });
  }
  return dir;
}

const script = (test: string, more: object = { devDependencies: { vitest: '*' } }) => ({
  'package.json': { scripts: { test }, ...more },
});

test.each<[string, readonly string[], Readonly<Record<string, unknown>>, string | null]>([
  ['a program that is there', ['npm', 'ci'], {}, null],
  ['a program that is not', ['cargo', 'test'], {}, 'cargo is not found'],
  ['a program of the project', ['./gradlew', 'test'], { 'gradlew!': '' }, null],
  ['one that is not there', ['.venv/bin/python', '-m', 'pytest'], {}, '.venv/bin/python is not found'],
  ['no such script', ['npm', 'run', 'lint'], script('vitest'), 'package.json has no script "lint"'],
  ['packages that are not installed', ['npm', 'test'], script('vitest'), 'there is no node_modules'],
  ['yarn that needs no folder', ['npm', 'test'], { ...script('node x'), '.pnp.cjs': '' }, null],
  ['no packages needed', ['npm', 'test'], script('node --test', {}), null],
  ['a program of a package', ['npm', 'test'], { ...script('CI=1 vitest run'), 'node_modules/.bin/vitest!': '' }, null],
  [
    'a package that is missing',
    ['npm', 'test'],
    { ...script('CI=1 vitest run'), 'node_modules/x': '' },
    'vitest is not found',
  ],
  ['what only a shell can tell', ['npm', 'test'], { ...script('cd web && vitest'), 'node_modules/x': '' }, null],
  ['a quoted program', ['npm', 'test'], { ...script('"$TOOL" x'), 'node_modules/x': '' }, null],
])('%s', (_what, command, files, why) => {
  const dir = folder(files);
  const found = whyNotStart(command, dir, join(dir, 'bin'));
  if (why === null) expect(found).toBeNull();
  else expect(found).toContain(why);
});

test('packages are looked for above the folder, up to the top of the repository', () => {
  const dir = folder({ 'node_modules/.bin/vitest!': '', 'web/package.json': script('vitest')['package.json'] });
  expect(whyNotStart(['npm', 'test'], join(dir, 'web'), join(dir, 'bin'))).toBeNull();
});

test('checkers of the configuration count before what is found, and the fix is named', () => {
  const dir = folder({ ...script('vitest'), 'package-lock.json': '{}' });
  const said = (declared: Parameters<typeof unstartableIn>[1]) =>
    unstartableText(unstartableIn(dir, declared, join(dir, 'bin')), detectProject(dir), '/main');
  expect(said({ own: { command: ['npm', 'ci'] }, file: { file: 'x' } })).toBeNull();
  expect(said({ own: { command: ['gone'] } })).toContain(
    'check own (gone) cannot start in the worktree: gone is not found',
  );
  expect(said({})).toBe(
    'the project\'s check test (npm test) cannot start in the worktree: its packages are not installed: there is no node_modules; run `npm ci` in /main, which worktrees share, or set worktree.setup in the configuration to [["npm","ci"]]',
  );
});
