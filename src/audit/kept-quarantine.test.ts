// What is blocked is kept outside of the state folder; a file that somebody changed blocks nothing that is no block.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { type KeptBlock, keepBlocks, keptBlocks, parseBlocks } from './kept-quarantine.ts';

const root = mkdtempSync(join(tmpdir(), 'baton-kept-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const env = { BATON_CONFIG: root };

const block: KeptBlock = {
  ...{ key: 'build', agent: 'build', hash: null, context: null, code: 'PROMPT_BYTES_MISMATCH', reason: 'x' },
  ...{ pin: { version: '1.0.0', hash: 'h' }, since: 1 },
};

test('each project has its own, and none is left when all are released', () => {
  keepBlocks('/p/one', env, [block]);
  expect(keptBlocks('/p/one', env)).toEqual([block]);
  expect(keptBlocks('/q/one', env)).toEqual([]);
  keepBlocks('/p/one', env, []);
  expect(keptBlocks('/p/one', env)).toEqual([]);
});

test.each<[string, object]>([
  ['another key', { key: 'other' }],
  ['no code of ours', { code: 'toString' }],
  ['nobody', { key: 'null', agent: null }],
  ['half a pin', { pin: { version: '1.0.0' } }],
  ['no time', { since: 'now' }],
])('%s: it is left out', (_, change) => {
  const text = JSON.stringify({ blocks: [block, { ...block, ...change }, null, 7] });
  expect(parseBlocks(text)).toEqual([block]);
});
