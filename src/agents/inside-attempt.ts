// Whether this process was started by an agent or by something an agent started. Every attempt marks its environment, and a
// mark that was taken off here is still found in a process above.
import { readFileSync } from 'node:fs';
import { processTable } from './process/process-identity.ts';
import { MARK } from './process/process-tree.ts';

const MARKS = [MARK, 'BATON_ATTEMPT'];

export function isInsideAttempt(env: Readonly<Record<string, string | undefined>>, pid = process.pid): boolean {
  if (MARKS.some((name) => (env[name] ?? '') !== '')) return true;
  const parents = new Map(processTable().map((row) => [row.pid, row.ppid]));
  const seen = new Set<number>();
  for (let at = parents.get(pid) ?? 0; at > 1 && !seen.has(at); at = parents.get(at) ?? 0) {
    if (isMarked(at)) return true;
    seen.add(at);
  }
  return false;
}

function isMarked(pid: number): boolean {
  try {
    const variables = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
    return variables.some((variable) => MARKS.some((name) => variable.startsWith(`${name}=`)));
  } catch {
    return false; // It ended, is another user's, or the system does not tell.
  }
}
