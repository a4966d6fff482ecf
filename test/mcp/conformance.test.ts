// The official conformance suite of the protocol, against the server of `baton mcp --http`: with the tools, resources and
// prompts that the suite asks every server for, and as it is.
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { project } from '../cli/baton.ts';
import { httpServer } from './client.ts';
import { passes, runSuite, serverScenarios, withToken } from './conformance.ts';

const TOKEN = 'a-token-for-the-suite';
const WITH_EVERYTHING = [process.execPath, fileURLToPath(new URL('./fixtures/serve-everything.ts', import.meta.url))];
/** It speaks an older version of the protocol than the one that asks for what it looks for, and only warns. */
const WARNS_ONLY = 'server-sse-polling';

test('every server scenario passes on the server of `baton mcp --http`', async () => {
  const { url, token } = await httpServer(project(), { BATON_MCP_TOKEN: TOKEN }, WITH_EVERYTHING);
  const found = await runSuite(await withToken(url, token));
  expect([...found.keys()].sort()).toEqual([...(await serverScenarios())].sort());
  for (const [scenario, outcome] of found) {
    const passed = scenario === WARNS_ONLY ? 0 : expect.toSatisfy((count: number) => count > 0);
    expect({ scenario, ...outcome }).toEqual({ scenario, passed, failed: 0 });
  }
});

test('as it is, it passes those that ask for nothing of the suite’s own', async () => {
  const served = await httpServer(project(), { BATON_MCP_TOKEN: TOKEN });
  const url = await withToken(served.url, served.token);
  const outcomes = {
    'dns-rebinding-protection': true,
    ping: true,
    'server-initialize': true,
    'server-sse-multiple-streams': true,
    'tools-list': true,
    // It asks for a tool that Baton does not have.
    'tools-call-simple-text': false,
  };
  const found = await Promise.all(Object.keys(outcomes).map(async (name) => [name, await passes(url, name)] as const));
  expect(Object.fromEntries(found)).toEqual(outcomes);
});
