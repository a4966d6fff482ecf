// Trust: a registry comes into force, agents are attested and hand to one another, a prompt that is not the locked one is
// blocked and released, foreign handoffs are judged, and somebody is turned away.
import type { Request } from '../../../src/kernel/input.ts';
import type { Attestation, LoadedRegistry, Sighting } from '../../../src/kernel/trust/state.ts';
import { allow, deny } from '../../../src/kernel/verdict.ts';
import { always, graph } from '../../loadouts.ts';
import type { Stage } from './stage.ts';

const hashOf = (letter: string): string => letter.repeat(64);
const handoffId = (number: number): string => `550e8400-e29b-41d4-a716-44665544${String(number).padStart(4, '0')}`;

const FIRST: LoadedRegistry = {
  ...{ digest: hashOf('1'), lock: hashOf('2'), version: '1.0.0' },
  agents: { plan: { version: '1.0.0', hash: hashOf('a') }, build: { version: '1.0.0', hash: hashOf('b') } },
};
const SECOND: LoadedRegistry = {
  ...{ digest: hashOf('3'), lock: hashOf('4'), version: '1.1.0' },
  agents: { ...FIRST.agents, build: { version: '1.1.0', hash: hashOf('c') } },
};
const FOREIGN: LoadedRegistry = { digest: hashOf('5'), lock: hashOf('6'), version: '9.0.0', agents: {} };
const textsOf = ({ version }: LoadedRegistry) => ({ manifest: `manifest ${version}`, lock: `lock ${version}` });

const LINE = graph(
  { 'Socket-1': { materia: 'Plan', edges: [always('Socket-2')] }, 'Socket-2': { materia: 'Build' } },
  {
    materia: {
      Plan: { prompt: 'Plan it.', tools: 'none', identity: 'plan' },
      Build: { prompt: 'Build it.', tools: 'none', identity: 'build' },
    },
  },
);

export async function tellOfTrust(stage: Stage): Promise<void> {
  await attested(stage);
  await judged(stage);
  await turnedAway(stage);
}

/** By a server, at a tool that only people may use, and what a server had still counted at its end. */
async function turnedAway(stage: Stage): Promise<void> {
  const now = new Date(stage.now).toISOString();
  const nobody = { who: 'token:nobody', verdict: deny('TOKEN_UNKNOWN', 'there is no such token') };
  const agent = { who: 'agent:golden', verdict: deny('APPROVER_IS_AGENT', 'only a person decides about it') };
  const minute = now.slice(0, 16);
  await stage.tell({ kind: 'access.refuse', ...nobody, minute, times: 3 });
  await stage.tell({ kind: 'access.refuse', ...agent, minute, times: 1, what: 'approve' });
  await stage.tell({ kind: 'access.refuse', ...nobody, minute, times: 2, ended: now });
}

function seen(registry: LoadedRegistry, agent: string, over: Partial<Sighting> = {}): Sighting {
  const { version = '', hash = '' } = registry.agents[agent] ?? {};
  const attestation: Attestation = {
    ...{ agent, type: 'archetype', version, promptHash: hash, registry: registry.digest, lockHash: registry.lock },
    ...{ composition: { backend: 0.7, operations: 0.3 }, runner: 'claude', model: 'golden-1', tools: 'none' as const },
    ...{ pinned: false, drift: ['model'] },
  };
  return { origin: 'workspace', registry, attestation, envelope: null, refusal: null, ...over };
}

async function attested(stage: Stage): Promise<void> {
  await stage.tell({ kind: 'registry.load', registry: FIRST, texts: textsOf(FIRST), reason: 'the first one' });
  await stage.start('line', { config: LINE, request: 'golden line', script: { Plan: ['A plan.'], Build: ['Built.'] } });
  await stage.prepare('line', { trust: seen(FIRST, 'plan') });
  await stage.say(await stage.turn('line'), 'A plan.');
  const blocks = { agent: 'build', hash: null, context: null };
  const verdict = deny('PROMPT_BYTES_MISMATCH', 'the prompt of build is not the one that was locked');
  const refusal = { stage: 11, verdict, blocks };
  await stage.prepare('line', { trust: seen(FIRST, 'build', { attestation: null, refusal }) }, verdict.code);
  const looked = { reason: 'we changed it ourselves', isAgent: false, registry: SECOND, faults: {} };
  await stage.tell({ kind: 'quarantine.release', id: 'build', ...looked });
  await stage.tell({ kind: 'cast.recast', cast: 'line' });
  const envelope = {
    ...{ handoff_id: handoffId(1), timestamp: new Date(stage.now).toISOString(), digest: hashOf('d'), pattern: 1 },
    warnings: [{ code: 'INJECTION_OVERRIDE', pointer: '/request/input_data/handoff' }],
    envelope: { source: { agent_id: 'lead' }, target: { agent_id: 'build' }, request: { type: 'task' } },
    mediation: {
      ...{ agent: 'lead', handoff_id: handoffId(90) },
      envelope: { source: { agent_id: 'plan' }, target: { agent_id: 'lead' }, request: { type: 'task' } },
    },
  };
  await stage.prepare('line', { trust: seen(SECOND, 'build', { envelope, texts: textsOf(SECOND) }) });
  await stage.say(await stage.turn('line'), 'Built.');
}

type Judge = Extract<Request, { kind: 'handoff.judge' }>;

function foreign(number: number, over: Partial<Judge> = {}): Judge {
  const would = (stage: number) => deny('QUARANTINED', 'it is blocked', { stage });
  return {
    ...{ kind: 'handoff.judge', handoff: handoffId(number), source: 'plan', target: 'build', parent: handoffId(1) },
    claimed: { source: hashOf('a'), target: hashOf('c') },
    ...{ verdict: allow('the handoff is accepted'), refusal: null, registry: SECOND },
    otherwise: { replay: deny('REPLAY', 'it was used', { stage: 7 }), source: would(9), target: would(9) },
    ...{ envelopeDigest: hashOf(String(number % 10)), contentDigest: hashOf('e'), requestDigest: hashOf('f') },
    envelope: JSON.stringify({ handoff_id: handoffId(number), request: { type: 'task' } }),
    ...over,
  };
}

/** Accepted; sent again under the same id and under another; judged by a registry of others; refused and blocked. */
async function judged(stage: Stage): Promise<void> {
  await stage.tell(foreign(2));
  await stage.tell(foreign(2), 'REPLAY');
  await stage.tell(foreign(3));
  const other = { registry: FOREIGN, registryTexts: textsOf(FOREIGN), contentDigest: hashOf('0') };
  await stage.tell(foreign(4, other));
  const refused = (blocks: { agent: string | null; hash: string | null; context: string | null }) => {
    const verdict = deny(blocks.context === null ? 'HASH_MISMATCH' : 'INJECTION_OVERRIDE', 'it is not what it claims');
    return { verdict, refusal: { stage: 15, verdict, blocks } };
  };
  const poisoned = refused({ agent: null, hash: null, context: hashOf('7') });
  await stage.tell(foreign(5, poisoned), poisoned.verdict.code);
  const read = { reason: 'somebody has read it', isAgent: false, registry: null, faults: {} };
  await stage.tell({ kind: 'quarantine.release', id: `context:${hashOf('7')}`, ...read, outcome: 'harmless' });
  const forged = refused({ agent: 'plan', hash: hashOf('9'), context: null });
  for (const number of [6, 7]) await stage.tell(foreign(number, forged), forged.verdict.code);
}
