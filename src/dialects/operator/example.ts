// The smallest payloads that keep the contract, one for each kind an agent is asked for. Briefs show them.
import type { JsonObject } from '../../kernel/json.ts';
import { OUTPUT_SCHEMA, PACKET_TYPE, SCHEMA_VERSION } from './contract.ts';

const HEAD = { schema_version: SCHEMA_VERSION, run_id: '3f56dc4d-35cf-4f97-925c-0b04a6fe8bf4' } as const;

export const EXAMPLE_RESULT: JsonObject = {
  ...HEAD,
  task_id: 'T-12',
  status: 'done',
  changes: [{ resource: 'tests/api.test.ts', action: 'edit', evidence: 'Added two endpoint tests' }],
  acceptance_check: [{ criterion: 'All endpoint tests pass', status: 'pass', evidence: 'npm test: 14 passed' }],
  worklog_path: 'worklogs/T-12.jsonl',
  notes_for_orchestrator: ['Ready for merge'],
};

export const EXAMPLE_ASSIGNMENT: JsonObject = {
  ...HEAD,
  packet_type: PACKET_TYPE,
  global_objective: 'Cover the API with tests',
  task: {
    task_id: 'T-12',
    title: 'Add endpoint tests',
    type: 'parallelizable',
    dependencies: [],
    lock_scope: ['tests/api.test.ts'],
    forbidden_scope: ['src'],
    acceptance_criteria: ['All endpoint tests pass'],
    worklog_path: 'worklogs/T-12.jsonl',
    timeout_seconds: 1200,
    heartbeat_interval_seconds: 120,
  },
  active_locks: [],
  context_package: [{ kind: 'file', value: 'src/api.ts' }],
  required_output_schema: OUTPUT_SCHEMA,
};

export const EXAMPLE_ENVELOPE: JsonObject = {
  ...HEAD,
  ledger_delta: [
    {
      task_id: 'T-12',
      status: 'todo',
      owner: 'unassigned',
      reason: 'Planned',
      delta_id: 'plan-T-12',
      x_create: true,
    },
  ],
  assignments: [EXAMPLE_ASSIGNMENT],
  active_locks: [],
  blockers: [],
  next_actions: ['Dispatch T-12'],
};
