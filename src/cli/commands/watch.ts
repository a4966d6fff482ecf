// `baton watch`: follows a cast until it stops, and listens to its agents while they work.
import { lookerWith } from '../../access/actor.ts';
import { attemptIn } from '../../access/attempt.ts';
import type { CastNews } from '../../app/follow-cast.ts';
import type { OperationEvent } from '../../app/operation.ts';
import { perform } from '../../app/perform.ts';
import { flat } from '../../app/views/flat-entry.ts';
import type { CastView } from '../../app/views/shown-cast.ts';
import { again, type Call, EXIT, flag, note, outJson, outJsonLine, UsageError } from '../command.ts';
import { exitOf, showEnd } from '../ending.ts';
import { withWorkspace } from '../open-workspace.ts';
import { type Progress, progressFor } from '../progress.ts';

export async function run(call: Call): Promise<number> {
  const isStream = flag(call.values, 'jsonl');
  if (isStream && call.json) throw new UsageError('--json is one value and --jsonl a line for each event; choose one');
  const withFacts = flag(call.values, 'facts');
  if (withFacts && !isStream) throw new UsageError('--facts are lines between those of the agents; say --jsonl too');
  let progress: Progress | null = null;
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
  const given = { cast: call.words[0], turns: flag(call.values, 'turns') };
  const { allow, details } = await withWorkspace(call, (workspace) => {
    const actor = lookerWith(attemptIn(workspace.env, workspace.stateDir));
    return perform(workspace, 'cast.watch', given, { actor, signal: new AbortController().signal, onEvent });
  });
  (progress as Progress | null)?.stop();
  const { stands: _stands, ...rest } = details;
  const view = rest as unknown as CastView;
  if (isStream) outJsonLine(view);
  if (allow) return isStream ? exitOf(view.status) : showEnd(call, view);
  note(`Nobody drives cast ${view.cast}: its process is gone. Carry on with: ${again(call)} resume ${view.cast}`);
  if (call.json) outJson(view);
  return EXIT.denied;
}
