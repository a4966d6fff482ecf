// Finds out from the files of a project how people test, lint and build it, and how a fresh checkout is made ready. One row
// per sort of project. It only reads: nothing of the project is run.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CheckerTime } from '../kernel/graph/config.ts';
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';

type ProjectCheck = {
  readonly name: string;
  readonly command: readonly string[];
  /** `turn`: quick enough to run after each turn that writes code. `merge`: for the whole work, before it is merged. */
  readonly when: CheckerTime;
};

export type Project = {
  /** The sorts of project that were found, such as node and python. */
  readonly sorts: readonly string[];
  readonly checks: readonly ProjectCheck[];
  /** How a fresh checkout gets what the checks need, one for each sort of project that installs something. */
  readonly installs: readonly Install[];
};

type Install = {
  readonly steps: readonly (readonly string[])[];
  /** The folder in which the steps install and that git has to ignore; null where they look after that themselves. */
  readonly folder: string | null;
};

type Part = { readonly checks: readonly ProjectCheck[]; readonly install: Install | null };
type Row = {
  readonly sort: string;
  /** One of these files makes a project of this sort. */
  readonly files: readonly string[];
  readonly read: (dir: string) => Part;
};

const NOTHING: Part = { checks: [], install: null };

export function detectProject(dir: string): Project {
  const rows = ROWS.filter(({ files }) => files.some((file) => hasFile(dir, file)));
  const parts = rows.map(({ sort, read }) => ({ sort, ...read(dir) }));
  const checks = new Map<string, ProjectCheck>();
  for (const { sort, checks: found } of parts) {
    for (const check of found) {
      // A Makefile usually calls what the other rows have found already.
      if (sort === 'make' && checks.has(check.name)) continue;
      const name = checks.has(check.name) ? `${sort}-${check.name}` : check.name;
      checks.set(name, { ...check, name });
    }
  }
  return {
    sorts: parts.map(({ sort }) => sort),
    checks: [...checks.values()],
    installs: parts.flatMap(({ install }) => (install === null ? [] : [install])),
  };
}

const test = (...command: string[]): ProjectCheck => ({ name: 'test', command, when: 'turn' });
const lint = (...command: string[]): ProjectCheck => ({ name: 'lint', command, when: 'turn' });
const build = (...command: string[]): ProjectCheck => ({ name: 'build', command, when: 'merge' });
const only = (...checks: ProjectCheck[]): Part => ({ ...NOTHING, checks });

const ROWS: readonly Row[] = [
  { sort: 'node', files: ['package.json'], read: node },
  { sort: 'deno', files: ['deno.json', 'deno.jsonc'], read: () => only(test('deno', 'test'), lint('deno', 'lint')) },
  { sort: 'python', files: ['pyproject.toml', 'requirements.txt', 'setup.py', 'setup.cfg'], read: python },
  {
    sort: 'rust',
    files: ['Cargo.toml'],
    read: (dir) =>
      only(
        test('cargo', 'test'),
        ...(hasFile(dir, 'clippy.toml') || hasFile(dir, '.clippy.toml') ? [lint('cargo', 'clippy')] : []),
        build('cargo', 'build'),
      ),
  },
  {
    sort: 'go',
    files: ['go.mod'],
    read: () => only(test('go', 'test', './...'), lint('go', 'vet', './...'), build('go', 'build', './...')),
  },
  {
    sort: 'gradle',
    files: ['build.gradle', 'build.gradle.kts'],
    read: (dir) => {
      const gradle = hasFile(dir, 'gradlew') ? './gradlew' : 'gradle';
      return only(test(gradle, 'test'), build(gradle, 'build'));
    },
  },
  {
    sort: 'maven',
    files: ['pom.xml'],
    read: (dir) => {
      const maven = hasFile(dir, 'mvnw') ? './mvnw' : 'mvn';
      return only(test(maven, '-q', 'test'), build(maven, '-q', 'verify'));
    },
  },
  { sort: 'dotnet', files: ['*.sln', '*.csproj'], read: () => only(test('dotnet', 'test'), build('dotnet', 'build')) },
  { sort: 'elixir', files: ['mix.exs'], read: () => only(test('mix', 'test')) },
  {
    sort: 'ruby',
    files: ['Gemfile'],
    read: (dir) => (hasFile(dir, '.rspec') ? only(test('bundle', 'exec', 'rspec')) : NOTHING),
  },
  { sort: 'make', files: ['Makefile', 'makefile', 'GNUmakefile'], read: make },
];

/** Scripts by the check that they are; the first name that there is counts. */
const SCRIPTS: readonly (readonly [name: string, when: CheckerTime, scripts: readonly string[]])[] = [
  ['typecheck', 'turn', ['typecheck', 'type-check', 'check-types', 'tsc']],
  ['lint', 'turn', ['lint']],
  ['test', 'turn', ['test:unit', 'test']],
  ['build', 'merge', ['build']],
  ['e2e', 'merge', ['test:e2e', 'e2e', 'test:integration']],
];

