import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { AttemptResult, LiveEvent, Runner } from '../../engine/ports.ts';
import type { Packet } from '../../kernel/cast/packet.ts';
import type { Json } from '../../kernel/json.ts';
import { withinUserLimits } from './user-limits.ts';

/** The folder of a user who has written this into his configuration. */
function user(config: Json | undefined): NodeJS.ProcessEnv {
  const folder = mkdtempSync(join(tmpdir(), 'baton-user-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  if (config !== undefined)
    writeFileSync(join(folder, 'config.json'), typeof config === 'string' ? config : JSON.stringify(config));
  return { BATON_CONFIG: folder };
}

const packet = (cast: string, runner = 'claude', more: object = {}) =>
  ({ cast, turn: 1, attempt: 1, materia: { type: 'agent', runner }, scripted: null, ...more }) as unknown as Packet;
const place = { cwd: '/', attemptDir: '/nowhere', configDir: '/' };
const never = new AbortController().signal;
const SAID: AttemptResult = { kind: 'output', output: 'said' };

/** An agent that answers when it is told to. */
function agent() {
  const { promise, resolve } = Promise.withResolvers<AttemptResult>();
  let begun = 0;
  const run = () => {
    begun += 1;
    return promise;
  };
  const runner: Runner = { run, recover: run };
  return { runnerFor: () => runner, begun: () => begun, end: () => resolve(SAID) };
}

test('no more are under way than the user allows, whichever workspace they belong to; who waits is told', async () => {
  const env = user({ runners: { claude: { maxConcurrent: 1 } } });
  const [first, second] = [agent(), agent()];
  const one = withinUserLimits(first, env).runnerFor(packet('c-1')).run(packet('c-1'), place, never);
  await expect.poll(first.begun).toBe(1);
  const heard: LiveEvent[] = [];
  const listening = { ...place, onEvent: (event: LiveEvent) => void heard.push(event) };
  const two = withinUserLimits(second, env).runnerFor(packet('c-2')).run(packet('c-2'), listening, never);
  await expect.poll(() => heard).toMatchObject([{ kind: 'waiting', reason: expect.stringContaining('claude') }]);
  expect(second.begun()).toBe(0);
  first.end();
  expect(await one).toEqual(SAID);
  second.end();
  expect(await two).toEqual(SAID);
});

test('who is stopped while he waits has not run; what runs from before a crash has its place', async () => {
  const env = user({ runners: { claude: { perMinute: 1 } } });
  const [first, second] = [agent(), agent()];
  first.end();
  second.end();
  await withinUserLimits(first, env).runnerFor(packet('c-1')).run(packet('c-1'), place, never);
  const late = withinUserLimits(second, env).runnerFor(packet('c-2'));
  expect(await late.run(packet('c-2'), place, AbortSignal.abort())).toMatchObject({ kind: 'lost', mayHaveRun: false });
  expect(second.begun()).toBe(0);
  expect(await late.recover(packet('c-2'), place, never)).toEqual(SAID);
});

test.each<[string, Json | undefined, Packet]>([
  ['no file', undefined, packet('c')],
  ['another runner', { runners: { codex: { maxConcurrent: 1 } } }, packet('c')],
  [
    'a scripted turn',
    { runners: { claude: { maxConcurrent: 1 } } },
    packet('c', 'claude', { scripted: { turn: 'x' } }),
  ],
  ['a utility', { runners: { claude: { maxConcurrent: 1 } } }, packet('c', '', { materia: { type: 'utility' } })],
])('%s limits nothing', (_, config, turn) => {
  const own = agent();
  expect(withinUserLimits(own, user(config)).runnerFor(turn)).toBe(own.runnerFor());
});

test.each<[string, Json, RegExp]>([
  ['no JSON', '{', /config\.json is no JSON object; mend it/],
  ['a list', [], /is no JSON object/],
  ['limits that are none', { runners: 7 }, /config\.json: runners/],
  ['a runner that does not exist', { runners: { claud: {} } }, /runners\.claud: .*Did you mean claude/],
  ['a limit that is none', { runners: { claude: { maxConcurrent: 0 } } }, /runners\.claude\.maxConcurrent/],
  ['something else', { runners: {}, budget: {} }, /there is no budget here, only runners/],
])('%s is told with the file and what to mend', (_, config, why) => {
  expect(() => withinUserLimits(agent(), user(config))).toThrow(why);
});
