// `baton watch`: follows a cast until it stops, and listens to its agents while they work.
import type { CastNews } from '../../app/look-at-cast.ts';
import type { OperationEvent } from '../../app/operation.ts';
import { flat } from '../../app/views/flat-entry.ts';
import type { CastView } from '../../app/views/shown-cast.ts';
import { again, type Call, EXIT_CODE, flag, note, outJson, outJsonLine, Refused, UsageError } from '../command.ts';
import { exitForStatus, showEnd } from '../drive-operation.ts';
import type { Giving } from '../operation-command.ts';
import { type ProgressDisplay, progressFor } from '../progress.ts';
import { ended } from '../show-operation.ts';

export async function run(call: Call, giving: Giving): Promise<number> {
  const isStream = flag(call.values, 'jsonl');
  if (isStream && call.json) throw new UsageError('--json is one value and --jsonl a line for each event; choose one');
  const withFacts = flag(call.values, 'facts');
  if (withFacts && !isStream) throw new UsageError('--facts are lines between those of the agents; say --jsonl too');
  let progress: ProgressDisplay | null = null;
  const onEvent = (event: OperationEvent) => {
    if (event.kind === 'note') return note(event.text);
    if (event.kind !== 'value') return;
    const news = event.value as CastNews;
    if (news.kind === 'live') {
      const { turn, attempt, socket, event: live } = news;
      if (isStream) outJsonLine({ turn, attempt, socket, event: live });
      return progress?.hear(turn, live);
    }
    for (const entry of withFacts ? news.entries : []) outJsonLine(flat(entry));
    progress ??= progressFor(isStream ? { ...call, json: true } : call, news.cast);
    progress.take(news.entries);
  };
  const { signal } = new AbortController();
  const verdict = await ended(call, 'cast.watch', await giving(), { signal, onEvent });
  (progress as ProgressDisplay | null)?.stop();
  const { stands: _stands, ...rest } = verdict.details;
  const view = rest as unknown as CastView;
  if (!verdict.allow && view.cast === undefined) throw new Refused(verdict);
  if (isStream) outJsonLine(view);
  if (verdict.allow) return isStream ? exitForStatus(view.status) : showEnd(call, view);
  note(`Nobody drives cast ${view.cast}: its process is gone. Carry on with: ${again(call)} resume ${view.cast}`);
  if (call.json) outJson(view);
  return EXIT_CODE.denied;
}
