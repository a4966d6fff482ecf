// The governed dialect: handoffs between agents pinned by the hash of their prompts. Everything here is pure;
// `registry-folder.ts`, which reads from disk, is imported by itself.
import type { Dialect } from '../kernel/dialect.ts';
import { brief, repair } from './brief.ts';
import { read } from './read.ts';

export type { Diagnostic } from '../kernel/trust/problem.ts';
export type { Agent, Registry } from './agent.ts';
export { checkBoundary } from './boundary.ts';
export { boundariesIn } from './boundary-prose.ts';
export { brief, EXAMPLE, type Given, repair } from './brief.ts';
export { digestOf, type Sha256 } from './canonical.ts';
export type { AgentRef, Envelope, HandoffRequest, HandoffState } from './envelope.ts';
export type { LookupParent, PastHandoff } from './lineage.ts';
export { lockOf } from './lock.ts';
export { type Minting, mintEnvelope, refTo } from './mint.ts';
export { DEFAULT_POLICY, type Policy } from './policy.ts';
export { read } from './read.ts';
export { LOCK_PATH, loadRegistry, MANIFEST_PATH, readRegistry, unusable } from './registry.ts';
export { ENVELOPE_SCHEMA } from './schema.ts';
export { FIRST_STAGE_THAT_USES_THE_ID, STAGES } from './stage.ts';
export { type GovernedOptions, type RegistryLoader, validateGoverned } from './validate.ts';
export { MAX_AGE_S, MAX_SKEW_S, type VerifyOptions, verifyHandoff } from './verify.ts';

export const governed: Dialect = { brief, repair, read };
