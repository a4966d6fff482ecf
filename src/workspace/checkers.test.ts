import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readChecker } from '../kernel/graph/config.ts';
import type { Json } from '../kernel/json.ts';
import { checkProject, runChecker, runCheckers } from './checkers.ts';

function scene(files: Readonly<Record<string, string>> = {}, changes: readonly string[] = []) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'baton-checkers-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  return { root, changes };
}

const node = (code: string, more: Record<string, Json> = {}): Json => ({
  command: [process.execPath, '-e', code],
  ...more,
});

async function run(definition: Json, files: Readonly<Record<string, string>> = {}, changes: readonly string[] = []) {
  const checker = readChecker(definition);
  if (!checker) throw new Error('no checker');
  return runChecker('test', checker, scene(files, changes));
}

test.each<[string, Json, boolean, RegExp]>([
  ['the expected exit code', node('process.exit(0)'), true, /^exit code 0$/],
  [
    'another one',
    node('console.log("2 failed");process.exit(3)'),
    false,
    /^exit code 3 instead of 0; it printed: 2 failed$/,
  ],
  ['an expected failure', node('process.exit(3)', { exitCode: 3 }), true, /^exit code 3$/],
  ['a program that is not there', { command: ['/no/such/program'] }, false, /could not be started/],
  ['a signal', node('process.kill(process.pid,"SIGTERM");setTimeout(()=>{},9e3)'), false, /ended by SIGTERM/],
  ['too slow', node('setTimeout(()=>{},60000)', { timeoutMs: 300 }), false, /did not end within 300 ms/],
  [
    'a secret in the output',
    node('console.error("AKIAIOSFODNN7EXAMPLE");process.exit(1)'),
    false,
    /^(?!.*AKIA).*\[secret:/,
  ],
  ['lines', node('console.log("a\\n\\u0007b");process.exit(1)'), false, /^exit code 1 instead of 0; it printed: b$/],
])('a command: %s', async (_, definition, pass, found) => {
  const check = await run(definition);
  expect(check.pass).toBe(pass);
  expect(check.found).toMatch(found);
});

test('no shell looks at a command', async () => {
  const at = scene();
  const checker = readChecker({ command: [process.execPath, '-e', '0', '; touch pwned', '$(touch pwned)'] });
  expect(checker && (await runChecker('test', checker, at)).pass).toBe(true);
  expect(() => readFileSync(join(at.root, 'pwned'))).toThrow();
});

test('a megabyte of output is no burden', async () => {
  const check = await run(node('process.stdout.write("x".repeat(5e6)+"\\nend\\n");process.exitCode=1'));
  expect(check).toEqual({ pass: false, found: 'exit code 1 instead of 0; it printed: end' });
});

test.each([
  ['that ends in time', 'process.exit(0)', 60_000],
  ['that is too slow', 'setTimeout(()=>{},60000)', 700],
])('what a program %s has started ends with it', async (_, end, timeoutMs) => {
  const at = scene();
  const child = 'require("fs").writeFileSync("pid",String(process.pid));setTimeout(()=>{},60000)';
  const code = `const c=require("child_process").spawn(process.execPath,["-e",${JSON.stringify(child)}],{stdio:"inherit"});const t=setInterval(()=>{if(require("fs").existsSync("pid")){clearInterval(t);${end}}},20)`;
  const checker = readChecker(node(code, { timeoutMs }));
  if (checker) await runChecker('test', checker, at);
  const pid = Number(readFileSync(join(at.root, 'pid'), 'utf8'));
  for (let tries = 0; tries < 100 && isThere(pid); tries++) await sleep(20);
  expect(isThere(pid)).toBe(false);
});

function isThere(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'latin1').includes(') Z ');
  } catch {
    return false;
  }
}

const FILES = { 'a.txt': 'hello world', 'deep/p.json': '{"a":{"b":[1,{"c":"x"}]},"v":"1.0"}', 'bad.json': '{' };

