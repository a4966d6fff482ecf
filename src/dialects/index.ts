// All dialects by the name with which a socket chooses them. Each tells an agent what to return and reads what comes back.
import type { Dialect } from '../kernel/dialect.ts';
import type { Dialects } from '../kernel/state.ts';
import { gaiaBrief, gaiaRepair } from './gaia/brief.ts';
import { gaiaRead } from './gaia/read.ts';
import { materiaBrief, materiaRepair } from './materia/brief.ts';
import { readMateria } from './materia/read.ts';
import { operatorBrief, operatorRepair } from './operator/brief.ts';
import { operatorRead } from './operator/read.ts';

/** An agent does the work and ends its answer with one agent_contract_handoff block. */
export const gaia: Dialect = { brief: gaiaBrief, repair: gaiaRepair, read: gaiaRead };

/** A small JSON object with `workItems`, `satisfied` and `context`, and what its socket assigns. */
export const materia: Dialect = { brief: materiaBrief, repair: materiaRepair, read: readMateria };

/** Orchestrators plan in envelopes, subagents answer in results. */
export const operator: Dialect = { brief: operatorBrief, repair: operatorRepair, read: operatorRead };

const TEXT_BRIEF = 'Return a concise plain-text result.';

/** The answer is the handoff as it is. Nothing in it can steer a guarded edge. */
export const textDialect: Dialect = {
  brief: () => TEXT_BRIEF,
  // Reading text never refuses. A gate may, and then the agent gets the reason.
  repair: ({ reason }) => `Your previous result was not accepted: ${reason}\n\n${TEXT_BRIEF}`,
  read: (raw) => ({ ok: true, handoff: { outcome: 'done', satisfied: null, payload: raw } }),
};

export const dialects: Dialects = { materia, gaia, operator, text: textDialect };
