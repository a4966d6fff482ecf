// Waits for a cast, with an end in time: whoever waits may leave and come back, and nothing is lost.
import type { Json } from '../../kernel/json.ts';
import { deny } from '../../kernel/verdict.ts';
import { followToEnd } from '../look-at-cast.ts';
import type { Run } from '../operation.ts';
import type { FieldsOf } from './table.ts';

/** A cast whose agents are silent goes on, too. */
const TELL_EVERY_MS = 5_000;

/** Timers of the runtime count no further. */
const SECONDS_MAX = 2_147_483;

export const run: Run<FieldsOf<'cast.wait'>> = async (workspace, { cast, timeout_seconds: seconds }, context) => {
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
