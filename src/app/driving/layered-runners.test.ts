// The order of the layers: what a row expects holds in the order of the list, and not with its two layers swapped.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { keepHandoff } from '../../agents/handoff-file.ts';
import { keepHidden } from '../../agents/hidden-texts.ts';
import type { AttemptResult, LiveEvent, Runner } from '../../engine/ports.ts';
import type { Packet } from '../../kernel/cast/packet.ts';
import type { Json } from '../../kernel/json.ts';
import { inLayers, LAYERS, type Layer, withinUserLimits } from './layered-runners.ts';

const SECRET = 'correct-horse-battery';
const [LIMITS, OUTAGES, SUBMISSIONS, REVEALING, KNOWN_VALUES] = [1, 2, 3, 4, 5];

type Seen = {
  /** The runner that was asked for, and whether a place of the user's limits was taken before. */
  readonly asked: string;
  readonly heldPlace: boolean;
  /** Whether the provider was noted as down. */
  readonly down: boolean;
  readonly output: string | null;
};

/** Runs an agent that submits its handoff and then ends as `result` says. The address of its provider is hidden in the log. */
async function submitting(layers: readonly Layer[], output: string, result: AttemptResult): Promise<Seen> {
  const dir = mkdtempSync(join(tmpdir(), 'baton-layers-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const attemptDir = join(dir, 'attempts', 'C-1.1');
  mkdirSync(attemptDir, { recursive: true });
  writeFileSync(join(dir, 'config.json'), JSON.stringify({ runners: { claude: { maxConcurrent: 1 } } }));
  keepHidden(dir, 'C', { texts: ['https://provider.example/?token=x'] });
  await keepHandoff(attemptDir, { cast: 'C', turn: 1, attempt: 1 }, output);
  const materia = { type: 'agent', runner: 'claude', env: ['KEY'], baseUrl: '\u27e6hidden text 0\u27e7' };
  const packet = { cast: 'C', turn: 1, attempt: 1, materia, scripted: null } as unknown as Packet;
  const run = async () => result;
  const own: Runner = { run, recover: run };
  let seen: Omit<Seen, 'output'> = { asked: '', heldPlace: false, down: false };
  const lease = async (act: string, runner: string, ...args: unknown[]) => {
    if (act === 'admit') seen = { ...seen, asked: runner, heldPlace: existsSync(join(dir, 'limits')) };
    if (act === 'noteRunner' && args[1]) seen = { ...seen, down: true };
    return { waitMs: 0, outage: null, hasAnswered: false };
  };
  const workspace = { dir, stateDir: dir, env: { KEY: SECRET, BATON_CONFIG: dir } };
  const scene = { workspace, store: { lease } } as unknown as Parameters<Layer>[1];
  const place = { cwd: dir, attemptDir, configDir: dir };
  const answer = await inLayers(layers, { runnerFor: () => own }, scene)
    .runnerFor(packet)
    .run(packet, place, new AbortController().signal);
  return { ...seen, output: answer.kind === 'output' ? answer.output : null };
}

const ENDED: AttemptResult = { kind: 'output', output: '' };
const UNREACHABLE: AttemptResult = {
  kind: 'fault',
  fault: 'transport',
  code: 'PROVIDER_UNREACHABLE',
  reason: 'no answer',
};

const ROWS: readonly (readonly [string, number, number, string, AttemptResult, Partial<Seen>])[] = [
  ['a turn that waits for its provider holds no place', LIMITS, OUTAGES, 'done', ENDED, { heldPlace: false }],
  [
    'a provider that fails after a submission is noted as down',
    OUTAGES,
    SUBMISSIONS,
    'done',
    UNREACHABLE,
    { down: true },
  ],
  [
    'a provider is known by its address, though the log hides it',
    OUTAGES,
    REVEALING,
    'done',
    ENDED,
    { asked: 'claude at provider.example' },
  ],
  [
    'a secret in a submission is taken out',
    SUBMISSIONS,
    KNOWN_VALUES,
    `by ${SECRET}`,
    ENDED,
    { output: expect.not.stringContaining(SECRET) },
  ],
];

test.each(ROWS)('%s', async (_, inner, outer, output, result, expected) => {
  expect(await submitting(LAYERS, output, result)).toMatchObject(expected);
  const swapped = LAYERS.map((layer, at) => LAYERS[at === inner ? outer : at === outer ? inner : at] ?? layer);
  expect(await submitting(swapped, output, result)).not.toMatchObject(expected);
});

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
  ['no JSON', '{', /config\.json is no JSON object; correct it/],
  ['a list', [], /is no JSON object/],
  ['limits that are none', { runners: 7 }, /config\.json: runners/],
  ['a runner that does not exist', { runners: { claud: {} } }, /runners\.claud: .*Did you mean claude/],
  ['a limit that is none', { runners: { claude: { maxConcurrent: 0 } } }, /runners\.claude\.maxConcurrent/],
  ['something else', { runners: {}, budgets: {} }, /a configuration has no budgets/],
])('%s is told with the file and what to mend', (_, config, why) => {
  expect(() => withinUserLimits(agent(), user(config))).toThrow(why);
});
