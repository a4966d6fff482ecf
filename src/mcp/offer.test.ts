import { expect, test } from 'vitest';
import { offeredServer } from './offer.ts';

test('a server is told its attempt, and nothing else of the environment', () => {
  const env = { BATON_CAST: 'C', BATON_ATTEMPT: '1.1', BATON_FENCE: '7', ANTHROPIC_API_KEY: 'x', BATON_MCP_TOKEN: 'y' };
  expect(offeredServer('/bin/baton', '/w', env)).toEqual({
    command: '/bin/baton',
    args: ['-C', '/w', 'mcp'],
    env: { BATON_CAST: 'C', BATON_ATTEMPT: '1.1', BATON_FENCE: '7' },
  });
});
