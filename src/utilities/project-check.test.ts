import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { JsonObject } from '../kernel/json.ts';
import { projectCheck } from './project-check.ts';

const base = realpathSync(mkdtempSync(path.join(tmpdir(), 'baton-check-')));
afterAll(() => rmSync(base, { recursive: true, force: true }));

type Answer = { satisfied: boolean; context: string; state: { projectCheck: { ok: boolean; checks: JsonObject[] } } };

async function run(params: JsonObject, files: Readonly<Record<string, string>> = {}): Promise<Answer | string> {
  const cwd = mkdtempSync(path.join(base, 'p-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(cwd, name), text);
  const outcome = await projectCheck({ cwd, castId: 'c', params, state: {}, item: null });
  return outcome.ok ? JSON.parse(outcome.output) : outcome.reason;
}

const node = (source: string) => [process.execPath, '-e', source];
const scripts = (test: string) => ({ 'package.json': JSON.stringify({ scripts: { test } }) });

test('the checks that a project has are run', async () => {
  expect(await run({}, scripts('node -e 0'))).toMatchObject({
    satisfied: true,
    context: 'All checks pass: test.',
    state: { projectCheck: { ok: true, checks: [{ name: 'test', command: ['npm', 'test'], ok: true, exitCode: 0 }] } },
  });
});

test('a check that fails is named with the end of what it printed, and the others run too', async () => {
  const loud = `process.stdout.write('x'.repeat(90000)); console.error('boom'); process.exitCode = 3`;
  const answer = await run({ commands: [node(loud), node('0'), ['no-such-program']] });
  expect(answer).toMatchObject({
    satisfied: false,
    context: expect.stringMatching(/exit code 3:[\s\S]*boom\n\n`no-such-program` could not be run:\n.*ENOENT/),
    state: { projectCheck: { ok: true, checks: [{ exitCode: 3 }, { exitCode: 0 }, { exitCode: null, ok: false }] } },
  });
  expect(typeof answer === 'string' ? 0 : answer.context.length).toBeLessThan(5_000);
});

test('a project without checks says so', async () => {
  expect(await run({})).toMatchObject({ satisfied: true, context: expect.stringContaining('No checks were found') });
});

test.each([
  ['a line of shell', ['npm test']],
  ['an empty command', [[]]],
  ['too many', Array.from({ length: 21 }, () => ['true'])],
])('params.commands: %s is refused', async (_name, commands) => {
  expect(await run({ commands })).toMatch(/^params\.commands/);
});
