import { expect, test } from 'vitest';
import { offeredServer } from '../agents/agent-call.ts';
import { toolsFor } from './server.ts';

test('a server is told its attempt, and nothing else of the environment', () => {
  const env = { BATON_CAST: 'C', BATON_ATTEMPT: '1.1', BATON_FENCE: '7', ANTHROPIC_API_KEY: 'x', BATON_MCP_TOKEN: 'y' };
  expect(offeredServer('/bin/baton', '/w', env)).toMatchObject({
    command: '/bin/baton',
    args: ['-C', '/w', 'mcp'],
    env: { BATON_CAST: 'C', BATON_ATTEMPT: '1.1', BATON_FENCE: '7' },
  });
});

test('every tool that is offered is one an agent has', () => {
  const names = toolsFor({ isAgent: true }).map(({ name }) => name);
  expect(offeredServer('b', '/w', {}).tools.filter((name) => !names.includes(name))).toEqual([]);
});
