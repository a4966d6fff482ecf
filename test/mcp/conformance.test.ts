// The official conformance suite of the protocol, against Baton's transport and against Baton itself.
import { expect, onTestFinished, test } from 'vitest';
import { deny } from '../../src/kernel/verdict.ts';
import { serveHttp } from '../../src/mcp/http.ts';
import { project } from '../cli/baton.ts';
import { httpServer } from './client.ts';
import { runSuite, serverScenarios, withToken } from './conformance.ts';
import { everythingServer } from './fixtures/everything.ts';

const TOKEN = 'a-token-for-the-suite';
/** It speaks an older version of the protocol than the one that asks for what it looks for, and only warns. */
const WARNS_ONLY = 'server-sse-polling';

test('every server scenario passes on the transport of `baton mcp --http`', async () => {
  const listening = await serveHttp({
    port: 0,
    admit: (token) => (token === TOKEN ? { name: 'user:test', role: 'admin' } : deny('TOKEN_UNKNOWN', 'no such token')),
    newServer: everythingServer,
  });
  onTestFinished(() => listening.close());
  const found = await runSuite(await withToken(listening.url, TOKEN));
  expect([...found.keys()].sort()).toEqual([...(await serverScenarios())].sort());
  for (const [scenario, outcome] of found) {
    const passed = scenario === WARNS_ONLY ? 0 : expect.toSatisfy((count: number) => count > 0);
    expect({ scenario, ...outcome }).toEqual({ scenario, passed, failed: 0 });
  }
});

/** The scenarios that ask for no tool, resource or prompt of the suite's own, and for no feature Baton does not announce. */
const OF_ANY_SERVER = [
  'dns-rebinding-protection',
  'ping',
  'server-initialize',
  'server-sse-multiple-streams',
  'tools-list',
];

test('Baton itself passes those that ask for nothing of the suite’s own', async () => {
  const { url, token } = await httpServer(project(), { BATON_MCP_TOKEN: TOKEN });
  const found = await runSuite(await withToken(url, token));
  const passed = [...found].filter(([, outcome]) => outcome.passed > 0 && outcome.failed === 0);
  expect(passed.map(([scenario]) => scenario).sort()).toEqual(OF_ANY_SERVER);
});
