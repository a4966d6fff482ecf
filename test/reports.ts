// Reports that keep the agent_contract_handoff, for tests that need agents to report with a status.
import type { Json, JsonObject } from '../src/kernel/json.ts';
import type { PlanStatus } from '../src/kernel/report/status.ts';

export type { PlanStatus } from '../src/kernel/report/status.ts';

export type Parts = {
  readonly agent_id?: string;
  readonly next_action?: string;
  readonly pending_steps?: readonly string[];
  readonly key_outputs?: readonly string[];
  readonly open_gaps?: readonly string[];
  readonly commands_run?: readonly Json[];
  /** Anything else, at the top of the report. */
  readonly more?: JsonObject;
};

export function reportOf(status: PlanStatus, parts: Parts = {}) {
  const { agent_id = 'a0c0ffee', next_action = 'done', pending_steps = [], key_outputs = [], open_gaps = [] } = parts;
  return {
    agent_status: { plan_status: status, agent_id, pending_steps: [...pending_steps], next_action },
    evidence_report: {
      patterns_checked: [],
      files_checked: [],
      commands_run: [...(parts.commands_run ?? [])],
      key_outputs: [...key_outputs],
      verbatim_outputs: [],
      cross_layer_impacts: [],
      open_gaps: [...open_gaps],
      ...(status === 'COMPLETE' ? { verification: { method: 'test', result: 'pass', details: 'seen' } } : {}),
    },
    ...(parts.more ?? {}),
  };
}

export function asBlock(report: Json): string {
  return `Here is my report.\n\n\`\`\`agent_contract_handoff\n${JSON.stringify(report, null, 2)}\n\`\`\`\n`;
}
