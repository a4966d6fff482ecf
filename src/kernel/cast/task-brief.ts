// What an agent with a task is told about the worklog and the report of that task, where it can write them: by our own tools,
// or by a shell.
import { runnerCan } from '../capabilities.ts';
import type { Task } from '../ledger/state.ts';
import type { Cast, Turn } from '../state.ts';
import { chosenMateria } from './choice.ts';
import { offersTools } from './offer.ts';
import { isScripted } from './script.ts';

export function recordsToKeep(cast: Cast, turn: Pick<Turn, 'socket' | 'choice'>, task: Task): string {
  const { id, worklogPath, reportPath } = task;
  const isAble = hasShell(cast, turn);
  const how = offersTools(cast, turn) ? BY_TOOL : isAble ? byCommand(id) : '';
  return [...(how === '' || worklogPath === '' ? [] : [how]), ...(reportPath === null || !isAble ? [] : [REPORT])].join(
    ' ',
  );
}

const WHEN = 'After each meaningful step, and before you give up, add one entry to the worklog of the task';
const HOW =
  'Never write to worklog_path yourself, and put no secret into an entry. An entry before a blocked or failed result has a code and a next_step.';
const BY_TOOL = `${WHEN} with the tool \`worklog_add\` of the server \`baton\`. ${HOW}`;
const REPORT = 'Before you answer, write the result you answer with to report_path as well.';

function byCommand(id: string): string {
  const fields = 'timestamp (in UTC), run_id, task_id, actor, action, files_touched, decision, result and next_step';
  return `${WHEN} with the command \`baton worklog add ${id} -\`, which reads one JSON object with ${fields}. ${HOW}`;
}

/** In a sandbox the ledger is out of reach. */
function hasShell(cast: Cast, turn: Pick<Turn, 'socket' | 'choice'>): boolean {
  const materia = chosenMateria(cast, turn);
  if (materia.type === 'utility' || isScripted(cast, turn.socket)) return false;
  const runs = materia.tools === 'coding' || materia.tools === 'readAndRun';
  return runs && runnerCan(cast.rules, materia.runner, 'hasShell') && materia.sandbox === undefined;
}
