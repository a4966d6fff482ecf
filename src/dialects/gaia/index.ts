// The gaia dialect: an agent is told what to report, ends its answer with one agent_contract_handoff block, and nothing
// it reports is believed before the block has kept its contract.
import type { Dialect } from '../../kernel/dialect.ts';
import { brief, repair } from './brief.ts';
import { read } from './read.ts';

export const gaia: Dialect = { brief, repair, read };
