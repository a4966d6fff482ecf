// One cast, for a reader: as it is now, as it goes on, or when it ends.
import type { Json } from '../../kernel/json.ts';
import { deny } from '../../kernel/verdict.ts';
import { followToEnd, loadView } from '../look-at-cast.ts';
import { nameCast } from '../name-cast.ts';
import { castVerdict } from '../views/shown-cast.ts';
import type { Operation } from './table.ts';

/** One cast, as it is now. What it produced comes first. */
export const castShow: Operation<'cast.show'> = async (workspace, { cast: word, turns = false }) => {
  const store = workspace.castStore();
  const { cast } = await nameCast(store, word, workspace.program);
  return castVerdict(await loadView(store, cast, turns, workspace.dir, workspace.program));
};

/** A cast whose agents are silent goes on, too. */
const TELL_EVERY_MS = 5_000;

/** Timers of the runtime count no further. */
const SECONDS_MAX = 2_147_483;

/** Waits for a cast, with an end in time: whoever waits may leave and come back, and nothing is lost. */
export const castWait: Operation<'cast.wait'> = async (workspace, { cast, timeout_seconds: seconds }, context) => {
  const { onEvent } = context;
  if (seconds !== undefined && !(seconds >= 0 && seconds <= SECONDS_MAX))
    return deny('BAD_USAGE', `timeout_seconds must be from 0 to ${SECONDS_MAX}; leave it out to wait on`);
  const times = seconds === undefined ? [] : [AbortSignal.timeout(Math.round(seconds * 1000))];
  const telling = setInterval(() => onEvent({ kind: 'note', text: `cast ${cast ?? 'latest'} runs` }), TELL_EVERY_MS);
  try {
    return await followToEnd(workspace, cast, {
      signal: AbortSignal.any([context.signal, ...times]),
      tell: (news) => news.kind === 'live' && onEvent({ kind: 'value', value: news as Json }),
    });
  } finally {
    clearInterval(telling);
  }
};

/** Follows a cast and tells everything that happens in it, from its first entry on. */
export const castWatch: Operation<'cast.watch'> = (workspace, { cast, turns }, { signal, onEvent }) =>
  followToEnd(workspace, cast, { turns, signal, tell: (news) => onEvent({ kind: 'value', value: news as Json }) });
