// How the answers of the ledger are shown.
import type { Given } from '../../app/perform.ts';
import { isText, type JsonObject } from '../../kernel/json.ts';
import { isTaskStatus, isTerminal } from '../../kernel/ledger/state.ts';
import { again, type Call } from '../command.ts';
import { table } from '../table.ts';
import { type Forms, rowsIn } from './form.ts';

export const forms: Forms = {
  'task.list': { value: 'tasks', lines: taskLines },
  'lock.list': { value: 'locks', lines: lockLines },
  'worklog.show': { value: 'entries', lines: ({ entries }) => rowsIn(entries).map(worklogLine) },
  bundle: { value: 'bundle' },
};

function taskLines({ tasks }: JsonObject, call: Call, { status }: Given): readonly string[] {
  const rows = rowsIn(tasks);
  if (rows.length === 0)
    return [`No task${status ? ` is ${String(status)}` : ' yet'}. Create one with: ${again(call)} task create FILE`];
  const titles = ['task', 'status', 'owner', 'priority', 'title', 'why'];
  // Tasks of several runs may have the same id; then the run is shown, too.
  if (new Set(rows.map(({ run_id }) => run_id)).size < 2) return table(rows.map(taskCells), titles);
  return table(
    rows.map((row) => [String(row.run_id), ...taskCells(row)]),
    ['run', ...titles],
  );
}

/** How a task ended, or why it stands; that a person ended it without evidence is to be seen here. */
function taskCells({ task_id, status, owner, priority, title, code, reason }: JsonObject): readonly string[] {
  const isToldOf = isTaskStatus(status) && (isTerminal(status) || code !== null);
  const why = [code, isToldOf ? reason : null].filter((part) => isText(part)).join(': ');
  return [task_id, status, owner, priority, title, why].map(String);
}

function lockLines({ locks }: JsonObject): readonly string[] {
  const rows = rowsIn(locks);
  if (rows.length === 0) return ['No path is locked.'];
  const cells = rows.map(({ path, mode, task, owner, fence, since, until }) =>
    [path, mode, task, owner, fence, since, until ?? ''].map(String),
  );
  return table(cells, ['path', 'mode', 'task', 'owner', 'fence', 'since', 'until']);
}

function worklogLine({ timestamp, actor, action, result, code, next_step: next }: JsonObject): string {
  const why = code === undefined ? '' : ` (${String(code)})`;
  return `${String(timestamp)}  ${String(actor)}  ${String(action)}: ${String(result)}${why}. Next: ${String(next)}`;
}
