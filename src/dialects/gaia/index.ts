// The gaia dialect: an agent is told what to report and ends its answer with one agent_contract_handoff block.
import type { Dialect } from '../../kernel/dialect.ts';
import { brief, repair } from './brief.ts';
import { read } from './read.ts';

export const gaia: Dialect = { brief, repair, read };
