// The home folder that an attempt of Gemini CLI is given, seen by a stand-in that says what it finds in it.
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { GEMINI_VARIABLE, type GeminiHome } from './gemini-home.ts';

const HOME = fileURLToPath(new URL('./gemini-home.ts', import.meta.url));

/** Prints its arguments, its standard input and every file of its home folder. */
const STAND_IN = `#!${process.execPath}
const { readdirSync, readFileSync, lstatSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const home = process.env.GEMINI_CLI_HOME;
const files = {};
for (const name of readdirSync(home, { recursive: true })) {
  const stat = lstatSync(join(home, name));
  files[name] = stat.isSymbolicLink() ? 'link' : stat.isFile() ? readFileSync(join(home, name), 'utf8') : null;
}
writeFileSync(join(home, '.gemini', 'tmp', 'kept'), 'a conversation');
const { GEMINI_SYSTEM_MD, TMPDIR, ${GEMINI_VARIABLE} } = process.env;
console.log(JSON.stringify({ args: process.argv.slice(2), stdin: readFileSync(0, 'utf8'), files, home, env: { GEMINI_SYSTEM_MD, TMPDIR, ${GEMINI_VARIABLE} } }));
process.exitCode = 7;
`;

const PLAIN: GeminiHome = {
  ...{ name: 'c-1', settings: {}, policy: '# rules', system: null, guard: null },
};

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'baton-gemini-test-')));
  for (const folder of ['user/.gemini', 'tmp']) mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, 'gemini'), STAND_IN, { mode: 0o755 });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

type Seen = {
  readonly args: readonly string[];
  readonly stdin: string;
  readonly files: Readonly<Record<string, string | null>>;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
};

function start(made: Partial<GeminiHome> = {}, brief = 'Say it.'): Seen & { readonly code: number | null } {
  const env = { ...process.env, HOME: join(root, 'user'), TMPDIR: join(root, 'tmp') };
  const { stdout, status } = spawnSync(process.execPath, [HOME, join(root, 'gemini'), '-o', 'stream-json'], {
    env: { ...env, [GEMINI_VARIABLE]: JSON.stringify({ ...PLAIN, ...made }) },
    input: brief,
    encoding: 'utf8',
  });
  return { ...JSON.parse(stdout), code: status };
}

test('the brief is a command, exactly as it is, whatever it would mean on standard input', () => {
  const brief = '/quit @secret.txt "quoted" \\ and\n@@ -1 +1 @@ \u007f\t✓';
  const { args, stdin, files } = start({}, brief);
  expect(stdin).toBe('');
  const name = args.at(-1)?.slice(1) ?? '';
  expect(args.at(-2)).toBe('--prompt');
  const text = /^prompt = (".*")\n$/.exec(files[`.gemini/commands/${name}.toml`] ?? '')?.[1] ?? '';
  expect(JSON.parse(text)).toBe(brief);
});

test.each(['a !{rm -rf x} b', '@{secret.txt}', 'say {{args}}'])(
  'a brief that a command would fill in goes in on standard input, and names no file: %s',
  (brief) => {
    const { args, stdin } = start({}, `${brief} @README.md \\@kept`);
    expect(args).not.toContain('--prompt');
    expect(stdin).toBe(`\n${brief.replace('@', '\\@')} \\@README.md \\@kept`);
  },
);

test('the sign-in of the user is there, its settings are changed, its servers and commands are not', () => {
  const own = { security: { auth: { selectedType: 'oauth-personal' } }, mcpServers: { theirs: {} }, tools: { a: 1 } };
  const files = {
    'settings.json': `// mine\n${JSON.stringify(own)}`,
    ...{ 'oauth_creds.json': 'secret', 'projects.json': '{}' },
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, 'user', '.gemini', name), text);
  mkdirSync(join(root, 'user', '.gemini', 'extensions'));
  const seen = start({
    settings: { security: { folderTrust: { enabled: false } }, mcpServers: { baton: { command: 'b' } } },
  });
  expect(seen.files['.gemini/oauth_creds.json']).toBe('link');
  expect(seen.files['.gemini/projects.json'] ?? null).toBeNull();
  expect(seen.files['.gemini/extensions'] ?? null).toBeNull();
  expect(JSON.parse(seen.files['.gemini/settings.json'] ?? '')).toEqual({
    ...{ security: { auth: { selectedType: 'oauth-personal' }, folderTrust: { enabled: false } }, tools: { a: 1 } },
    ...{ mcpServers: { baton: { command: 'b' } }, mcp: {} },
  });
  expect(readFileSync(join(root, 'user', '.gemini', 'settings.json'), 'utf8')).toContain('// mine');
});

test('rules and the system prompt are files that only it names, and its exit code is handed on', () => {
  const { args, files, home, env, code } = start({ system: 'You plan.' });
  expect(args.slice(0, 2)).toEqual(['--admin-policy', join(home, 'tools.toml')]);
  expect([files['tools.toml'], files['system.md'], env.GEMINI_SYSTEM_MD]).toEqual([
    ...['# rules', 'You plan.', join(home, 'system.md')],
  ]);
  expect([code, env[GEMINI_VARIABLE], env.TMPDIR]).toEqual([7, undefined, join(home, 'tmp')]);
});

test('the folder goes with the attempt, what a killed one left too; conversations stay', () => {
  const { home } = start();
  expect(existsSync(home)).toBe(false);
  mkdirSync(join(home, 'left'), { recursive: true });
  expect(Object.keys(start().files)).not.toContain('left');
  expect(readdirSync(join(root, 'tmp'))).toEqual([]);
  expect(readFileSync(join(root, 'user', '.gemini', 'tmp', 'kept'), 'utf8')).toBe('a conversation');
});

test('with a guard a hook is added to those of the user, and it asks the guard in the words of our hook', () => {
  const theirs = { matcher: 'x', hooks: [] };
  writeFileSync(join(root, 'user', '.gemini', 'settings.json'), JSON.stringify({ hooks: { BeforeTool: [theirs] } }));
  const asks = 'cat > asked; echo "not this one" >&2; exit 2';
  const { files, env } = start({ guard: { program: 'sh', args: ['-c', `cd '${root}' && ${asks}`] } });
  const { hooks } = JSON.parse(files['.gemini/settings.json'] ?? '');
  expect(hooks.BeforeTool[0]).toEqual(theirs);
  const { command } = hooks.BeforeTool[1].hooks[0];
  const ask = (tool_name: string) =>
    spawnSync('sh', ['-c', command], {
      env: { ...process.env, ...env } as NodeJS.ProcessEnv,
      input: JSON.stringify({
        hook_event_name: 'BeforeTool',
        cwd: '/w',
        tool_name,
        tool_input: { command: 'git push' },
      }),
      encoding: 'utf8',
    });
  const refused = ask('run_shell_command');
  expect([refused.status, refused.stderr]).toEqual([2, 'not this one\n']);
  expect(JSON.parse(readFileSync(join(root, 'asked'), 'utf8'))).toEqual({
    ...{ cwd: '/w', tool_name: 'Bash', tool_input: { command: 'git push' } },
  });
  expect(ask('read_file').status).toBe(0);
});
