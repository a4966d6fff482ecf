// The gaia dialect: an agent is told what to report, ends its answer with one agent_contract_handoff block, and nothing
// it reports is believed before the block has kept its contract.
import type { Dialect } from '../../kernel/dialect.ts';
import { brief } from './brief.ts';
import { read } from './read.ts';
import { repair } from './repair.ts';

export const gaia: Dialect = { brief, repair, read };

export { briefFor, type Situation } from './brief.ts';
export { PLAN_STATUSES, type PlanStatus } from './contract.ts';
export { buildInput, consolidationRequired, type InputEnvelope, type InputParts } from './input.ts';
export { type MergeRequest, mergeContracts } from './merge.ts';
export { readReport } from './read.ts';
export { normaliseReference, normaliseRemoteUrl } from './repo-reference.ts';
export type { Given } from './report.ts';
export { REPORT_SCHEMA } from './schema.ts';
export {
  follow,
  IN_PROGRESS_MAX,
  judgeTransitions,
  LEGAL_TRANSITIONS,
  NOT_STARTED,
  type Progress,
  SET_TO_WORK,
} from './transition.ts';
export { validateGaia, validateMerge, validateTransition } from './validate.ts';
