// `baton install`: what it writes, what it shows first, and that it can be taken back.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import { BATON, baton, json, project, put, read } from './baton.ts';
import { create, start } from './ledger-story.ts';

const SETTINGS = '.claude/settings.local.json';
const SHARED = '.claude/settings.json';

test('nothing is written before it was shown and agreed to', async () => {
  const dir = project();
  const ran = await baton(dir, ['install', 'claude']);
  expect(ran.code).toBe(2);
  expect(ran.stdout).toContain('.claude/settings.local.json (new)');
  expect(ran.stdout).toContain('hook PreToolUse || exit 2');
  expect(ran.stderr).toContain('--yes');
  expect(existsSync(join(dir, '.claude'))).toBe(false);
  const asked = await baton(dir, ['install', 'claude', '--json']);
  expect([asked.code, json(asked)]).toMatchObject([2, { agent: 'claude', files: [SETTINGS], written: false }]);
});

test('what was there stays, and comes back byte for byte', async () => {
  const mine = '{ "model": "x",\n    "permissions": {"deny": ["WebFetch"]} }';
  const dir = project({ [SETTINGS]: mine });
  expect((await baton(dir, ['install', 'claude', '--yes'])).code).toBe(0);
  expect(JSON.parse(read(dir, SETTINGS))).toMatchObject({ model: 'x', permissions: { deny: ['WebFetch'] } });
  const again = await baton(dir, ['install', 'claude', '--yes', '--json']);
  expect([again.code, json(again)]).toMatchObject([0, { files: [], written: false }]);
  expect((await baton(dir, ['install', 'claude', '--undo', '--yes'])).code).toBe(0);
  expect(read(dir, SETTINGS)).toBe(mine);
  expect(readdirSync(dir).sort()).toEqual(['.baton', '.claude']);
  const nothing = await baton(dir, ['install', 'claude', '--undo', '--yes']);
  expect([nothing.code, nothing.stdout]).toEqual([0, 'Nothing of baton is installed for claude here.\n']);
});

test('what was added later stays when Baton goes', async () => {
  const dir = project();
  await baton(dir, ['install', 'claude', '--yes']);
  const settings = JSON.parse(read(dir, SETTINGS));
  put(dir, { [SETTINGS]: { ...settings, model: 'later' } });
  expect((await baton(dir, ['install', 'claude', '--undo', '--yes'])).code).toBe(0);
  expect(JSON.parse(read(dir, SETTINGS))).toEqual({ model: 'later' });
});

test('the written hooks work: a command of theirs, run as the host runs it', async () => {
  const dir = project();
  await create(dir, 'T-1');
  await start(dir, 'T-1', 'ann');
  await baton(dir, ['install', 'claude', '--yes']);
  const { hooks } = JSON.parse(read(dir, SETTINGS));
  const [{ command }] = hooks.PreToolUse[0].hooks;
  const input = JSON.stringify({
    session_id: 's-1',
    cwd: '/tmp',
    hook_event_name: 'PreToolUse',
    tool_name: 'Write',
    tool_input: { file_path: join(dir, 'work/T-1/a.txt') },
  });
  const run = (line: string) =>
    baton('/', ['-c', line], { program: ['/bin/sh'], input, env: { CLAUDE_PROJECT_DIR: dir, TMPDIR: dir } });
  const refused = await run(command);
  expect([refused.code, refused.stderr]).toMatchObject([2, expect.stringContaining('LOCK_CONFLICT')]);
  const gone = (line: string) => run(String(line).replaceAll(BATON, '/nowhere/baton'));
  const missing = await gone(command);
  expect([missing.code, missing.stderr]).toEqual([
    2,
    `baton is not installed here, so its hook refuses every tool call: install it, or remove its hooks from ${SETTINGS}\n`,
  ]);
  for (const event of ['UserPromptSubmit', 'Stop', 'SessionStart', 'PostToolUse']) {
    const open = await gone(hooks[event][0].hooks[0].command);
    expect([event, open.code, open.stderr]).toMatchObject([event, 1, /^baton is not installed here: /]);
  }
  await baton(dir, ['install', 'claude', '--yes', '--report-only']);
  const [{ command: looking }] = JSON.parse(read(dir, SETTINGS)).hooks.PreToolUse[0].hooks;
  expect((await run(looking)).code).toBe(0);
  expect(read(dir, '.baton/state/hooks.jsonl')).toContain('LOCK_CONFLICT');
});

test('the settings of the team are written on request, and taken back with those of the person', async () => {
  const mine = '{ "model": "x",\n    "permissions": {"deny": ["WebFetch"]} }';
  const dir = project({ [SHARED]: mine });
  expect((await baton(dir, ['install', 'claude', '--yes', '--shared'])).code).toBe(0);
  expect(existsSync(join(dir, SETTINGS))).toBe(false);
  expect(read(dir, SHARED)).toContain('"permissions": {"deny": ["WebFetch"]},\n');
  expect(JSON.parse(read(dir, '.mcp.json'))).toMatchObject({
    mcpServers: { baton: { command: 'baton', args: ['mcp'] } },
  });
  expect([read(dir, SHARED).includes(BATON), read(dir, SHARED).includes('command -v baton ')]).toEqual([false, true]);
  const both = await baton(dir, ['install', 'claude', '--yes']);
  expect([both.code, both.stderr]).toMatchObject([1, expect.stringContaining('--shared')]);
  expect((await baton(dir, ['install', 'claude', '--undo', '--yes'])).code).toBe(0);
  expect([read(dir, SHARED), existsSync(join(dir, '.mcp.json'))]).toEqual([mine, false]);
  expect((await baton(dir, ['install', 'claude', '--yes'])).code).toBe(0);
  const again = await baton(dir, ['install', 'claude', '--yes', '--shared']);
  expect([again.code, again.stderr]).toMatchObject([1, expect.stringContaining('every hook would run twice')]);
  expect(read(dir, SHARED)).toBe(mine);
  expect((await baton(dir, ['install', 'codex', '--shared'])).code).toBe(2);
});

