// Waiting for a cast that a background process drives, and hearing meanwhile what happens in it: `baton watch`, read line by
// line. Who waits may leave at any time and come back; nothing is lost but what the agents said meanwhile.
import type { LiveEvent } from '../engine/ports.ts';
import { type ItemCounts, itemsText } from '../kernel/cast/item-count.ts';
import type { Entry, Fact } from '../kernel/fact.ts';
import { isObject, isString, type Json, type JsonObject } from '../kernel/json.ts';
import { allow, deny, type Verdict } from '../kernel/verdict.ts';
import { type CommandLine, refusalOf, type Said } from './command-line.ts';

/** An entry of the log as `baton log --json` prints it: the members of its fact stand beside its own. */
export type LoggedFact = Omit<Entry, 'fact'> & Fact;

/** Something an agent does right now. Some of these are missed, and none is in the log. */
export type LiveNews = {
  readonly kind: 'live';
  readonly turn: number;
  readonly attempt: number;
  readonly socket: string;
  readonly event: LiveEvent;
};

export type CastNews = { readonly kind: 'fact'; readonly fact: LoggedFact } | LiveNews;

export type CastWait = {
  /** Without it there is no end but the cast's own. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  readonly hear?: (news: CastNews) => void;
  /** Facts too, from the cast's first one on. */
  readonly withFacts?: boolean;
};

/** The verdict holds the cast as it stands; `details.stands` is false where the time was over first. */
export async function castWait(baton: CommandLine, cast: string, how: CastWait = {}): Promise<Verdict> {
  const { timeoutMs, signal, hear, withFacts = false } = how;
  const ends = [...(timeoutMs === undefined ? [] : [AbortSignal.timeout(timeoutMs)]), ...(signal ? [signal] : [])];
  const over = AbortSignal.any(ends);
  const said = await baton(['watch', ...(withFacts ? ['--facts'] : []), '--', cast], {
    signal: over,
    hear(line) {
      const news = newsIn(line);
      if (news) hear?.(news);
    },
  });
  const view = viewIn(said);
  if (view?.status === 'running') return undriven(view);
  if (view) return shown(view);
  const now = await baton(['show', '--', cast]);
  const standing = viewIn(now);
  if (!standing) return refusalOf(now);
  return over.aborted ? shown(standing) : refusalOf(said);
}

/** The cast that `cast`, `show` and `watch` print; facts of a cast look different. */
export function viewIn({ value }: Said): JsonObject | null {
  return isObject(value) && isString(value.cast) && isString(value.status) && value.seq === undefined ? value : null;
}

/** What the cast produced comes first in the details. */
export function shown(view: JsonObject): Verdict {
  const why = isString(view.code) ? ` (${view.code}): ${String(view.reason)}` : '';
  const items = isObject(view.items) ? `; ${itemsText(view.items as ItemCounts)}` : '';
  const details = { result: view.result ?? null, ...view, stands: view.status !== 'running' };
  return allow(`cast ${String(view.cast)} is ${String(view.status)}${why}${items}${notRun(view.notRun)}`, details);
}

/** The commands that agents asked to run and that did not run. */
function notRun(list: Json | undefined): string {
  const told = (Array.isArray(list) ? list.filter(isObject) : []).map((one) => `${one.outcome}: ${one.command}`);
  return told.map((each) => `; ${each}`).join('');
}

function newsIn(line: JsonObject): CastNews | null {
  if (typeof line.seq === 'number') return { kind: 'fact', fact: line as unknown as LoggedFact };
  return isObject(line.event) ? { kind: 'live', ...(line as unknown as Omit<LiveNews, 'kind'>) } : null;
}

/** Waiting on would be in vain: the process that drove the cast is gone. */
function undriven(view: JsonObject): Verdict {
  const reason = `nobody drives cast ${String(view.cast)} any more; a person carries it on with \`baton resume\``;
  return deny('NOT_ALLOWED_NOW', reason, { ...view, stands: false });
}
