// When a tool call waits for a person: what the configuration says about approvals, and where a tool writes.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { decisionOnCommand, decisionOnFiles } from './guard-command.ts';
import type { GuardContext } from './held-command.ts';

/** A command that changes state, outside of every cast. Nothing here needs the log. */
function asked(approvals: unknown, line = 'git push') {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'baton-command-')));
  onTestFinished(() => rmSync(top, { recursive: true, force: true }));
  const dir = join(top, 'project');
  mkdirSync(join(dir, '.baton'), { recursive: true });
  const workspace = { dir, stateDir: join(dir, '.baton/state'), configFile: join(dir, '.baton/config.json') };
  writeFileSync(workspace.configFile, JSON.stringify({ approvals }));
  const scene = { workspace, env: { HOME: join(top, 'home') }, isReportOnly: true } as unknown as GuardContext;
  const word = (decision: Awaited<ReturnType<typeof decisionOnCommand>>) =>
    decision === null ? null : 'verdict' in decision ? `${decision.kind} ${decision.verdict.code}` : decision.kind;
  return {
    command: async () => word(await decisionOnCommand(line, dir, scene)),
    write: async (...paths: string[]) =>
      word(
        await decisionOnFiles(
          paths.map((path) => resolve(dir, path)),
          dir,
          scene,
        ),
      ),
  };
}

test.each<[string, unknown, string | null, string | null]>([
  ['nothing', undefined, null, null],
  ['off', { hook: 'off' }, null, null],
  ['ask', { hook: 'ask' }, 'ask APPROVAL_NEEDED', 'ask SCOPE_VIOLATION'],
  ['deny', { hook: 'deny' }, 'deny APPROVAL_NEEDED', 'deny SCOPE_VIOLATION'],
  ['a mode that is none', { hook: 'maybe' }, 'deny INVALID_CONFIG', 'deny INVALID_CONFIG'],
])('the configuration says %s', async (_name, approvals, command, write) => {
  const { command: run, write: put } = asked(approvals);
  expect([await run(), await put('/srv/x')]).toEqual([command, write]);
});

test.each<[string, readonly string[], string | null]>([
  ['no file', [], null],
  ['a file of the project', ['src/x'], null],
  ['a file beside the project', ['src/x', '/srv/x'], 'deny SCOPE_VIOLATION'],
  ['a file of the rules', ['.baton/config.json'], 'deny SCOPE_VIOLATION'],
])('a tool writes %s', async (_name, paths, decision) => {
  expect(await asked({ hook: 'deny' }).write(...paths)).toBe(decision);
});

test('a tool that writes no file is not kept by a configuration that cannot be read', async () => {
  expect(await asked({ hook: 'maybe' }).write()).toBe(null);
});

test.each([
  ['ls', null],
  ['git push', 'deny APPROVAL_NEEDED'],
])('%s', async (line, decision) => {
  expect(await asked({ hook: 'deny' }, line).command()).toBe(decision);
});

test('what can never be approved is refused for good', async () => {
  const { command } = asked({ hook: 'deny' }, 'rm -rf /');
  expect(await command()).toBe('deny COMMAND_BLOCKED');
});
