import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { refusalWhilePaused } from './guard-write.ts';
import type { HookSettings } from './settings.ts';
import { refusalOfTools } from './subagent.ts';

const STRICT: HookSettings = { contract: 'operator', contractAt: ['SubagentStop'], worklog: false, rules: {} };

function home(head: string): string {
  const dir = mkdtempSync(join(tmpdir(), 'baton-helper-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  mkdirSync(join(dir, '.claude', 'agents'), { recursive: true });
  writeFileSync(join(dir, '.claude', 'agents', 'any.md'), head);
  return dir;
}

test.each<[string, string, Partial<HookSettings>, string | null]>([
  ['both tools', '---\nname: looker\ntools: Read, Write, Bash\n---\n', {}, null],
  ['a tool too few', '---\nname: looker\ntools: Read, Grep\n---\n', {}, 'NON_COMPLIANT'],
  ['a list to the line', '---\nname: "looker"\ntools:\n  - Grep\n  - Write\nmodel: x\n---\n', {}, 'NON_COMPLIANT'],
  ['every tool', '---\nname: looker\n---\n', {}, null],
  ['every tool by a star', '---\nname: looker\ntools: ["*"]\n---\n', {}, null],
  ['another name', '---\nname: other\ntools: Grep\n---\n', {}, null],
  ['no head', 'name: looker\ntools: Grep\n', {}, null],
  ['another contract', '---\nname: looker\ntools: Grep\n---\n', { contract: 'gaia' }, null],
  ['a contract of the session only', '---\nname: looker\ntools: Grep\n---\n', { contractAt: ['Stop'] }, null],
])('a helper with %s', (_what, head, settings, code) => {
  const found = refusalOfTools({ subagent_type: 'looker' }, { ...STRICT, ...settings }, ['/nonexistent', home(head)]);
  expect(found?.code ?? null).toBe(code);
});

test('a workspace that is held starts nobody new', () => {
  expect(refusalWhilePaused({ hold: null })).toBeNull();
  const held = refusalWhilePaused({ hold: { by: 'user:ann', reason: 'release day' } });
  expect(held).toMatchObject({ code: 'NOT_ALLOWED_NOW', details: { hold: { by: 'user:ann' } } });
  expect(held?.reason).toContain('release day');
});
