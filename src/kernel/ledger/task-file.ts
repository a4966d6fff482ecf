// The files that a packet names for its task: the worklog, which we write, and the report, which the agent writes and we read.
// Both may lie outside of the task's paths, and the names come from an agent that plans. So neither may be a file that a
// program obeys: each has its own places and endings, and no name in the path begins with a dot.
import { type Denied, deny } from '../verdict.ts';
import { normalPath, PATH_FAULTS } from './path.ts';
import { coverOf } from './path-key.ts';
import type { TaskSpec } from './state.ts';

const WORKLOG = { folders: ['worklogs'], endings: ['.jsonl'], example: 'worklogs/T-12.jsonl' };
const REPORT = { folders: ['reports', 'outputs'], endings: ['.md', '.json'], example: 'reports/T-12.md' };

type Kind = typeof WORKLOG;
type Named = Pick<TaskSpec, 'worklogPath' | 'reportPath' | 'lockScope'>;
type Reading = { readonly ok: true; readonly path: string } | { readonly ok: false; readonly fault: string };

/** Why the files that a packet names cannot be those of its task; null where they can. */
export function refusalOfTaskFiles(id: string, spec: Named): Denied | null {
  const { worklogPath, reportPath } = spec;
  const wanted = [
    ['task.worklog_path', worklogPath === '' ? null : worklogPath, worklogIn(spec)],
    ['task.report_path', reportPath, reportIn(spec)],
  ] as const;
  for (const [path, written, reading] of wanted) {
    if (written === null || reading.ok) continue;
    const reason = `${path} of ${id}, ${JSON.stringify(written.slice(0, SHOWN_MAX))}, ${reading.fault}.`;
    return deny('SCOPE_VIOLATION', reason, { task: id, path, resource: written });
  }
  return null;
}

/** The files of a task that it may have outside of its paths, in normal form. Tasks of older versions may name others. */
export function filesOf(task: Named): readonly string[] {
  return [worklogIn(task), reportIn(task)].flatMap((reading) => (reading.ok ? [reading.path] : []));
}

/** The report in normal form, or null where the task has none that may be read. */
export function reportOf(task: Named): string | null {
  const reading = reportIn(task);
  return reading.ok ? reading.path : null;
}

/** Whether a path may be the worklog of a task. */
export function isWorklogPath(path: string): boolean {
  return read(path, WORKLOG, () => false).ok;
}

const SHOWN_MAX = 200;

function worklogIn({ worklogPath }: Named): Reading {
  return read(worklogPath, WORKLOG, () => false);
}

/** What the task may write anyway may be its report. */
function reportIn({ reportPath, lockScope }: Named): Reading {
  return read(reportPath ?? '', REPORT, coverOf(lockScope));
}

function read(written: string, { folders, endings, example }: Kind, isWritable: (path: string) => boolean): Reading {
  const normal = normalPath(written);
  if (!normal.ok) return { ok: false, fault: PATH_FAULTS[normal.fault] };
  const { path } = normal;
  const names = path.split('/');
  if (path.startsWith('/')) return { ok: false, fault: PATH_FAULTS.escapes };
  if (names.some((name) => name.startsWith('.'))) {
    return { ok: false, fault: 'has a name that begins with a dot, as the settings of programs have; choose another' };
  }
  const isPlaced = names.slice(0, -1).some((name) => folders.includes(name));
  if (isWritable(path) || (isPlaced && endings.some((ending) => path.endsWith(ending)))) return { ok: true, path };
  const place = `must end in ${endings.join(' or ')} below a folder ${folders.join(' or ')}, like ${example}`;
  return { ok: false, fault: place };
}
