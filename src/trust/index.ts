// The governed dialect: handoffs between agents pinned by the hash of their prompts. Nothing here reads from disk;
// `registry-folder.ts` does.
import type { Dialect } from '../kernel/dialect.ts';
import { governedBrief, governedRead, governedRepair } from './dialect.ts';

export type { Diagnostic } from '../kernel/trust/problem.ts';
export type { Agent, Registry } from './agent.ts';
export { checkBoundary, proseBoundaries as boundariesIn } from './boundary.ts';
export { canonicalDigest as digestOf, type Sha256 } from './canonical.ts';
export {
  type EnvelopeValues as Given,
  EXAMPLE,
  governedBrief as brief,
  governedRead as read,
  governedRepair as repair,
  type Minting,
  mintEnvelope,
  refTo,
} from './dialect.ts';
export type { AgentRef, Envelope, HandoffRequest, HandoffState } from './envelope.ts';
export { ENVELOPE_SCHEMA } from './envelope.ts';
export type { LookupParent, PastHandoff } from './lineage.ts';
export { lockOf } from './lock.ts';
export { LOCK_PATH, loadRegistry, MANIFEST_PATH, readRegistry, unusable } from './registry.ts';
export { FIRST_STAGE_THAT_USES_THE_ID, type Policy, STAGES, TRUST_POLICY as DEFAULT_POLICY } from './stage.ts';
export { type GovernedOptions, type RegistryLoader, validateGoverned } from './validate.ts';
export { MAX_AGE_S, MAX_SKEW_S, type VerifyOptions, verifyHandoff } from './verify.ts';

export const governed: Dialect = { brief: governedBrief, repair: governedRepair, read: governedRead };
