// What agents do is heard in another process while they do it, and nothing of it is in the log.
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { AttemptEvent } from '../../src/agents/live-watch.ts';
import type { CastView } from '../../src/app/views/shown-cast.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { type ModelServer, modelServer } from '../../src/testing/index.ts';
import { baton, flow, json, project, start, until } from '../cli/baton.ts';

let server: ModelServer | null = null;
afterEach(async () => {
  await server?.close();
  server = null;
});

const KEYS = { OPENAI_API_KEY: 'key' };

function workspace(materia: JsonObject, limits: JsonObject = {}): string {
  const own = { tools: 'none', prompt: 'Do it.', ...materia };
  return project({
    '.baton/config.json': flow({ A: own }, { 'Socket-1': { materia: 'A', parse: 'json', limits } }),
    // It speaks, waits until it is told to go on, and answers. What is told it is no change of the project.
    'speak.mjs': `import { existsSync } from 'node:fs';
      console.log('let me think');
      while (!existsSync('.baton/state/go')) await new Promise((resolve) => setTimeout(resolve, 20));
      console.log('{"satisfied":true}');`,
  });
}

/** Starts a cast and, once it runs, somebody who watches it. */
async function watched(dir: string, ...more: string[]) {
  const cast = start(dir, ['cast', '--json', 'do it'], { env: KEYS });
  await until('the cast', () => cast.stderr().includes('▸'));
  const watch = start(dir, ['watch', ...more], { env: KEYS });
  let said = '';
  watch.child.stdout?.on('data', (text: string) => {
    said += text;
  });
  return { cast, watch, said: () => said };
}

test('a program that another process drives is heard while it works', async () => {
  const dir = workspace({ runner: 'command', command: [process.execPath, 'speak.mjs'] });
  const { cast, watch, said } = await watched(dir, '--jsonl');
  await until('its words', () => said().includes('let me think'));
  const before = json<readonly JsonObject[]>(await baton(dir, ['log', '--json', '--after', '0']));
  expect(JSON.stringify(before)).not.toContain('let me think');
  writeFileSync(join(dir, '.baton/state/go'), '');
  const lines = (await watch.ended).stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as AttemptEvent | CastView);
  expect(lines[0]).toMatchObject({ turn: 1, attempt: 1, socket: 'Socket-1', event: { kind: 'text' } });
  expect(lines.at(-1)).toMatchObject({ status: 'completed' });
  expect((await watch.ended).code).toBe(0);
  expect(json<CastView>(await cast.ended).status).toBe('completed');
});

test('a model that is asked directly is heard too, and its side file goes with its attempt', async () => {
  server = await modelServer({ answers: [{ stall: 'during', text: 'let me think about it' }] });
  const materia = { runner: 'openai', model: 'm', baseUrl: `${server.url}/v1` };
  const dir = workspace(materia, { timeoutMs: 8_000 });
  const { cast, watch, said } = await watched(dir, '--jsonl');
  await until('its words', () => said().includes('let me'));
  expect(json<CastView>(await cast.ended)).toMatchObject({ status: 'failed', code: 'AGENT_TIMEOUT' });
  expect((await watch.ended).code).toBe(1);
  expect(readdirSync(join(dir, '.baton/state/attempts'))).toEqual([]);
  // Of what was heard the log keeps the last words of the attempt that failed, and nothing else.
  const entries = json<readonly JsonObject[]>(await baton(dir, ['log', '--json', '--after', '0']));
  const telling = entries.filter((entry) => JSON.stringify(entry).includes('let me'));
  expect(telling).toMatchObject([{ kind: 'attempt.failed', said: 'let me thin' }]);
});

test.each([
  ['one value or a line for each event, not both', ['watch', '--json', '--jsonl']],
  ['facts are lines too', ['watch', '--json', '--facts']],
])('%s', async (_, args) => {
  const ran = await baton(project(), args);
  expect(ran).toMatchObject({ code: 2 });
  expect(json(ran)).toMatchObject({ allow: false, code: 'BAD_USAGE' });
});
