// Whether an agent is offered our own tools in a turn: then it may hand its work on by a call and be told at once what is
// wrong with it. The brief says so, and the runner gives its program the server; both ask here.

import { dialectCan, runnerCan } from '../capabilities.ts';
import { reportsStatus } from '../gate/status.ts';
import type { Cast, Turn } from '../state.ts';
import { chosenMateria } from './choice.ts';
import { isScripted } from './script.ts';

export function offersTools(cast: Cast, turn: Pick<Turn, 'socket' | 'choice'>): boolean {
  const materia = chosenMateria(cast, turn);
  if (materia.type === 'utility' || materia.mcp === false || isScripted(cast, turn.socket)) return false;
  // In a sandbox the folder of the attempt cannot be written, so nothing could be handed in.
  return runnerCan(cast.rules, materia.runner, 'callsTools') && materia.sandbox === undefined;
}

type Offered = Pick<Turn, 'socket' | 'task'>;

/** Which of our tools a turn is offered: each one costs its agent words in every request. */
export const OFFERED_TOOLS: readonly {
  readonly tools: readonly string[];
  readonly isFor: (cast: Cast, turn: Offered) => boolean;
}[] = [
  { tools: ['submit_handoff', 'read_context'], isFor: () => true },
  // The turn works on a task of the ledger, or reports in the words of one.
  {
    tools: ['heartbeat', 'worklog_add', 'lock_check', 'lock_request'],
    isFor: ({ rules }, { socket, task }) =>
      task !== null || dialectCan(rules, rules.graph.sockets[socket]?.contract, 'reportsTask'),
  },
  // Only a report with a status can ask for permission.
  { tools: ['request_approval', 'run_approved'], isFor: (cast, { socket }) => reportsStatus(cast, socket) },
];

export function offeredTools(cast: Cast, turn: Offered): readonly string[] {
  return OFFERED_TOOLS.flatMap(({ tools, isFor }) => (isFor(cast, turn) ? tools : []));
}

/** Said in the brief where the offer is made. */
export const OFFER =
  'You may hand this answer in with the tool `submit_handoff` of the server `baton`, which tells you at once what is wrong with it, ' +
  'or return it as your last message. What the tool has accepted counts; without such a call your last message is read.';
