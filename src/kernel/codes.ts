// Every stable code of the product, in one table. HTTP status, CLI exit, `baton explain` and the docs read it and
// never restate it. A code never changes its meaning; a retired one keeps its row.
import { ACCESS_CODES } from './codes/access.ts';
import { AGENT_CODES } from './codes/agent.ts';
import { ALLOWED_CODES } from './codes/allowed.ts';
import { APPROVAL_CODES } from './codes/approval.ts';
import { EVIDENCE_CODES } from './codes/evidence.ts';
import { GAIA_CODES } from './codes/gaia.ts';
import { GAIA_REPORT_CODES } from './codes/gaia-report.ts';
import { GOVERNED_CODES } from './codes/governed.ts';
import { GRAPH_CODES } from './codes/graph.ts';
import { KNOWLEDGE_CODES } from './codes/knowledge.ts';
import { OPERATOR_CODES } from './codes/operator.ts';
import { OPERATOR_RULES } from './codes/operator-rules.ts';
import { SERVER_CODES } from './codes/server.ts';
import { WORKTREE_CODES } from './codes/worktree.ts';

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

/** All that can stand as the code of an answer: the one that allows, and those that refuse or remark. */
export const ANSWERS = { ...ALLOWED_CODES, ...CODES } as const;
