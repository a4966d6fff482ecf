// The agent_contract_handoff as a skill file: how an agent reports that works in a session of its own, without a brief. The
// rules are those of the brief and of the checks, from the same lists, so that a report made after it is one that passes.
import { briefFor } from '../../dialects/gaia/brief.ts';
import {
  APPROVAL_ADVISORY_KEYS,
  APPROVAL_BLOCKING_KEYS,
  OWNERSHIP_ASSESSMENTS,
  RISK_LEVELS,
  TAG,
} from '../../dialects/gaia/contract.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { CONSOLIDATION_KEYS } from '../../kernel/report/sections.ts';
import type { PlanStatus } from '../../kernel/report/status.ts';
import { IN_PROGRESS_MAX, LEGAL_TRANSITIONS, PLAN_STATUSES } from '../../kernel/report/status.ts';

export const SKILL = 'agent-contract-handoff';

/** By this line a file is known as ours. */
export const MARK =
  '<!-- Written by `baton install claude --skill`, which also replaces it; `baton install claude --skill --undo` removes it. -->';

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
    'Somebody else goes on with your work and sees nothing of it but your report. Nothing in it is believed that does not keep',
    'the rules below: a report that breaks one is given back with what is wrong, and nothing of it is used.',
    '',
    briefFor({ assign: {}, schema: null }, {}),
    '',
    ...orderLines(),
    '',
    ...approvalLines(),
    '',
    ...consolidationLines(),
    '',
    '## Before you send it',
    '- Name only commands that you ran: they are compared with those that were seen.',
    '- COMPLETE is for what you verified. That a command ended with exit code 0 is no verification of what it was for.',
    '- Write down what you did not look at in open_gaps; a gap that is named can be closed.',
    '- Check it, where baton is installed: `baton validate gaia FILE` answers with every rule that is broken.',
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

/** The example has exactly the fields that are asked for, also where one is added to the list. */
function approvalLines(): readonly string[] {
  const keys = [...APPROVAL_ADVISORY_KEYS, ...APPROVAL_BLOCKING_KEYS];
  const request = Object.fromEntries(keys.map((key) => [key, APPROVAL_EXAMPLE[key] ?? '…']));
  return [
    '## Asking for permission',
    `With APPROVAL_REQUEST the report has one more section. risk_level is one of ${RISK_LEVELS.join(', ')}:`,
    ...asJson({ approval_request: request }),
    'A person decides about exactly these words, once. Run nothing of it before, and nothing else after.',
    'Approved, it runs with `baton exec --approval ID -- …`, which compares it with what was approved: another word, folder or',
    'file is refused, and so is a second time. A rejected or expired one comes back with its reason: find another way, or ask anew.',
  ];
}

function consolidationLines(): readonly string[] {
  const report = Object.fromEntries(CONSOLIDATION_KEYS.map((key) => [key, CONSOLIDATION_EXAMPLE[key] ?? ['none']]));
  return [
    '## Working with others on one goal',
    'When you were told that a consolidation is required, the report has one more section. No field of it may be empty;',
    `["none"] says that there is nothing. ownership_assessment is one of ${OWNERSHIP_ASSESSMENTS.join(', ')}:`,
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
