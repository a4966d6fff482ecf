import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { TrustWatch } from '../kernel/trust/watch.ts';
import { hashBytes } from '../trust/registry-folder.ts';
import { BUNDLED } from './find-config.ts';
import { readText } from './load-config.ts';
import { attesterOf, keeperOf } from './registry-lock.ts';

const bundled = dirname(BUNDLED);
const prompt = readText(join(bundled, 'prompts', 'build.md'));
const ID = '550e8400-e29b-41d4-a716-446655440000';
let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'baton-attest-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** The project gets the bundled registry as its own. */
function withRegistry(): void {
  for (const folder of ['prompts', 'versions'])
    cpSync(join(bundled, folder), join(dir, '.baton', folder), { recursive: true });
}

const watch = (change: Partial<TrustWatch> = {}): TrustWatch => ({
  isOn: false,
  target: 'domain-02-build',
  source: 'domain-01-plan',
  origin: null,
  parent: null,
  prompt,
  materia: 'Build',
  runner: 'claude',
  model: null,
  tools: 'coding',
  request: { type: 'task', description: 'x', input_data: {}, constraints: [], expected_output: '' },
  state: { conversation_history: [], accumulated_context: {}, decisions_made: [] },
  surfaces: [],
  auditTrail: 'here',
  cleared: [],
  team: [{ identity: 'domain-02-build', prompt }],
  ...change,
});
const seen = (change: Partial<TrustWatch> = {}, attester = attesterOf(dir)) =>
  attester(watch(change), ID, '2026-01-01T00:00:00.000Z');
const code = (change: Partial<TrustWatch> = {}, attester = attesterOf(dir)) => {
  const { origin, refusal, attestation } = seen(change, attester);
  return `${origin} ${refusal?.verdict.code ?? (attestation ? 'OK' : 'off')}`;
};

test('the text that was hashed is the text of the attestation', () => {
  withRegistry();
  expect(seen()).toMatchObject({
    origin: 'workspace',
    attestation: { promptHash: hashBytes(prompt) },
    envelope: { handoff_id: ID },
  });
});

test('without a registry of its own a project has what came with the product, for its prompts only', () => {
  expect([
    code(),
    code({ prompt: 'My own words.' }),
    code({ target: 'somebody' }),
    code({ team: [...watch().team, { identity: 'somebody', prompt }] }),
    code({ team: [...watch().team, { identity: null, prompt }] }),
    code({ team: [...watch().team, { identity: 'domain-05-narrate', prompt: 'My own words.' }] }),
  ]).toEqual(['bundled OK', 'none off', 'none off', 'none off', 'none off', 'none off']);
});

test('once there was a registry, nothing stands in for it', () => {
  expect(code({ isOn: true })).toBe('workspace REGISTRY_UNUSABLE');
});

test('a registry that is there and cannot be read is not as if there were none', () => {
  withRegistry();
  writeFileSync(join(dir, '.baton', 'versions', 'prompt-lock.json'), '{');
  expect(code()).toBe('workspace REGISTRY_UNUSABLE');
});

test('every dispatch looks at the bytes of now', () => {
  withRegistry();
  const attester = attesterOf(dir);
  const file = join(dir, '.baton', 'prompts', 'build.md');
  const codes = [code({}, attester)];
  for (const text of [`${prompt} `, prompt]) {
    writeFileSync(file, text);
    codes.push(code({}, attester));
  }
  rmSync(file);
  codes.push(code({}, attester));
  expect(codes).toEqual([
    'workspace OK',
    'workspace PROMPT_BYTES_MISMATCH',
    'workspace OK',
    'workspace PROMPT_BYTES_MISMATCH',
  ]);
});

test('what did not change is not worked out again, and what did is', () => {
  withRegistry();
  const keep = keeperOf(join(dir, '.baton'));
  const first = keep();
  expect(keep()).toBe(first);
  writeFileSync(join(dir, '.baton', 'prompts', 'narrate.md'), 'x');
  expect(keep()).not.toBe(first);
});
