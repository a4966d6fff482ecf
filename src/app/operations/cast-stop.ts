// Stops a cast: for now, or for good.
import type { CastSummary } from '../../kernel/cast/summary.ts';
import { allow } from '../../kernel/verdict.ts';
import { UsageError } from '../../workspace/locate.ts';
import { endLeftovers, type Leftover } from '../leftovers.ts';
import { nameCast } from '../name-cast.ts';
import type { WorkspaceStore } from '../store.ts';
import type { Operation } from './table.ts';

/** Pauses a cast that runs: whoever drives it stops its agents and lets go of it. */
export const castPause: Operation<'cast.pause'> = async (
  workspace,
  { cast: word, reason = 'paused by a person' },
  { actor },
) => {
  const store = workspace.castStore();
  const { cast } = await nameCast(store, word, workspace.program);
  const verdict = await store.submit({ kind: 'cast.pause', cast, reason }, actor);
  return verdict.allow
    ? allow(`cast ${cast} is paused; \`${workspace.program} continue ${cast}\` carries it on`, { cast })
    : verdict;
};

/** Stops a cast, and answers when nothing of it runs any more. */
export const castAbort: Operation<'cast.abort'> = async (workspace, input, { actor }) => {
  const { cast: word, all = false, reason = 'aborted by a person' } = input;
  const store = workspace.castStore();
  const casts = (await chosen(store, word, all, workspace.program)).map(({ cast }) => cast);
  for (const cast of casts) {
    const answer = await store.submit({ kind: 'cast.abort', cast, reason }, actor);
    // Of all the open ones, one may have ended by itself in the meantime.
    if (!answer.allow && !all) return answer;
  }
  const running = (await Promise.all(casts.map((cast) => endLeftovers(store, workspace.stateDir, cast)))).flat();
  const aborted = casts.length === 0 ? 'nothing runs or waits' : `aborted: ${casts.join(', ')}`;
  return running.length === 0
    ? allow(aborted, { casts })
    : allow(`${aborted}; still running: ${running.map(inWords).join(', ')}`, { casts, running });
};

function inWords({ cast, attempt, pids, host }: Leftover): string {
  if (attempt === null) return `the driver of ${cast} (process ${pids.join(', ')} on ${host})`;
  return `attempt ${attempt} of ${cast} (process ${pids.join(', ')})`;
}

/** Without a name: the one cast that is open. Which of several is never guessed. */
async function chosen(
  store: WorkspaceStore,
  word: string | undefined,
  all: boolean,
  program: string,
): Promise<readonly CastSummary[]> {
  if (word !== undefined) {
    if (all) throw new UsageError('name a cast or say --all, not both');
    return [await nameCast(store, word, program)];
  }
  const open = await store.view('casts', { isOpen: true });
  if (all || open.length <= 1) return open;
  throw new UsageError(
    `${open.length} casts are open: ${open.map(({ cast }) => cast).join(', ')}; name one, or say --all`,
  );
}
