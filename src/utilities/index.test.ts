import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, expect, test, vi } from 'vitest';
import { check } from '../kernel/graph/check.ts';
import type { JsonObject } from '../kernel/json.ts';
import { BUNDLED } from '../workspace/find-config.ts';
import { runBuiltin, runShipped, SHIPPED_UTILITIES, type ShippedInput, shippedCommand } from './index.ts';
import { BUILTINS, SHIPPED, UTILITY_NAMES } from './utility.ts';

vi.setConfig({ testTimeout: 60_000 });
const cwd = realpathSync(mkdtempSync(path.join(tmpdir(), 'baton-utilities-')));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const input = (params: JsonObject): ShippedInput => ({ cwd, castId: 'c1', params, state: {}, item: null });

test('every name that a check accepts can be run', () => {
  expect(BUILTINS).toEqual(['noop', 'echo', 'project.ensureIgnored', 'vcs.detect']);
  expect(Object.keys(SHIPPED_UTILITIES)).toEqual(SHIPPED);
});

test('what ships is ready by its name, and sorted as a utility', () => {
  const bundled = JSON.parse(readFileSync(BUNDLED, 'utf8'));
  for (const name of SHIPPED)
    expect(bundled.materia[name]).toMatchObject({
      ...{ type: 'utility', group: 'Utility', script: { kind: 'shippedUtility', name }, parse: 'json' },
      description: expect.stringMatching(/^[A-Z].{10,}\.$/),
    });
  expect(bundled.materia['Commit-Sigil'].generator).toBe(true);
  const sockets = SHIPPED.map((materia, index) => {
    const next = index + 1 === SHIPPED.length ? 'end' : `Socket-${index + 2}`;
    return [`Socket-${index + 1}`, { materia, edges: [{ when: 'always', to: next }] }];
  });
  const loadouts = { All: { entry: 'Socket-1', sockets: Object.fromEntries(sockets) } };
  const issues = check({ ...bundled, activeLoadout: 'All', loadouts }, { utilities: UTILITY_NAMES });
  expect(issues.filter(({ level }) => level === 'error')).toEqual([]);
});

test.each<[string, JsonObject, string]>([
  ['noop', {}, ''],
  ['echo', { output: 'a', text: 'b', message: 'c' }, 'a'],
  ['echo', { text: 'b', message: 'c' }, 'b'],
  ['echo', { message: 'c' }, 'c'],
  ['echo', { text: { n: 1 } }, '{"n":1}'],
  ['echo', {}, ''],
  ['noop', { output: { satisfied: true } }, '{"satisfied":true}'],
  ['noop', { output: null }, 'null'],
  ['vcs.detect', { output: 'as given' }, 'as given'],
  ['project.ensureIgnored', { output: [], patterns: ['x'] }, '[]'],
])('%s with %j gives %s', async (name, params, output) => {
  expect(await runBuiltin(name, input(params))).toEqual({ ok: true, output });
  expect(existsSync(path.join(cwd, '.gitignore'))).toBe(false);
});

test.each(['touch ran', 'true', 'constructor', '__proto__', ''])('%j is no utility and is not run', async (name) => {
  for (const run of [runBuiltin, runShipped]) {
    const result = await run(name, input({}));
    expect(result).toMatchObject({ ok: false });
    expect(result.ok || result.reason).toContain(JSON.stringify(name));
  }
  expect(shippedCommand(name)).toBeNull();
  expect(existsSync(path.join(cwd, 'ran'))).toBe(false);
});

test.each([
  ['echo', runBuiltin, { text: 'hi' }, 'hi'],
  ['Commit-Sigil', runShipped, {}, '{"workItems":[],"satisfied":false,"context":"state.workItems is not a list"}'],
  ['Commit-Sigil', runShipped, { output: 'stub' }, 'stub'],
])('%s gives its output', async (name, run, params, output) => {
  expect(await run(name, input(params))).toEqual({ ok: true, output });
});

test('a utility that throws gives its reason', async () => {
  const gone = { ...input({ patterns: ['x'], root: '/no/such/folder' }) };
  expect(await runShipped('Ignore-Artifacts', gone)).toMatchObject({
    ok: false,
    reason: expect.stringMatching(/ENOENT/),
  });
});

async function asProcess(name: string, stdin: string) {
  const [program = '', ...args] = shippedCommand('Commit-Sigil') ?? [];
  const child = spawn(program, [...args.slice(0, -1), name], { stdio: 'pipe' });
  child.stdin.end(stdin);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { stdout, stderr, code: child.exitCode ?? (await new Promise((resolve) => child.once('exit', resolve))) };
}

test.each([
  ['a result', 'Commit-Sigil', JSON.stringify({ ...input({}), state: { workItems: [] } }), 0, /"satisfied":true/, /^$/],
  ['a failure', 'Ignore-Artifacts', JSON.stringify(input({})), 1, /^$/, /params\.patterns/],
  ['an unknown name', 'Nothing', JSON.stringify(input({})), 1, /^$/, /no shipped utility "Nothing"/],
  ['no message', 'Commit-Sigil', '{"cwd":', 1, /^$/, /standard input/],
  ['another message', 'Commit-Sigil', '{"cwd":1}', 1, /^$/, /standard input/],
])('as a process: %s', async (_name, utility, stdin, code, stdout, stderr) => {
  const ended = await asProcess(utility, stdin);
  expect(ended).toEqual({ code, stdout: expect.stringMatching(stdout), stderr: expect.stringMatching(stderr) });
});

test.each<[name: keyof typeof UTILITY_NAMES.slots, params: JsonObject]>([
  ['vcs.detect', {}],
  ['project.ensureIgnored', { patterns: ['x'] }],
  ['Detect-VCS', {}],
  ['Ignore-Artifacts', { patterns: ['x'] }],
  ['Commit-Sigil', {}],
])('%s sets the slots that a check takes for granted', async (name, params) => {
  const run = BUILTINS.some((each) => each === name) ? runBuiltin : runShipped;
  const result = await run(name, input(params));
  const { state = {}, workItems } = JSON.parse(result.ok ? result.output : '{}');
  const slots = [...Object.keys(state), ...(workItems === undefined ? [] : ['workItems'])];
  expect([result.ok, slots]).toEqual([true, UTILITY_NAMES.slots[name]]);
});
