// The policy in force: what stands in the configuration counts whole or not at all.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { DEFAULT_POLICY } from '../kernel/approval/request.ts';
import { readPolicy, versionOf } from './risk.ts';

const root = mkdtempSync(join(tmpdir(), 'baton-policy-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function policyIn(text: string) {
  const file = join(root, 'config.json');
  writeFileSync(file, text);
  return readPolicy({ dir: root, configFile: file, env: {} });
}

test.each<[string, string]>([
  ['no section', '{}'],
  ['a section that is null', '{"approvals": null}'],
  ['a mark at its start', '\uFEFF{}'],
])('with %s the defaults hold', (_, text) => {
  expect(policyIn(text)).toEqual(DEFAULT_POLICY);
});

test('without a file the defaults hold, and one that cannot be read refuses', () => {
  expect(readPolicy({ dir: root, configFile: join(root, 'none.json'), env: {} })).toEqual(DEFAULT_POLICY);
  expect(readPolicy({ dir: root, configFile: root, env: {} })).toMatchObject({
    code: 'INVALID_CONFIG',
    reason: expect.stringContaining('cannot be read'),
  });
});

test.each<[string, string, string]>([
  ['text that is no JSON', '{"approvals"', 'it is not JSON'],
  ['a list', '[]', 'it holds no object'],
  ['a misspelt field', '{"approvals": {"blocekd": ["x"]}}', 'approvals.blocekd'],
  ['a wrong type', '{"approvals": {"blocked": "x"}}', 'approvals.blocked'],
])('%s is refused, with its place', (_, text, reason) => {
  expect(policyIn(text)).toMatchObject({
    allow: false,
    code: 'INVALID_CONFIG',
    reason: expect.stringContaining(reason),
  });
});

test('a section counts, and another section is another version', () => {
  const policy = policyIn('{"approvals": {"blocked": ["terraform destroy"]}}');
  if ('allow' in policy) throw new Error(policy.reason);
  expect(policy.blocked).toEqual(['terraform destroy']);
  expect(versionOf(policy)).not.toBe(versionOf(DEFAULT_POLICY));
  expect(versionOf({ ...policy, blocked: [...DEFAULT_POLICY.blocked] })).toBe(versionOf(DEFAULT_POLICY));
});
