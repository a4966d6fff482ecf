import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { refusalOfMessage } from './last-message.ts';
import { readSettings } from './settings.ts';

const NONE = { contract: null, contractAt: ['Stop', 'SubagentStop'], worklog: false, rules: {} };

test.each<[string, unknown]>([
  ['{', { code: 'INVALID_CONFIG' }],
  ['[]', { code: 'INVALID_CONFIG' }],
  ['{"hooks":7}', { code: 'INVALID_CONFIG' }],
  ['{"hooks":{"contract":"giaa"}}', { code: 'INVALID_CONFIG' }],
  ['{"hooks":{"contractAt":["stop"]}}', { code: 'INVALID_CONFIG' }],
  ['{"hooks":{"worklog":"yes"}}', { code: 'INVALID_CONFIG' }],
  ['{"hooks":{"rules":{"remov":false}}}', { code: 'INVALID_CONFIG' }],
  ['{"hooks":{"rules":{"remove":"off"}}}', { code: 'INVALID_CONFIG' }],
  ['{"hooks":{"rules":{"sleep":{"allow":["sleep *"],"x":1}}}}', { code: 'INVALID_CONFIG' }],
  ['{"hooks":{"rules":{"sleep":{"allow":[7]}}}}', { code: 'INVALID_CONFIG' }],
  ['{"hooks":{"rules":{"remove":false}}}', { ...NONE, rules: { remove: false } }],
  ['{}', NONE],
  ['{"hooks":{"contract":"gaia","worklog":true}}', { ...NONE, contract: 'gaia', worklog: true }],
  ['{"hooks":{"contract":"text","contractAt":["Stop"]}}', { ...NONE, contract: 'text', contractAt: ['Stop'] }],
])('a configuration of %s', (text, expected) => {
  const dir = mkdtempSync(join(tmpdir(), 'baton-hooks-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  writeFileSync(join(dir, 'config.json'), text);
  expect(readSettings({ dir, configFile: join(dir, 'config.json'), env: {} })).toMatchObject(expected as object);
});

test('without a configuration nothing is asked for', () => {
  expect(readSettings({ dir: '/nowhere', configFile: '/nowhere/config.json', env: {} })).toEqual(NONE);
});

test.each([
  ['text', '', 'NO_OUTPUT'],
  ['text', 'done', null],
  ['materia', 'done', 'NOT_JSON'],
  ['materia', '{"satisfied":true}', null],
  ['gaia', 'done', 'NO_BLOCK'],
  ['operator', '{}', 'UNKNOWN_SCHEMA_VERSION'],
] as const)('the %s contract and the words %j: %s', async (contract, message, code) => {
  const refusal = await refusalOfMessage(message, contract, '2026-01-01T00:00:00Z');
  if (code === null) expect(refusal).toBe(null);
  else expect(refusal?.allow).toBe(false);
});

test('a refusal says everything that is to be mended', async () => {
  const refusal = await refusalOfMessage('{"satisfied":"yes","workItems":7}', 'materia', '2026-01-01T00:00:00Z');
  expect(refusal?.reason).toContain('$.satisfied');
  expect(refusal?.reason).toContain('workItems');
});