function node(dir: string): Part {
  const manifest = jsonOf(dir, 'package.json');
  const scripts = isObject(manifest.scripts) ? manifest.scripts : {};
  const [program, install] = packageManager(dir, manifest);
  // `bun test` is a test runner of its own.
  const runs = (script: string) =>
    script === 'test' && program !== 'bun' ? [program, 'test'] : [program, 'run', script];
  const checks = SCRIPTS.flatMap(([name, when, names]): readonly ProjectCheck[] => {
    const [found, ...more] = names.filter((script) => isCheck(scripts[script]));
    if (found === undefined) return [];
    const quick = { name, command: runs(found), when };
    // Where there is a quick part, the whole is for the end.
    return found === 'test:unit' && more.includes('test')
      ? [quick, { name: 'test-all', command: runs('test'), when: 'merge' }]
      : [quick];
  });
  return { checks, install: hasPackages(manifest) ? { steps: [install], folder: 'node_modules' } : null };
}

/** Not what npm writes where there are no tests, and nothing that never ends. */
function isCheck(script: Json | undefined): boolean {
  return typeof script === 'string' && !script.includes('no test specified') && !/--watch(?!=false)\b/.test(script);
}

/** The packages of a workspace are linked by the same step. */
export function hasPackages(manifest: JsonObject): boolean {
  return ['dependencies', 'devDependencies', 'workspaces'].some((field) => {
    const packages = manifest[field];
    return (isObject(packages) || Array.isArray(packages)) && Object.keys(packages).length > 0;
  });
}

/** The program, and how it installs what the lock file names without changing it. */
function packageManager(dir: string, { packageManager: named }: JsonObject): [string, readonly string[]] {
  const is = (program: string, ...locks: string[]) =>
    typeof named === 'string' ? named.startsWith(`${program}@`) : locks.some((lock) => hasFile(dir, lock));
  if (is('pnpm', 'pnpm-lock.yaml')) return ['pnpm', ['pnpm', 'install', '--frozen-lockfile']];
  if (is('bun', 'bun.lock', 'bun.lockb')) return ['bun', ['bun', 'install', '--frozen-lockfile']];
  if (is('yarn', 'yarn.lock')) {
    return ['yarn', ['yarn', 'install', hasFile(dir, '.yarnrc.yml') ? '--immutable' : '--frozen-lockfile']];
  }
  const hasLock = hasFile(dir, 'package-lock.json') || hasFile(dir, 'npm-shrinkwrap.json');
  return ['npm', hasLock ? ['npm', 'ci'] : ['npm', 'install', '--no-package-lock']];
}

const VENV = '.venv';

function python(dir: string): Part {
  const texts = ['pyproject.toml', 'setup.cfg', 'tox.ini', 'requirements.txt', 'requirements-dev.txt'];
  const text = texts.map((name) => textOf(dir, name)).join('\n');
  const { run, install } = pythonTools(dir);
  const has = (tool: string, ...files: string[]) =>
    files.some((file) => hasFile(dir, file)) || new RegExp(`(?:^|[^\\w-])${tool}(?:$|[^\\w-])`, 'm').test(text);
  const checks = [
    ...(has('ruff', 'ruff.toml', '.ruff.toml') ? [lint(...run('ruff'), 'check', '.')] : []),
    ...(has('mypy', 'mypy.ini') ? [{ name: 'typecheck', command: [...run('mypy'), '.'], when: 'turn' } as const] : []),
    ...(has('pytest', 'pytest.ini', 'conftest.py', 'tests/conftest.py') ? [test(...run('pytest'), '-q')] : []),
  ];
  return { checks, install };
}

type PythonTools = Pick<Part, 'install'> & { readonly run: (tool: string) => readonly string[] };

/** uv and poetry keep their folder from git themselves, or have it elsewhere. */
function pythonTools(dir: string): PythonTools {
  const by = (program: string, ...args: string[]): PythonTools => ({
    run: (tool) => [program, 'run', tool],
    install: { steps: [[program, ...args]], folder: null },
  });
  if (hasFile(dir, 'uv.lock')) return by('uv', 'sync', '--locked');
  if (hasFile(dir, 'poetry.lock')) return by('poetry', 'install');
  const lists = ['requirements.txt', 'requirements-dev.txt'].filter((name) => hasFile(dir, name));
  if (lists.length === 0) return { run: (tool) => ['python3', '-m', tool], install: null };
  const pip = [`${VENV}/bin/pip`, 'install', '-q', ...lists.flatMap((name) => ['-r', name])];
  const steps = [['python3', '-m', 'venv', VENV], pip];
  return { run: (tool) => [`${VENV}/bin/python`, '-m', tool], install: { steps, folder: VENV } };
}

function make(dir: string): Part {
  const text =
    ['Makefile', 'makefile', 'GNUmakefile'].map((name) => textOf(dir, name)).find((each) => each !== '') ?? '';
  const has = (target: string) => new RegExp(`^${target}\\s*:(?!=)`, 'm').test(text);
  const tests = ['test', 'check'].filter(has).slice(0, 1);
  return only(
    ...(has('lint') ? [lint('make', 'lint')] : []),
    ...tests.map((target) => test('make', target)),
    ...(has('build') ? [build('make', 'build')] : []),
  );
}

/** `*` matches the beginning of a name. */
function hasFile(dir: string, name: string): boolean {
  if (!name.startsWith('*')) return existsSync(join(dir, name));
  try {
    return readdirSync(dir).some((each) => each.endsWith(name.slice(1)));
  } catch {
    return false;
  }
}

function textOf(dir: string, name: string): string {
  try {
    return readFileSync(join(dir, name), 'utf8');
  } catch {
    return '';
  }
}

export function jsonOf(dir: string, name: string): JsonObject {
  try {
    const value = JSON.parse(textOf(dir, name)) as Json;
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
