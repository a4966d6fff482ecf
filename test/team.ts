// A team for tests: an orchestrator that assigns tasks, workers that do them side by side, and the words they say.
import type { Json, JsonObject } from '../src/kernel/json.ts';
import { always, exit, graph } from './loadouts.ts';

export const RUN = '3f56dc4d-35cf-4f97-925c-0b04a6fe8bf4';
const HEAD = { schema_version: '1.0.0', run_id: RUN };

/** An orchestrator assigns (1), workers do the tasks side by side (2), somebody sums up (3). */
export const TEAM = graph(
  {
    'Socket-1': { materia: 'Lead', contract: 'operator', edges: [always('Socket-2')] },
    'Socket-2': {
      materia: 'Worker',
      contract: 'operator',
      advance: { cursor: 'workItemIndex', items: 'state.workItems', when: 'satisfied' },
      edges: [always('Socket-2')],
    },
    'Socket-3': { materia: 'Sum' },
  },
  {
    loops: {
      work: {
        sockets: ['Socket-2'],
        consumes: { from: 'Socket-1', output: 'workItems' },
        exits: [exit('Socket-2', 'always', 'Socket-3')],
      },
    },
    materia: {
      Lead: { prompt: 'Assign it.', tools: 'readOnly', generator: true },
      Worker: { prompt: 'Do it.', tools: 'coding' },
      Sum: { prompt: 'Sum up.', tools: 'none' },
    },
  },
);

export type Wish = { readonly id: string } & JsonObject;

export function envelope(...wishes: Wish[]): Json {
  const assignments = wishes.map(({ id, ...task }) => ({
    ...HEAD,
    packet_type: 'assignment',
    global_objective: 'Ship it',
    task: {
      task_id: id,
      title: `Task ${id}`,
      type: 'parallelizable',
      dependencies: [],
      lock_scope: [`src/${id}.ts`],
      forbidden_scope: [],
      acceptance_criteria: ['it works'],
      worklog_path: `worklogs/${id}.jsonl`,
      timeout_seconds: 600,
      heartbeat_interval_seconds: 60,
      ...task,
    },
    active_locks: [],
    context_package: [],
    required_output_schema: 'subagent_result_v1',
  }));
  const ledger_delta = wishes.map(({ id }) => ({
    task_id: id,
    status: 'todo',
    owner: 'unassigned',
    reason: 'planned',
    delta_id: `plan-${id}`,
    x_create: true,
  }));
  return { ...HEAD, ledger_delta, assignments, active_locks: [], blockers: [], next_actions: [] };
}

export function result(id: string, over: JsonObject = {}): JsonObject {
  return {
    ...HEAD,
    task_id: id,
    status: 'done',
    changes: [],
    acceptance_check: [{ criterion: 'it works', status: 'pass', evidence: 'ran it' }],
    worklog_path: `worklogs/${id}.jsonl`,
    notes_for_orchestrator: [],
    ...over,
  };
}
