// Whether an agent is behind whoever calls. Everything that only a person may do asks this and nothing else: the marks that
// every attempt leaves in the environment of what it starts, the processes above, and, where those were cut off, when the
// process began.
import { isInsideAttempt } from '../agents/inside-attempt.ts';
import { isLeftBehind } from './left-behind.ts';

/** `stateDir` is the state folder that is acted on; null where it is none. */
export function isAgent(env: NodeJS.ProcessEnv, stateDir: string | null, pid = process.pid): boolean {
  return isInsideAttempt(env, pid) || isLeftBehind({ env, stateDir }, pid);
}
