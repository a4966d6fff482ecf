// The text dialect: whatever an agent says is the handoff, and nothing in it can steer a guarded edge.
import type { Contract, Dialect, Reading } from '../../kernel/dialect.ts';
import type { Denied } from '../../kernel/verdict.ts';

const BRIEF = 'Return a concise plain-text result.';

export const textDialect: Dialect = {
  brief: (_contract: Contract): string => BRIEF,
  // Reading text never refuses; a gate may, and then the agent should know why.
  repair: (refusal: Denied): string => `Your previous result was not accepted: ${refusal.reason}\n\n${BRIEF}`,
  read: (raw: string): Reading => ({ ok: true, handoff: { outcome: 'done', satisfied: null, payload: raw } }),
};
