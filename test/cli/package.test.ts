// The published package: packed, installed into an empty folder, and run there.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { delimiter, join, relative, sep } from 'node:path';
import { expect, test } from 'vitest';
import { baton, CHECKOUT, project, type Ran } from './baton.ts';

const OURS = ['.git', '.baton', 'dist', 'node_modules', 'coverage'];

/** What a checkout has beside its sources, at the top or further down. */
function isShipped(path: string): boolean {
  const parts = relative(CHECKOUT, path).split(sep);
  return !OURS.includes(parts[0] ?? '') && !parts.includes('node_modules');
}

/** The machine's own folders of programs, without those that npm puts in front. */
const MACHINE = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'));

/** How this machine reaches the npm registry: its proxies and certificates. */
const NETWORK = Object.fromEntries(Object.entries(process.env).filter(([name]) => /proxy|_CA_|CERT/i.test(name)));

/** The machine's own Node, if it is older than the one we need. */
const OLD_NODE = MACHINE.map((folder) => join(folder, 'node')).find((node) => {
  const { stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' });
  return stdout && Number.parseInt(stdout.slice(1), 10) < 24;
});

type Target = { readonly types: string; readonly node: string; readonly default: string };
const { exports: EXPORTS } = JSON.parse(readFileSync(join(CHECKOUT, 'package.json'), 'utf8')) as {
  exports: Record<string, string | Target>;
};
const ENTRIES = Object.entries(EXPORTS).flatMap(([path, target]) =>
  typeof target === 'string' ? [] : [[`baton-run${path.slice(1)}`, target] as const],
);

test.each(ENTRIES)(
  '%s can be imported in a checkout that nobody has built, and gives what its source does',
  async (name, target) => {
    const source = target.default.replace(/^\.\/dist\/(.*)\.js$/, 'src/$1.ts');
    const program = `import * as own from '${name}';
import * as source from './${source}';
import { createRequire } from 'node:module';
const required = createRequire(process.cwd() + '/')('${name}');
const differing = Object.keys(source).filter((key) => own[key] !== source[key] || required[key] !== source[key]);
console.log(JSON.stringify([Object.keys(own).length, Object.keys(source).length, differing]));`;
    const ran = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      cwd: CHECKOUT,
      encoding: 'utf8',
    });
    expect(ran.stderr).toBe('');
    const [given, there, differing] = JSON.parse(ran.stdout);
    expect([given, differing]).toEqual([there, []]);
    expect(target.types).toBe(target.default.replace(/\.js$/, '.d.ts'));
  },
);

test('it holds what it needs and nothing else, installs, and runs the demo; an old Node is told what it needs', async (context) => {
  const dir = project();
  // A copy, so that packing does not build in the folder that other tests and people work in.
  const copy = join(dir, 'copy');
  cpSync(CHECKOUT, copy, { recursive: true, filter: isShipped });
  symlinkSync(join(CHECKOUT, 'node_modules'), join(copy, 'node_modules'));
  mkdirSync(join(dir, 'node24'));
  symlinkSync(process.execPath, join(dir, 'node24', 'node'));
  const PATH = [join(dir, 'node24'), ...MACHINE].join(delimiter);
  const run = (where: string, program: string, ...args: string[]) =>
    baton(where, args, { program: [program], env: { ...NETWORK, PATH } });

  succeed(await run(copy, 'npm', 'pack', '--pack-destination', dir));
  const tarball = join(dir, readdirSync(dir).find((name) => name.endsWith('.tgz')) ?? 'none.tgz');
  const files = succeed(await run(dir, 'tar', '-tzf', tarball)).split('\n');
  const needed = ['bin/baton', 'bin/main.cjs', 'dist/cli/main.js', 'dist/engine/store-worker.js', 'dist/index.d.ts'];
  const bundled = ['config.json', 'demo-agents.json', 'prompts/build.md', 'versions/prompt-lock.json'].map(
    (name) => `dist/bundled/${name}`,
  );
  expect(files).toEqual(expect.arrayContaining([...needed, ...bundled].map((name) => `package/${name}`)));
  expect(files.filter((name) => /\.test\.|fixtures|^package\/(src|test|scripts)\//.test(name))).toEqual([]);

  const home = join(dir, 'home');
  mkdirSync(home);
  const installed = await run(
    home,
    'npm',
    'install',
    '--no-audit',
    '--no-fund',
    '--ignore-scripts',
    '--prefer-offline',
    tarball,
  );
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH|ETIMEDOUT/.test(installed.stderr)) {
    const why = 'the npm registry cannot be reached';
    if (process.env.CI === 'true') throw new Error(why);
    context.skip(why);
  }
  succeed(installed);
  const demo = await run(home, 'npx', 'baton', 'demo', '--fast');
  expect([demo.code, demo.stdout]).toEqual([0, expect.stringContaining('Hello, Ada!')]);
  expect(demo.stderr).not.toContain('Warning');
  expect(demo.stdout).toContain('Then try it in a project of your own:\n  npx baton init');
  const made = succeed(await run(home, 'npx', 'baton', 'init'));
  expect(made).toContain('`npx baton check`');
  const { $schema } = JSON.parse(readFileSync(join(home, '.baton/config.json'), 'utf8'));
  expect([$schema, existsSync(join(home, '.baton', $schema))]).toEqual([
    '../node_modules/baton-run/schemas/config.schema.json',
    true,
  ]);
  const program = `import { openWorkspace } from 'baton-run'; console.log((await openWorkspace('.').cast.list()).reason)`;
  expect(succeed(await run(home, 'node', '--input-type=module', '-e', program))).toBe('0 of 0 casts\n');
  const all = ENTRIES.map(([name]) => name);
  const loads = `for (const name of ${JSON.stringify(all)}) {
  const names = Object.keys(await import(name));
  const built = await import(import.meta.resolve('baton-run/package.json').replace('package.json', ${JSON.stringify(
    Object.fromEntries(ENTRIES.map(([name, target]) => [name, target.default])),
  )}[name]));
  console.log(name, names.length > 0 && names.every((key) => built[key] !== undefined), names.length === Object.keys(built).length);
}`;
  expect(succeed(await run(home, 'node', '--input-type=module', '-e', loads))).toBe(
    all.map((name) => `${name} true true\n`).join(''),
  );

  if (OLD_NODE === undefined) {
    if (process.env.CI === 'true') throw new Error('there is no Node older than 24 on this machine to try');
    return context.skip('the rest was tried; there is no Node older than 24 on this machine');
  }
  const old = await baton(home, ['demo'], {
    program: [join(home, 'node_modules/.bin/baton')],
    env: { PATH: MACHINE.join(delimiter) },
  });
  expect([old.code, old.stdout]).toEqual([2, '']);
  expect(old.stderr).toMatch(/^baton needs Node\.js 24 or newer; this is v\d+\..+\n$/);
}, 120_000);

function succeed({ code, stdout, stderr }: Ran): string {
  expect(code, stderr).toBe(0);
  return stdout;
}
