import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { GOVERNED_CODES } from '../kernel/codes/governed.ts';
import { put } from './fixtures/world.ts';
import { registryLoader } from './registry-folder.ts';
import { STAGES } from './stage.ts';
import { validateGoverned } from './validate.ts';

const guide = readFileSync(join(import.meta.dirname, '../../docs/contracts/governed.md'), 'utf8');
const folder = join(import.meta.dirname, 'fixtures/registry');

function example(name: string) {
  const text = guide.split(`<!-- example: ${name} -->\n\`\`\`json\n`)[1]?.split('\n```')[0];
  return JSON.parse(text ?? '');
}

test('the envelope in the guide is accepted by the example registry, with nothing to remark', () => {
  const verdict = validateGoverned(example('envelope'), example('options'), registryLoader(folder));
  expect(verdict).toMatchObject({ allow: true, details: { pattern: 1, scope: ['statistics'], warnings: [] } });
});

test('an envelope with a member changed is refused', () => {
  const changed = put(example('envelope'), '/target_agent/agent_id', 'domain-09-technical');
  expect(validateGoverned(changed, example('options'), registryLoader(folder)).allow).toBe(false);
});

test('the agent in the guide is the one in the example registry', () => {
  const manifest = JSON.parse(readFileSync(join(folder, 'versions/prompt-manifest.json'), 'utf8'));
  expect(manifest.domains['domain-05-product']).toEqual(example('agent'));
});

test('the table of stages names every stage and every code of a refusal', () => {
  const rows = guide.split('\n').filter((line) => /^\| \d+ \|/.test(line));
  expect(rows).toHaveLength(Object.keys(STAGES).length);
  const named = new Set(rows.join('').match(/[A-Z]+(?:_[A-Z]+)*(?=`)/g));
  const codes = Object.keys(GOVERNED_CODES);
  expect(named).toEqual(new Set(codes.slice(0, codes.indexOf('SCOPE_SOURCE_COULD_DO_IT'))));
});
