// The order of the layers: what a row expects holds in the order of the list, and not with its two layers swapped.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { keepHandoff } from '../../agents/handoff-file.ts';
import type { AttemptResult, Runner } from '../../engine/ports.ts';
import type { Packet } from '../../kernel/cast/packet.ts';
import { inLayers, LAYERS, type Layer } from './layered-runners.ts';

const SECRET = 'correct-horse-battery';
const [OUTAGES, SUBMISSIONS, KNOWN_VALUES] = [2, 3, 5];

/** Runs an agent that submits its handoff and then ends as `result` says. `down` is what was noted about its provider. */
async function submitting(layers: readonly Layer[], output: string, result: AttemptResult) {
  const dir = mkdtempSync(join(tmpdir(), 'baton-layers-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const attemptDir = join(dir, 'attempts', 'C-1.1');
  mkdirSync(attemptDir, { recursive: true });
  await keepHandoff(attemptDir, { cast: 'C', turn: 1, attempt: 1 }, output);
  const materia = { type: 'agent', runner: 'claude', env: ['KEY'] };
  const packet = { cast: 'C', turn: 1, attempt: 1, materia, scripted: null } as unknown as Packet;
  const run = async () => result;
  const own: Runner = { run, recover: run };
  const noted: unknown[] = [];
  const lease = async (act: string, ...args: unknown[]) => {
    if (act === 'noteRunner') noted.push(args[2]);
    return { waitMs: 0, outage: null, hasAnswered: false };
  };
  const workspace = { dir, stateDir: dir, env: { KEY: SECRET, BATON_CONFIG: dir } };
  const scene = { workspace, store: { lease } } as unknown as Parameters<Layer>[1];
  const place = { cwd: dir, attemptDir, configDir: dir };
  const answer = await inLayers(layers, { runnerFor: () => own }, scene)
    .runnerFor(packet)
    .run(packet, place, new AbortController().signal);
  return { down: noted.some(Boolean), output: answer.kind === 'output' ? answer.output : null };
}

const UNREACHABLE: AttemptResult = {
  kind: 'fault',
  fault: 'transport',
  code: 'PROVIDER_UNREACHABLE',
  reason: 'no answer',
};

const ROWS = [
  ['a provider that fails after a submission is noted as down', OUTAGES, SUBMISSIONS, 'done', UNREACHABLE, 'done'],
  [
    'a secret in a submission is taken out',
    SUBMISSIONS,
    KNOWN_VALUES,
    `by ${SECRET}`,
    { kind: 'output', output: '' } as AttemptResult,
    expect.not.stringContaining(SECRET),
  ],
] as const;

test.each(ROWS)('%s', async (_, inner, outer, output, result, expected) => {
  const wanted = { down: result.kind === 'fault', output: expected };
  expect(await submitting(LAYERS, output, result)).toEqual(wanted);
  const swapped = LAYERS.map((layer, at) => LAYERS[at === inner ? outer : at === outer ? inner : at] ?? layer);
  expect(await submitting(swapped, output, result)).not.toEqual(wanted);
});
