// The gaia dialect: an agent is told what to report and ends its answer with one agent_contract_handoff block.
import type { Dialect } from '../../kernel/dialect.ts';
import { gaiaBrief, gaiaRepair } from './brief.ts';
import { gaiaRead } from './read.ts';

export const gaia: Dialect = { brief: gaiaBrief, repair: gaiaRepair, read: gaiaRead };
