// Codes of the trust layer: the handoff envelopes, and the registry of pinned prompts that they are checked against.
import { HANDOFF_CODES } from './governed-handoff.ts';
import { REGISTRY_CODES } from './governed-registry.ts';

export const GOVERNED_CODES = { ...HANDOFF_CODES, ...REGISTRY_CODES } as const;

export type GovernedCode = keyof typeof GOVERNED_CODES;
