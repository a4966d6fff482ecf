// The agent of an attempt at the server: its tools by the token of its attempt, and nothing else, for as long as the attempt lasts.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { HAS_PROC } from '../../src/agents/process/process-identity.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { always, flow, project, put, start, until, untilWritten } from '../cli/baton.ts';

/** What an agent with a shell would do: it calls the tools, tries every other door, and waits until it may end. */
const AGENT = `import { existsSync, readFileSync, writeFileSync } from 'node:fs';
const { BATON_MCP_URL: mcp, BATON_ATTEMPT_KEY: key, BATON_ATTEMPT: attempt } = process.env;
const out = attempt.replace('.', '-');
const { origin } = new URL(mcp);
const post = (body, token = key, more = {}) => fetch(mcp, {
  method: 'POST',
  headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', authorization: 'Bearer ' + token, ...more },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }),
});
const initialize = { method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'a', version: '1' } } };
const begun = await post(initialize);
const session = { 'mcp-session-id': begun.headers.get('mcp-session-id') };
await begun.text();
const call = async (name, args = {}) => {
  const text = await (await post({ method: 'tools/call', params: { name, arguments: args } }, key, session)).text();
  return JSON.parse(text.split('\\n').findLast((line) => line.startsWith('data: ')).slice(6)).result.structuredContent;
};
const listed = await (await post({ method: 'tools/list', params: {} }, key, session)).text();
const doors = {};
for (const path of ['/', '/api', '/api/status', '/api/events', '/api/openapi.json', '/metrics', '/healthz', '/reference'])
  for (const [how, headers] of [['token', { authorization: 'Bearer ' + key }], ['nothing', {}], ['query', {}]]) {
    const answer = await fetch(origin + path + (how === 'query' ? '?token=' + key : ''), { headers });
    doors[path + ' ' + how] = [answer.status, (await answer.json()).code];
  }
const approve = await fetch(origin + '/api/approve', { method: 'POST', body: '{"id":"x"}', headers: { authorization: 'Bearer ' + key } });
doors['approve'] = [approve.status, (await approve.json()).code];
const foreign = await post(initialize, key, { origin: 'https://evil.example' });
doors['foreign'] = [foreign.status];
const other = existsSync('other-key') ? await post(initialize, readFileSync('other-key', 'utf8')) : null;
const person = existsSync('person-key') ? await post(initialize, readFileSync('person-key', 'utf8')) : null;
writeFileSync('seen-' + out, JSON.stringify({
  mcp, key, doors,
  tools: [...listed.matchAll(/"name":"([a-z_]+)"/g)].map(([, name]) => name).sort(),
  context: await call('read_context'),
  cast: await call('cast_list'),
  exec: await call('run_approved', { approval: 'P-1', argv: ['true'] }),
  lock: await call('lock_check', { paths: ['src'] }),
  other: other && [other.status, (await other.json()).error.data.code],
  person: person && [person.status, (await person.json()).error.data.code],
  handoff: await call('submit_handoff', { handoff: 'by tool' }),
}));
while (!existsSync('go-' + out)) await new Promise((resolve) => setTimeout(resolve, 30));
console.log('by tool');
`;

const LOADOUT = flow(
  { A: { prompt: 'Go.', runner: 'command', tools: 'coding', command: ['node', 'agent.mjs'], parse: 'text' } },
  {
    'Socket-1': { materia: 'A', parse: 'text', edges: [always('Socket-2')] },
    'Socket-2': { materia: 'A', parse: 'text' },
  },
);

type Seen = JsonObject & {
  readonly mcp: string;
  readonly key: string;
  readonly doors: Record<string, readonly [number, string]>;
};

test.skipIf(!HAS_PROC)(
  'an agent that the server started uses its tools by its token, which opens nothing else and ends with it',
  async () => {
    const dir = project({ '.baton/config.json': LOADOUT });
    writeFileSync(join(dir, 'agent.mjs'), AGENT);
    const { child } = start(dir, ['serve', '--port', '0', '--json']);
    let said = '';
    child.stdout?.on('data', (text: string) => {
      said += text;
    });
    await until('the server', () => said.includes('\n'));
    const { url, token } = JSON.parse(said) as { url: string; token: string };
    put(dir, { 'person-key': token });
    const ask = async (name: string, input: JsonObject) => {
      const headers = { authorization: `Bearer ${token}` };
      return (await (
        await fetch(`${url}/api/${name}`, { method: 'POST', headers, body: JSON.stringify(input) })
      ).json()) as {
        details: JsonObject;
      };
    };
    const tried = async (key: string) => {
      const headers = {
        ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        authorization: `Bearer ${key}`,
      };
      const answer = await fetch(`${url}/mcp`, {
        method: 'POST',
        headers,
        body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
      });
      return [answer.status, /"code":"([A-Z_]+)"/.exec(await answer.text())?.[1]];
    };
    const { details } = await ask('cast.start', { request: 'do it', inPlace: true, detach: true });
    const cast = String(details.cast);
    const seen = JSON.parse(await untilWritten(dir, 'seen-1-1')) as Seen;
    expect(seen.mcp).toBe(`${url}/mcp`);
    expect(seen.tools).toEqual([
      ...['heartbeat', 'lock_check', 'lock_request', 'read_context', 'submit_handoff', 'worklog_add'],
    ]);
    expect(seen).toMatchObject({
      context: { allow: true, details: { cast, turn: 1, attempt: 1, request: 'do it' } },
      cast: { allow: false, code: 'APPROVER_IS_AGENT' },
      exec: { allow: false, code: 'NOT_ALLOWED_NOW' },
      // The fence of the claim comes from the token.
      lock: { allow: true },
      handoff: { allow: true },
      // The token of the person who started the server makes no person of an agent.
      person: [403, 'APPROVER_IS_AGENT'],
    });
    const { foreign, ...doors } = seen.doors;
    expect(foreign?.[0]).toBe(403);
    expect(Object.keys(doors)).toHaveLength(25);
    for (const [door, answer] of Object.entries(doors))
      expect([door, ...answer]).toEqual([door, 403, 'APPROVER_IS_AGENT']);
    // Also where no agent is at the other end, the token opens nothing but the tools.
    const asAgent = { authorization: `Bearer ${seen.key}` };
    for (const path of ['/', '/api', '/api/status', '/api/events', '/metrics'])
      expect((await fetch(url + path, { headers: asAgent })).status).toBe(403);
    expect((await fetch(`${url}/api/status?token=${seen.key}`)).status).toBe(401);
    expect((await tried(seen.key))[0]).toBe(400);
    expect(await tried(`${seen.key}x`)).toEqual([401, 'TOKEN_UNKNOWN']);

    put(dir, { 'other-key': seen.key, 'go-1-1': 'x' });
    const second = JSON.parse(await untilWritten(dir, 'seen-2-1')) as Seen;
    // The attempt is over, and so is its token, for its successor as for anybody else.
    expect(second.other).toEqual([401, 'TOKEN_UNKNOWN']);
    expect(await tried(seen.key)).toEqual([401, 'TOKEN_UNKNOWN']);
    expect((await tried(second.key))[0]).toBe(400);
    put(dir, { 'go-2-1': 'x' });
    const status = async () => (await ask('cast.show', { cast })).details.status;
    await until('the end', async () => (await status()) === 'completed');
    expect(await tried(second.key)).toEqual([401, 'TOKEN_UNKNOWN']);
    const log = await ask('log', { last: 100 });
    expect(JSON.stringify(log)).not.toContain(seen.key);
  },
);
