// The skill file for agents that report without a brief: the rules of an agent_contract_handoff, made from the same lists as
// the brief and the checks. Baton never overwrites a skill file that it did not write.

import { gaiaBriefFor } from '../../dialects/gaia/brief.ts';
import {
  APPROVAL_ADVISORY_KEYS,
  APPROVAL_BLOCKING_KEYS,
  OWNERSHIP_ASSESSMENTS,
  RISK_LEVELS,
  TAG,
} from '../../dialects/gaia/contract.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { CONSOLIDATION_KEYS } from '../../kernel/report/sections.ts';
import { IN_PROGRESS_MAX, LEGAL_TRANSITIONS, PLAN_STATUSES, type PlanStatus } from '../../kernel/report/status.ts';
import { deny } from '../../kernel/verdict.ts';
import type { Host } from './host.ts';

const SKILL = 'agent-contract-handoff';

/** A file with this line is ours. */
const MARK =
  '<!-- Written by `baton install claude --skill`, which also replaces it; `baton install claude --skill --undo` removes it. -->';

export const skillHost: Host = {
  name: 'claude --skill',
  files: [`.claude/skills/${SKILL}/SKILL.md`],
  notes: ['Claude Code reads skills when a session begins.'],
  add(file, text) {
    if (text !== null)
      return deny('NOT_ALLOWED_NOW', `${file} was not written by Baton; rename or remove it first`, { file });
    return skillText();
  },
  remove: (_, text) => (text.includes(MARK) ? null : text),
};

export function skillText(): string {
  return `${[
    '---',
    `name: ${SKILL}`,
    `description: How to end a piece of work with an ${TAG} report. Use it when you finish, pause, are stuck, need an answer or need permission, and whenever somebody asks for an ${TAG} block.`,
    '---',
    '',
    MARK,
    '',
    '# Handing work over',
    '',
    'Another agent or person continues your work and sees only your report. A report that breaks a rule below is returned with',
    'the reasons, and nothing in it is used.',
    '',
    gaiaBriefFor({ assign: {}, schema: null }, {}),
    '',
    ...orderLines(),
    '',
    ...approvalLines(),
    '',
    ...consolidationLines(),
    '',
    '## Before you send it',
    '- Name only commands that you ran. They are compared with the commands that were seen.',
    '- Use COMPLETE only for what you verified. Exit code 0 alone verifies nothing.',
    '- List in open_gaps what you did not check.',
    '- If baton is installed, run `baton validate gaia FILE`. It lists every broken rule.',
  ].join('\n')}\n`;
}

function orderLines(): readonly string[] {
  const isSame = (status: PlanStatus) => LEGAL_TRANSITIONS[status].length === PLAN_STATUSES.length;
  return [
    '## Which status may follow which',
    'Your first report may have any status. After that:',
    ...PLAN_STATUSES.map(
      (status) => `- after ${status}: ${isSame(status) ? 'any of them' : LEGAL_TRANSITIONS[status].join(', ')}`,
    ),
    `At most ${IN_PROGRESS_MAX} IN_PROGRESS in a row; then finish, ask, or say what blocks you.`,
  ];
}

const APPROVAL_EXAMPLE: Readonly<Record<string, string>> = {
  operation: 'apply the reviewed plan',
  exact_content: 'terraform apply plan.out',
  scope: 'the staging cluster',
  risk_level: 'HIGH',
  rollback: 'terraform apply previous.out',
  verification: 'the health check answers 200',
};

/** The example has exactly the required fields, because it is made from their list. */
function approvalLines(): readonly string[] {
  const keys = [...APPROVAL_ADVISORY_KEYS, ...APPROVAL_BLOCKING_KEYS];
  const request = Object.fromEntries(keys.map((key) => [key, APPROVAL_EXAMPLE[key] ?? '…']));
  return [
    '## Asking for permission',
    `With APPROVAL_REQUEST the report has one more section. risk_level is one of ${RISK_LEVELS.join(', ')}:`,
    ...asJson({ approval_request: request }),
    'A person decides about exactly this text, once. Run nothing before the decision, and nothing else after it.',
    'An approved command runs with `baton exec --approval ID -- …`. A different word, folder or file is refused, and so is a',
    'second run. After a rejection or an expiry you get the reason: find another way, or ask again.',
  ];
}

function consolidationLines(): readonly string[] {
  const report = Object.fromEntries(CONSOLIDATION_KEYS.map((key) => [key, CONSOLIDATION_EXAMPLE[key] ?? []]));
  return [
    '## Working with others on one goal',
    'If a consolidation is required, the report has one more section. No field may be left out;',
    `use [] where there is nothing. ownership_assessment is one of ${OWNERSHIP_ASSESSMENTS.join(', ')}:`,
    ...asJson({ consolidation_report: report }),
  ];
}

const CONSOLIDATION_EXAMPLE: JsonObject = {
  ownership_assessment: 'owned_here',
  confirmed_findings: ['the fault is in src/auth.ts'],
  next_best_agent: 'none',
};

function asJson(value: JsonObject): readonly string[] {
  return ['```json', JSON.stringify(value, null, 2), '```'];
}
