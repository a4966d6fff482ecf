import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { detectProject } from './detect-project.ts';

function folder(files: Readonly<Record<string, unknown>>): string {
  const dir = mkdtempSync(join(tmpdir(), 'baton-detect-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), typeof content === 'string' ? content : JSON.stringify(content));
  }
  return dir;
}

const scripts = (each: Record<string, string>, more: object = {}) => ({ 'package.json': { scripts: each, ...more } });
const packages = { devDependencies: { vitest: '*' } };

/** Each check in one line: its name, its command, and when it runs. */
function checks(files: Readonly<Record<string, unknown>>): string[] {
  return detectProject(folder(files)).checks.map(
    ({ name, command, when }) => `${name}: ${command.join(' ')} (${when})`,
  );
}

test.each<[string, Readonly<Record<string, unknown>>, readonly string[]]>([
  ['an empty folder', {}, []],
  [
    'a node project',
    scripts({ test: 'vitest', lint: 'eslint .' }),
    ['lint: npm run lint (turn)', 'test: npm test (turn)'],
  ],
  [
    'a node project with everything',
    scripts({ 'type-check': 'tsc', build: 'vite build', 'test:unit': 'vitest', test: 'run-all', 'test:e2e': 'pw' }),
    [
      'typecheck: npm run type-check (turn)',
      'test: npm run test:unit (turn)',
      'test-all: npm test (merge)',
      'build: npm run build (merge)',
      'e2e: npm run test:e2e (merge)',
    ],
  ],
  [
    'scripts that say nothing or never end',
    scripts({ test: 'echo "Error: no test specified"', lint: 'x --watch' }),
    [],
  ],
  ['a script that is told not to watch', scripts({ test: 'jest --watch=false' }), ['test: npm test (turn)']],
  ['scripts that are no text', { 'package.json': { scripts: { test: 5 } } }, []],
  ['a manifest that is no JSON', { 'package.json': '{' }, []],
  ['pnpm by its lock', { ...scripts({ test: 'x' }), 'pnpm-lock.yaml': '' }, ['test: pnpm test (turn)']],
  ['yarn by its lock', { ...scripts({ build: 'x' }), 'yarn.lock': '' }, ['build: yarn run build (merge)']],
  ['bun by its lock', { ...scripts({ test: 'x' }), 'bun.lock': '' }, ['test: bun run test (turn)']],
  [
    'what the manifest names before a lock',
    { ...scripts({ test: 'x' }, { packageManager: 'pnpm@9' }), 'yarn.lock': '' },
    ['test: pnpm test (turn)'],
  ],
  ['deno', { 'deno.json': '{}' }, ['test: deno test (turn)', 'lint: deno lint (turn)']],
  [
    'python with uv',
    { 'pyproject.toml': '[tool.ruff]\n[tool.mypy]\ndev = ["pytest>=8"]', 'uv.lock': '' },
    ['lint: uv run ruff check . (turn)', 'typecheck: uv run mypy . (turn)', 'test: uv run pytest -q (turn)'],
  ],
  [
    'python with poetry',
    { 'pyproject.toml': 'pytest = "*"', 'poetry.lock': '' },
    ['test: poetry run pytest -q (turn)'],
  ],
  ['python with a list', { 'requirements.txt': 'pytest\n' }, ['test: .venv/bin/python -m pytest -q (turn)']],
  ['python alone', { 'setup.py': '', 'tests/conftest.py': '' }, ['test: python3 -m pytest -q (turn)']],
  ['a word that only contains the name', { 'requirements.txt': 'pytest-cov-extra\n' }, []],
  [
    'rust',
    { 'Cargo.toml': '', 'clippy.toml': '' },
    ['test: cargo test (turn)', 'lint: cargo clippy (turn)', 'build: cargo build (merge)'],
  ],
  [
    'go',
    { 'go.mod': '' },
    ['test: go test ./... (turn)', 'lint: go vet ./... (turn)', 'build: go build ./... (merge)'],
  ],
  [
    'gradle with its wrapper',
    { 'build.gradle.kts': '', gradlew: '' },
    ['test: ./gradlew test (turn)', 'build: ./gradlew build (merge)'],
  ],
  ['maven', { 'pom.xml': '' }, ['test: mvn -q test (turn)', 'build: mvn -q verify (merge)']],
  ['dotnet', { 'App.sln': '' }, ['test: dotnet test (turn)', 'build: dotnet build (merge)']],
  ['elixir', { 'mix.exs': '' }, ['test: mix test (turn)']],
  ['ruby', { Gemfile: '', '.rspec': '' }, ['test: bundle exec rspec (turn)']],
  [
    'make',
    { Makefile: 'test := 1\ncheck: all\n\techo\nbuild:\n' },
    ['test: make check (turn)', 'build: make build (merge)'],
  ],
  [
    'make for what nothing else does',
    { ...scripts({ test: 'x' }), Makefile: 'test:\nlint:\n' },
    ['test: npm test (turn)', 'lint: make lint (turn)'],
  ],
  [
    'two sorts with the same names',
    { ...scripts({ test: 'x' }), 'go.mod': '' },
    [
      'test: npm test (turn)',
      'go-test: go test ./... (turn)',
      'lint: go vet ./... (turn)',
      'build: go build ./... (merge)',
    ],
  ],
])('how it is tested, linted and built: %s', (_what, files, found) => {
  expect(checks(files)).toEqual(found);
});

test.each<[string, Readonly<Record<string, unknown>>, string, string | null | undefined]>([
  ['no packages', scripts({ test: 'x' }), '', undefined],
  ['npm with a lock', { ...scripts({}, packages), 'package-lock.json': '{}' }, 'npm ci', 'node_modules'],
  ['npm without', scripts({}, packages), 'npm install --no-package-lock', 'node_modules'],
  ['pnpm', { ...scripts({}, packages), 'pnpm-lock.yaml': '' }, 'pnpm install --frozen-lockfile', 'node_modules'],
  ['yarn of old', { ...scripts({}, packages), 'yarn.lock': '' }, 'yarn install --frozen-lockfile', 'node_modules'],
  [
    'yarn',
    { ...scripts({}, packages), 'yarn.lock': '', '.yarnrc.yml': '' },
    'yarn install --immutable',
    'node_modules',
  ],
  ['bun', { ...scripts({}, packages), 'bun.lockb': '' }, 'bun install --frozen-lockfile', 'node_modules'],
  ['uv', { 'pyproject.toml': '', 'uv.lock': '' }, 'uv sync --locked', null],
  ['poetry', { 'pyproject.toml': '', 'poetry.lock': '' }, 'poetry install', null],
  [
    'a list of python packages',
    { 'requirements.txt': 'x' },
    'python3 -m venv .venv; .venv/bin/pip install -q -r requirements.txt',
    '.venv',
  ],
  ['a workspace of node packages', scripts({}, { workspaces: ['a'] }), 'npm install --no-package-lock', 'node_modules'],
  ['a language that installs elsewhere', { 'go.mod': '' }, '', undefined],
])('how a fresh checkout is made ready: %s', (_what, files, steps, installed) => {
  const [install] = detectProject(folder(files)).installs;
  const written = (install?.steps ?? []).map((step) => step.join(' ')).join('; ');
  expect([written, install?.folder]).toEqual([steps, installed]);
});

test('a project of two sorts installs for both', () => {
  const { installs } = detectProject(folder({ ...scripts({}, packages), 'requirements.txt': 'pytest' }));
  expect(installs.map(({ folder: each }) => each)).toEqual(['node_modules', '.venv']);
});
