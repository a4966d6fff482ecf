// `baton abort`: stops a cast, and answers when nothing of it runs any more.
import type { Door } from '../../engine/door.ts';
import type { CastSummary } from '../../kernel/cast/summary.ts';
import { allow } from '../../kernel/verdict.ts';
import { type Call, EXIT, flag, out, outJson, Refused, text, UsageError } from '../command.ts';
import { endLeftovers, type Leftover } from '../leftovers.ts';
import { nameCast, withDoor } from '../looking.ts';
import { person } from '../session.ts';

export async function run(call: Call): Promise<number> {
  const reason = text(call.values, 'reason') ?? 'aborted by a person';
  const verdict = await withDoor(call, async (door, { stateDir }) => {
    const chosen = await choose(call, door);
    const casts = chosen.map(({ cast }) => cast);
    for (const cast of casts) {
      const answer = await door.submit({ kind: 'cast.abort', cast, reason }, person());
      // Of all the open ones, one may have ended by itself in the meantime.
      if (!answer.allow && !flag(call.values, 'all')) throw new Refused(answer);
    }
    const running = (await Promise.all(casts.map((cast) => endLeftovers(door, stateDir, cast)))).flat();
    const aborted = casts.length === 0 ? 'nothing runs or waits' : `aborted: ${casts.join(', ')}`;
    return running.length === 0
      ? allow(aborted, { casts })
      : allow(`${aborted}; still running: ${running.map(inWords).join(', ')}`, { casts, running });
  });
  if (call.json) outJson(verdict);
  else out(verdict.reason);
  return EXIT.ok;
}

function inWords({ cast, attempt, pids, host }: Leftover): string {
  if (attempt === null) return `the driver of ${cast} (process ${pids.join(', ')} on ${host})`;
  return `attempt ${attempt} of ${cast} (process ${pids.join(', ')})`;
}

/** Without a name: the one cast that is open. Which of several is never guessed. */
async function choose(call: Call, door: Door): Promise<readonly CastSummary[]> {
  const all = flag(call.values, 'all');
  const [word] = call.words;
  if (word !== undefined) {
    if (all) throw new UsageError('name a cast or say --all, not both');
    return [await nameCast(door, word)];
  }
  const open = await door.casts({ isOpen: true });
  if (all || open.length <= 1) return open;
  throw new UsageError(
    `${open.length} casts are open: ${open.map(({ cast }) => cast).join(', ')}; name one, or say --all`,
  );
}