test.each<[string, readonly string[], string, readonly string[]]>([
  ['your own settings that git would commit', ['claude'], '', [`git does not ignore ${SETTINGS}`]],
  ['your own settings that git ignores', ['claude'], 'settings.local.json\n', []],
  [
    'settings of the team, without the program on PATH',
    ['claude', '--shared'],
    '',
    ['`baton` on your PATH is missing'],
  ],
  ['an extension of pi that git would commit', ['pi'], '', ['git does not ignore .pi/extensions/baton.ts']],
  [
    'settings of codex, one of which git ignores',
    ['codex'],
    'hooks.json\n',
    ['git does not ignore .codex/config.toml'],
  ],
])('%s: a warning says what would stop teammates', async (_name, options, ignored, told) => {
  const dir = project({ '.gitignore': ignored });
  execFileSync('git', ['init', '-q', dir]);
  const { warnings } = json(await baton(dir, ['install', '--yes', '--json', ...options]));
  expect(warnings).toEqual(told.map((warning) => expect.stringContaining(warning)));
});

test('codex gets a block of its own in its settings', async () => {
  const dir = project({ '.codex/config.toml': 'model = "x"\n' });
  expect((await baton(dir, ['install', 'codex', '--yes'])).code).toBe(0);
  const text = read(dir, '.codex/config.toml');
  expect(text).toMatch(/^model = "x"\n# >>> baton/);
  expect(text).toContain(
    `[mcp_servers.baton]\ncommand = ${JSON.stringify(BATON)}\nargs = ["-C", ${JSON.stringify(dir)}, "mcp"]\n`,
  );
  expect((await baton(dir, ['install', 'codex', '--undo', '--yes'])).code).toBe(0);
  expect(read(dir, '.codex/config.toml')).toBe('model = "x"\n');
});

type Handler = (event: JsonObject, ctx: JsonObject) => Promise<{ block: true; reason: string } | undefined>;

test('pi gets an extension that blocks what the hook refuses, and everything when the hook is gone', async () => {
  const dir = project();
  await baton(dir, ['install', 'pi', '--yes']);
  const file = join(dir, '.pi/extensions/baton.ts');
  const load = async (name: string) => {
    const handlers: Record<string, Handler> = {};
    const extension = await import(/* @vite-ignore */ pathToFileURL(name).href);
    extension.default({
      on(event: string, handler: Handler) {
        handlers[event] = handler;
      },
    });
    return handlers.tool_call as Handler;
  };
  const ask = await load(file);
  expect(await ask({ toolName: 'bash', input: { command: 'rm -rf ..' } }, { cwd: dir })).toMatchObject({
    block: true,
    reason: expect.stringContaining('COMMAND_REFUSED'),
  });
  expect(await ask({ toolName: 'write', input: { path: '.baton/x' } }, { cwd: dir })).toMatchObject({ block: true });
  expect(await ask({ toolName: 'edit', input: { path: 'a' } }, { cwd: dir })).toBe(undefined);
  expect(await ask({ toolName: 'read', input: { path: 'a' } }, { cwd: dir })).toBe(undefined);
  put(dir, { 'gone.ts': read(dir, '.pi/extensions/baton.ts').replace(BATON, '/nowhere/baton') });
  const gone = await load(join(dir, 'gone.ts'));
  expect(await gone({ toolName: 'edit', input: { path: 'a' } }, { cwd: dir })).toMatchObject({
    block: true,
    reason: expect.stringContaining('install it, or remove the extension'),
  });
  expect((await baton(dir, ['install', 'pi', '--undo', '--yes'])).code).toBe(0);
  expect(existsSync(join(dir, '.pi'))).toBe(false);
});

test('nothing is written through a link', async () => {
  const dir = project({ 'elsewhere/settings.json': '{}', 'real.json': '{}' });
  symlinkSync(join(dir, 'elsewhere'), join(dir, '.claude'));
  const folder = await baton(dir, ['install', 'claude', '--yes', '--json']);
  expect([folder.code, json(folder)]).toMatchObject([1, { code: 'LINK_REFUSED', details: { path: '.claude' } }]);
  const other = project({ 'real.json': '{}' });
  mkdirSync(join(other, '.claude'));
  symlinkSync(join(other, 'real.json'), join(other, SETTINGS));
  const file = await baton(other, ['install', 'claude', '--yes', '--json']);
  expect([file.code, json(file)]).toMatchObject([1, { code: 'LINK_REFUSED', details: { path: SETTINGS } }]);
  expect([read(dir, 'elsewhere/settings.json'), read(other, 'real.json')]).toEqual(['{}', '{}']);
  expect(existsSync(join(other, '.mcp.json'))).toBe(false);
});

test.each([
  [['install', 'emacs'], {}, 2, 'there is no agent emacs'],
  [['install', 'claude', '--undo', '--report-only'], {}, 2, 'not both'],
  [['install', 'claude', '--yes'], { BATON_ATTEMPT: '1.1' }, 1, 'only a person may'],
])('baton %j with %j ends with %i', async (args, env, code, why) => {
  const ran = await baton(project(), args, { env });
  expect([ran.code, ran.stderr]).toEqual([code, expect.stringContaining(why)]);
});

test('a file keeps its permissions', async () => {
  const dir = project({ [SETTINGS]: '{"a":1}' });
  const before = statSync(join(dir, SETTINGS)).mode;
  await baton(dir, ['install', 'claude', '--yes']);
  expect(statSync(join(dir, SETTINGS)).mode).toBe(before);
});
