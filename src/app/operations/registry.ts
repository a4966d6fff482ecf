// The registry: who exists, which prompts are pinned, what is blocked; and handoffs of others, judged by it.
import { OUTCOMES } from '../../kernel/trust/state.ts';
import type { OperationEntry } from '../operation.ts';

const REASON = { type: 'text', means: 'why, for the log', example: 'prompt restored from git' } as const;
const BY_PEOPLE = { leftOut: 'people look after the registry, by the command line or the library' } as const;

export const REGISTRY = {
  'registry.lock': {
    name: 'registry.lock',
    group: 'registry',
    act: 'govern',
    peopleOnly: 'lock a registry',
    means:
      'pin every prompt to the bytes it has now, and what each agent runs with; agents that the registry does not know get an id and a record in the manifest',
    example: 'baton registry lock --reason "reviewed"',
    fields: { reason: REASON },
    mcp: BY_PEOPLE,
  },
  'registry.accept': {
    name: 'registry.accept',
    group: 'registry',
    act: 'govern',
    peopleOnly: 'accept an edited prompt',
    means:
      'accept edited prompts: show what changed, raise their versions, pin them, and release what the edit blocked',
    example: 'baton registry accept build --reason "shorter answers"',
    fields: {
      agent: {
        type: 'text',
        word: 'AGENT',
        means: 'the agent; without it every agent whose prompt was edited',
        example: 'build',
      },
      reason: REASON,
    },
    mcp: BY_PEOPLE,
  },
  'registry.verify': {
    name: 'registry.verify',
    group: 'registry',
    act: 'look',
    means: 'compare manifest, lock and prompts; report what differs from what was approved',
    example: 'baton registry verify --strict',
    fields: { strict: { type: 'flag', means: 'warnings deny, too' } },
    mcp: BY_PEOPLE,
  },
  'registry.list': {
    name: 'registry.list',
    group: 'registry',
    act: 'look',
    means: 'every agent with version, prompt, model, and whether the model is one exact release',
    example: 'baton registry list',
    fields: {},
    mcp: BY_PEOPLE,
  },
  'registry.quarantine': {
    name: 'registry.quarantine',
    group: 'registry',
    act: 'look',
    means: 'what is blocked, since when and why',
    example: 'baton registry quarantine',
    fields: {},
    mcp: BY_PEOPLE,
  },
  'registry.release': {
    name: 'registry.release',
    group: 'registry',
    act: 'decide',
    means: 'let go what was blocked, once everything agrees again; only a person can',
    example: 'baton registry release domain-02-build --reason "prompt restored from git"',
    fields: {
      id: { type: 'text', word: 'ID', required: true, means: 'what is blocked', example: 'domain-02-build' },
      reason: { ...REASON, required: true },
      outcome: {
        type: 'choice',
        of: OUTCOMES,
        noun: 'outcome',
        value: 'OUTCOME',
        means: 'what was found: tampering, stale_sender, legitimate_change, checkout_artifact or harmless',
      },
    },
    mcp: BY_PEOPLE,
  },
  'registry.import': {
    name: 'registry.import',
    group: 'registry',
    act: 'govern',
    peopleOnly: 'import a registry',
    means: 'take over a registry from another folder, in any of the known shapes, and lock it',
    example: 'baton registry import ../agents',
    fields: { dir: { type: 'path', word: 'DIR', required: true, means: 'the folder of the registry' } },
    mcp: BY_PEOPLE,
  },
  'handoff.verify': {
    name: 'handoff.verify',
    group: 'registry',
    act: 'steer',
    means: 'judge a foreign handoff envelope, once; the verdict is written to the log',
    example: 'baton handoff verify envelope.json',
    fields: {
      envelope: {
        type: 'json',
        word: 'FILE',
        required: true,
        bytesField: 'bytes',
        means: 'the envelope, exactly as it came; the same id is judged once only',
      },
      bytes: { type: 'text', hidden: true, means: 'the envelope as base64, where it is no UTF-8' },
      registry: { type: 'path', means: 'the folder of the registry (default: .baton)' },
      maxAgeS: { type: 'count', means: 'how old an envelope may be, in seconds (default 300)' },
      maxSkewS: { type: 'count', means: 'how far ahead of this clock it may be, in seconds (default 60)' },
    },
    mcp: { leftOut: 'envelopes come from other systems, by a script that has the command line or the library' },
  },
} as const satisfies Readonly<Record<string, OperationEntry>>;
