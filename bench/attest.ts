// What trust costs a dispatch without the disk: hashing the prompt, attesting the agent, judging the envelope, and putting
// the fact with both into the chain.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Fact } from '../src/kernel/fact.ts';
import type { TrustWatch } from '../src/kernel/trust/watch.ts';
import { chain, NO_PREV } from '../src/log/line.ts';
import { attest } from '../src/trust/attest.ts';
import { hashBytes, loadRegistryFolder } from '../src/trust/registry-folder.ts';
import { median, type Row } from './row.ts';

const BUNDLED = fileURLToPath(new URL('../src/bundled', import.meta.url));
const TARGET_US = 100;
const ROUNDS = 15;
const PER_ROUND = 2_000;

export function attestTimes(): Row[] {
  const registry = loadRegistryFolder(BUNDLED);
  const prompt = readFileSync(`${BUNDLED}/prompts/build.md`, 'utf8');
  const watch: TrustWatch = {
    isOn: true,
    target: 'domain-02-build',
    source: 'domain-01-plan',
    origin: null,
    parent: null,
    prompt,
    materia: 'Build',
    runner: 'claude',
    model: null,
    tools: 'coding',
    request: {
      type: 'task',
      description: 'Read the name from the command line',
      input_data: { socket: 'Socket-4', item: 'WI-1', handoff: { satisfied: true, context: 'x'.repeat(1_000) } },
      constraints: [],
      expected_output: 'text',
    },
    state: { conversation_history: [], accumulated_context: {}, decisions_made: [] },
    surfaces: [],
    auditTrail: 'cast c turn 4',
    cleared: [],
    team: [],
  };
  const attested = () =>
    attest(registry, 'l', watch, {
      handoffId: crypto.randomUUID(),
      timestamp: '2026-11-16T00:00:00.000Z',
      promptHash: hashBytes(prompt),
    });
  const dispatched = () => {
    const { attestation, envelope } = attested();
    if (!attestation || !envelope) throw new Error('the bundled registry refuses its own loadout');
    const fact: Fact = {
      kind: 'attempt.started',
      cast: 'c',
      turn: 4,
      attempt: 1,
      brief: 'Build it.',
      script: null,
      reserved: 0,
      attestation,
      envelope,
    };
    return chain({ fact, by: 'engine', at: 0, once: [`handoff:${envelope.handoff_id}`] }, 7, NO_PREV, '');
  };
  return [row('attesting one dispatch', attested), row('attesting it and chaining its fact', dispatched)];
}

function row(what: string, work: () => unknown): Row {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const before = performance.now();
    for (let index = 0; index < PER_ROUND; index++) work();
    times.push(((performance.now() - before) * 1_000) / PER_ROUND);
  }
  const us = median(times);
  return { what, value: `${us.toFixed(1)} µs`, target: `< ${TARGET_US} µs`, met: us < TARGET_US };
}
