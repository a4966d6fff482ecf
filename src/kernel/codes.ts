// Every stable code of the product, in one table. HTTP status, CLI exit, `baton explain` and the docs read it and
// never restate it. A code never changes its meaning; a retired one keeps its row.
import { GOVERNED_CODES } from './codes/governed.ts';
import { GRAPH_CODES } from './codes/graph.ts';
import { OPERATOR_CODES, OPERATOR_RULES } from './codes/operator.ts';
import { ALLOWED_CODES } from './codes/row.ts';
import { APPROVAL_CODES, KNOWLEDGE_CODES } from './codes/team.ts';
import { AGENT_CODES, GAIA_CODES, GAIA_REPORT_CODES } from './codes/turn.ts';
import { ACCESS_CODES, EVIDENCE_CODES, SERVER_CODES, WORKTREE_CODES } from './codes/workspace.ts';

export const CODES = {
  ...GRAPH_CODES,
  ...AGENT_CODES,
  ...GAIA_CODES,
  ...GAIA_REPORT_CODES,
  ...KNOWLEDGE_CODES,
  ...OPERATOR_CODES,
  ...OPERATOR_RULES,
  ...GOVERNED_CODES,
  ...EVIDENCE_CODES,
  ...WORKTREE_CODES,
  ...APPROVAL_CODES,
  ...ACCESS_CODES,
  ...SERVER_CODES,
} as const;

export type Code = keyof typeof CODES;

/** Every code of an answer: the one that allows, and those that refuse or remark. */
export const ANSWERS = { ...ALLOWED_CODES, ...CODES } as const;
