// In which turns a cast brings its hook along, and which one it is.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Packet } from '../kernel/cast/packet.ts';
import { guardFor } from './cast-guard.ts';
import { CLAUDE_BEFORE, CODEX_BEFORE } from './install/hosts.ts';

const dir = mkdtempSync(join(tmpdir(), 'baton-guard-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const configFile = join(dir, 'config.json');

function guard(config: string, runner: string, tools: string, holdsCommands: boolean) {
  writeFileSync(configFile, config);
  const materia = { type: runner === '' ? 'utility' : 'agent', runner, tools } as unknown as Packet['materia'];
  return guardFor({ materia, holdsCommands }, { dir, configFile } as Parameters<typeof guardFor>[1], '/opt/my baton');
}

test.each<[string, string, string, boolean, boolean]>([
  ['{}', 'claude', 'coding', true, true],
  ['{}', 'claude', 'coding', false, false],
  ['{}', 'claude', 'none', true, false],
  ['{}', '', 'coding', true, false],
  ['{"approvals":{"hook":"deny"}}', 'codex', 'readOnly', false, true],
  ['{"approvals":{"hook":"ask"}}', 'pi', 'coding', true, true],
  ['{"approvals":{"hook":"ask"}}', 'pi', 'coding', false, false],
  ['{"approvals":{"hook":"off"}}', 'pi', 'coding', true, false],
  ['{"approvals":{"hook":"dney"}}', 'pi', 'coding', false, true],
])('%s, %s with %s, a turn that can ask: %s', (config, runner, tools, holds, isBrought) => {
  expect(guard(config, runner, tools, holds) !== null).toBe(isBrought);
});

test.each<[string, string | null]>([
  ['claude', CLAUDE_BEFORE[1]],
  ['codex', CODEX_BEFORE[1]],
  ['pi', null],
])('the hook of %s is the one that an installation writes', (runner, matcher) => {
  const brought = guard('{}', runner, 'coding', true);
  expect(brought).toMatchObject({ program: '/opt/my baton', args: ['-C', dir, 'hook', 'PreToolUse'] });
  const command = `'/opt/my baton' -C ${dir} hook PreToolUse || exit 2`;
  const group = { matcher, hooks: [{ type: 'command', command, timeout: 15 }] };
  expect(brought?.group).toEqual(matcher === null ? null : group);
});
