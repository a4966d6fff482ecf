// What an agent used counts also where it never came to its end: at a time limit, after a kill, when a person stops the cast.
// The agent is a stand-in for claude that tells in its stream what it uses, and then hangs or dies.
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { CastView } from '../../src/app/views/shown-cast.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { modelServer } from '../../src/testing/index.ts';
import { agent, baton, flow, json, project, type Started, start, until } from './baton.ts';

const USED = { input: 50_000, output: 700, tokens: 50_700 };

/** The events with which claude begins, and tells of a message that called a tool. */
const MESSAGE = [
  { type: 'system', subtype: 'init', model: 'some-model' },
  {
    type: 'stream_event',
    event: {
      type: 'message_start',
      message: { id: 'm1', usage: { input_tokens: 50_000, output_tokens: 1 } },
    },
  },
  { type: 'stream_event', event: { type: 'message_delta', usage: { output_tokens: 700 } } },
].map((event) => JSON.stringify({ ...event, session_id: 's1', parent_tool_use_id: null }));
const RESULT = JSON.stringify({
  ...{ type: 'result', subtype: 'success', is_error: false, result: 'fine' },
  usage: { input_tokens: 1, output_tokens: 1 },
});

/** A workspace whose claude does what the lines of shell say, in the first attempt and in the ones after it. */
function workspace(first: string, then = first, config: JsonObject = {}, limits: JsonObject = {}) {
  const dir = project({
    '.baton/config.json': flow({ A: agent }, { 'Socket-1': { materia: 'A', parse: 'text', limits } }, config),
  });
  // Not in the project, which an agent without tools may not change.
  const bin = project();
  const tells = `printf '%s\\n' '${MESSAGE.join("' '")}'`;
  const script = `#!/bin/sh\ntells() { ${tells}; echo > '${bin}/told'; }\nif [ -e '${bin}/once' ]; then\n${then}\nelse\necho > '${bin}/once'\n${first}\nfi\n`;
  writeFileSync(join(bin, 'claude'), script);
  chmodSync(join(bin, 'claude'), 0o755);
  const env = { PATH: `${bin}:${process.env.PATH}`, ANTHROPIC_API_KEY: 'key' };
  return {
    hasTold: () => existsSync(join(bin, 'told')),
    cast: async () => json<CastView>(await baton(dir, ['cast', '--json', '--turns', 'do it'], { env })),
    begin: () => start(dir, ['cast', '--json', 'do it'], { env }),
    run: async (...args: string[]) => json<CastView>(await baton(dir, args, { env })),
  };
}

const HANGS = 'tells; exec sleep 600';
const told = async (at: { hasTold(): boolean; begin(): Started }): Promise<Started> => {
  const cast = at.begin();
  await until('its first message', at.hasTold);
  return cast;
};

test('a time limit: it is counted, and the budget of the cast stops it', async () => {
  const at = workspace(HANGS, HANGS, { budget: { maxTokens: 60_000 } }, { timeoutMs: 1_500 });
  expect(await at.cast()).toMatchObject({ code: 'AGENT_TIMEOUT', usage: USED });
  expect(await at.run('recast', '--json')).toMatchObject({ code: 'AGENT_TIMEOUT', usage: { tokens: 101_400 } });
  expect(await at.run('recast', '--json')).toMatchObject({ allow: false, code: 'BUDGET_EXHAUSTED' });
});

test('the time of the cast is over: it is counted', async () => {
  const at = workspace(HANGS, HANGS, { budget: { maxDurationMs: 1_500 } });
  expect(await at.cast()).toMatchObject({ status: 'failed', code: 'BUDGET_EXHAUSTED', usage: USED });
});

test('its program dies: the first attempt is counted beside the second', async () => {
  const at = workspace('tells; kill -9 $$', `printf '%s\\n' '${RESULT}'`);
  const view = await at.cast();
  expect(view).toMatchObject({ status: 'completed', usage: { input: 50_001, output: 701 } });
});

test('what is told at the end is not counted beside what was told on the way', async () => {
  const last = JSON.stringify({ ...JSON.parse(RESULT), usage: { input_tokens: 50_000, output_tokens: 700 } });
  expect(await workspace(`tells; printf '%s\\n' '${last}'`).cast()).toMatchObject({ status: 'completed', usage: USED });
});

test.each(['SIGINT', 'SIGTERM'] as const)(
  'a cast that is paused by %s has counted what its agent used',
  async (signal) => {
    const at = workspace(HANGS, `printf '%s\\n' '${RESULT}'`, { budget: { maxTokens: 50_000 } });
    const cast = await told(at);
    cast.child.kill(signal);
    expect(json<CastView>(await cast.ended)).toMatchObject({ status: 'paused', usage: USED });
    expect(await at.run('show', '--json', '--turns')).toMatchObject({
      turns: [{ agent: { runner: 'claude', model: 'some-model' }, verdict: { code: 'ABORTED' } }],
    });
    // It is over what it may use, and does not begin again.
    expect(await at.run('resume', '--json')).toMatchObject({ status: 'failed', code: 'BUDGET_EXHAUSTED', usage: USED });
  },
);

test('a cast that is resumed counts both attempts', async () => {
  const at = workspace(HANGS, `printf '%s\\n' '${RESULT}'`);
  const cast = await told(at);
  cast.child.kill('SIGINT');
  await cast.ended;
  expect(await at.run('resume', '--json')).toMatchObject({ status: 'completed', usage: { tokens: 50_702 } });
});

test('a cast that somebody else aborts has counted what its agent used', async () => {
  const at = workspace(HANGS);
  const cast = await told(at);
  await at.run('abort', '--json');
  expect(json<CastView>(await cast.ended)).toMatchObject({ status: 'aborted', usage: USED });
});

test('Baton is killed and the cast aborted: whoever ends its agent counts what it used, once', async () => {
  const at = workspace(HANGS);
  const cast = await told(at);
  cast.child.kill('SIGKILL');
  await cast.ended;
  await at.run('abort', '--json');
  expect(await at.run('show', '--json')).toMatchObject({ status: 'aborted', usage: USED });
});

test('a model that is asked directly: what it told before the cast was paused is counted', async () => {
  const server = await modelServer({ answers: [{ stall: 'during', text: 'let me think' }] });
  const materia = { ...agent, runner: 'anthropic', model: 'm', baseUrl: server.url };
  const dir = project({ '.baton/config.json': flow({ A: materia }, { 'Socket-1': { materia: 'A', parse: 'text' } }) });
  const cast = start(dir, ['cast', '--json', 'do it'], { env: { ANTHROPIC_API_KEY: 'key' } });
  await until('the request', () => server.requests.length > 0);
  await until('its words', () => cast.stderr().includes('let me') || cast.stderr().includes('▸'));
  await new Promise((resolve) => setTimeout(resolve, 500));
  cast.child.kill('SIGINT');
  expect(json<CastView>(await cast.ended)).toMatchObject({ status: 'paused', usage: { input: 10 } });
  await server.close();
});