test.each<[Json, boolean, RegExp]>([
  [{ file: 'a.txt' }, true, /expected/],
  [{ file: 'b.txt' }, false, /^b\.txt does not exist$/],
  [{ file: 'deep' }, false, /is no file/],
  [{ file: 'b.txt', exists: false }, true, /does not exist/],
  [{ file: 'a.txt', exists: false }, false, /^a\.txt exists$/],
  [{ file: 'a.txt', contains: 'lo wo' }, true, /expected/],
  [{ file: 'a.txt', contains: 'bye' }, false, /does not contain the text "bye"/],
  [{ json: 'deep/p.json', path: 'a.b.1.c', equals: 'x' }, true, /expected/],
  [{ json: 'deep/p.json', pointer: '/a/b/0', equals: 1 }, true, /expected/],
  [{ json: 'deep/p.json', path: 'a', equals: { b: [1, { c: 'x' }] } }, true, /expected/],
  [{ json: 'deep/p.json', path: 'v', equals: '2.0' }, false, /^v of deep\/p\.json is "1\.0" instead of "2\.0"$/],
  [{ json: 'deep/p.json', path: 'v.x', equals: 1 }, false, /there is no v\.x/],
  [{ json: 'deep/p.json', path: 'constructor', equals: 1 }, false, /there is no constructor/],
  [{ json: 'deep/p.json', path: 'a.b.-1', equals: 1 }, false, /there is no/],
  [{ json: 'bad.json', path: 'v', equals: 1 }, false, /is not JSON/],
  [{ json: 'none.json', path: 'v', equals: 1 }, false, /does not exist/],
])('%j: %s', async (definition, pass, found) => {
  const check = await run(definition, FILES);
  expect(check.pass).toBe(pass);
  expect(check.found).toMatch(found);
});

test('a link does not lead a checker out of the workspace', async () => {
  const at = scene();
  symlinkSync('/etc/hosts', join(at.root, 'hosts'));
  const checker = readChecker({ file: 'hosts' });
  expect(checker && (await runChecker('test', checker, at))).toEqual({
    pass: false,
    found: 'hosts leads out of the workspace',
  });
});

test.each<[readonly string[], boolean]>([
  [[], true],
  [['src/a.ts', 'src/b/c.ts', 'docs'], true],
  [['src/a.ts', 'srcs/b.ts'], false],
])('the changes %j touch only src and docs: %s', async (changes, pass) => {
  const check = await run({ diff: ['./src/', 'docs'] }, {}, changes);
  expect(check.pass).toBe(pass);
  if (!pass) expect(check.found).toBe('srcs/b.ts was changed outside ./src/, docs');
});

test('each criterion is checked by the checker of its name, and a name that is not declared fails it', async () => {
  const declared = { ok: node('0'), no: { file: 'x' } };
  const checks = await runCheckers({ A: 'ok', B: 'no', C: 'gone', D: 'constructor' }, declared, scene());
  expect(Object.entries(checks).map(([criterion, { pass }]) => [criterion, pass])).toEqual([
    ['A', true],
    ['B', false],
    ['C', false],
    ['D', false],
  ]);
  expect(checks.C?.found).toContain('no checker "gone" is declared');
});

test('the start and the end of each checker are told, with its outcome and how long it ran', async () => {
  const declared = { good: node(''), 'bad\n\u001b[1m': node('process.exit(1)') };
  const lines: string[] = [];
  const at = { ...scene(), say: (line: string) => void lines.push(line.replace(/[\d.]+ s$/, '0.0 s')) };
  const expected = (name: string, outcome: string) => [
    `  check ${name} starts`,
    `  check ${name} ${outcome} after 0.0 s`,
  ];
  await checkProject(Object.keys(declared), declared, at);
  expect(lines).toEqual([...expected('good', 'passed'), ...expected('bad [1m', 'failed')]);
  await runCheckers({ one: 'good', two: 'good' }, declared, at);
  expect(lines.slice(4)).toEqual(expected('good', 'passed'));
});

test('a checker that runs for long says so every 30 seconds, and not after its end', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const lines: string[] = [];
  const at = scene();
  const say = (line: string) => void lines.push(line.replace(/[\d.]+ s$/, '0.0 s'));
  const waits = `const { existsSync } = require('fs'); setInterval(() => existsSync('go') && process.exit(0), 20)`;
  const running = checkProject(['slow'], { slow: node(waits) }, { ...at, say });
  vi.advanceTimersByTime(65_000);
  expect(lines.slice(1)).toEqual(Array(2).fill('  check slow still runs after 0.0 s'));
  writeFileSync(join(at.root, 'go'), '');
  await running;
  vi.advanceTimersByTime(65_000);
  expect(lines.slice(3)).toEqual(['  check slow passed after 0.0 s']);
});
