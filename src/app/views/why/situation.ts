// The situation of a cast that `why` explains, and the explanation: sentences for people, and commands that can be copied.
import { type Cast, type CastStatus, isOver, type Turn } from '../../../kernel/cast/state.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { Ledger } from '../../../kernel/ledger/state.ts';
import { collapse, truncate } from '../../../kernel/text.ts';
import type { Quarantine } from '../../../kernel/trust/state.ts';
import { unknownIn } from '../approval-outcomes.ts';
import type { View } from '../cast-view.ts';
import { agoText } from '../figures.ts';
import type { CastResult } from '../result.ts';
import { socketName, socketNames, withSocketNames } from '../socket-names.ts';

export type Situation = {
  readonly cast: Cast;
  /** What its entries say. */
  readonly view: View;
  readonly now: number;
  /** How the program is called, with the workspace where one was named. */
  readonly baton: string;
  /** Who drives the cast; looked at only where it runs. */
  readonly driver: { readonly pid: number; readonly host: string } | null;
  /** Who holds what; looked at only where the cast is not over. */
  readonly ledger: Ledger | null;
  /** What waits for a person in the registry; looked at only where the cast failed. */
  readonly quarantine: readonly Quarantine[];
  /** By turn, what was last heard of the agent that works on it; looked at only where the cast runs. */
  readonly signs?: ReadonlyMap<number, { readonly at: number; readonly tool: string | null }>;
};

/** A line that can be copied, and what it is for: it stands after "To". */
export type Way = { readonly does: string; readonly command: string };

/** One part of the answer. */
export type Explanation = {
  /** The code of what stands in the way; null where nothing does. */
  readonly code: string | null;
  readonly sentences: readonly string[];
  readonly commands: readonly Way[];
};

export type Why = Explanation & {
  readonly cast: string;
  readonly status: CastStatus;
  /** The process that drives it; null where it does not run, or where its process is gone. */
  readonly driver: JsonObject | null;
  /** What the code means, as `baton explain` says it. */
  readonly means: string | null;
  /** Since when it stands so. */
  readonly since: string;
  /** What it produced, and what the turn that stopped it said. */
  readonly result: CastResult;
};

/** The socket of a turn as people know it, with the item where there is one. */
function nameOf({ rules }: Cast, { socket, item }: Pick<Turn, 'socket' | 'item'>): string {
  const name = said(socketName(rules, socket), 60);
  return item ? `${name} on ${said(item.label, 60)}` : name;
}

/** A turn by its name; the number tells it apart and is what commands take. */
export function turnName(cast: Cast, turn: Pick<Turn, 'id' | 'socket' | 'item'>): string {
  return `${nameOf(cast, turn)} (turn ${turn.id})`;
}

/** A reason of the kernel, with names in place of the ids of sockets. */
export function namedIn({ rules }: Cast, reason: string): string {
  return withSocketNames(reason, socketNames(rules));
}

const SAID_CHARS_MAX = 400;

/** Somebody's words on one line. */
export function said(text: string, max = SAID_CHARS_MAX): string {
  return truncate(collapse(text), max);
}

/** The words as a sentence. */
export function sentence(text: string): string {
  const line = said(text, 1_000);
  return /[.!?…]$/.test(line) ? line : `${line}.`;
}

/** A moment in universal time, and how long ago it is or how far off. */
export function moment(time: number, now: number): string {
  return `${new Date(time).toISOString().slice(0, 19)}Z (${agoText(time, now)})`;
}

/** The way to look at one turn. */
export function wayToTurn({ baton, cast }: Situation, turn: number): Way {
  return { does: `see all of turn ${turn}`, command: `${baton} show ${cast.id} --turn ${turn}` };
}

/** For an approved command of unknown outcome: a person decides whether it may run once more. */
export function unknownUses({ cast, view, baton }: Situation): Explanation {
  const isEnded = isOver(cast.status);
  const open = [...unknownIn(view.commands, isEnded)];
  return {
    code: open.length > 0 ? 'OUTCOME_UNKNOWN' : null,
    sentences: open.map(
      ([id, operation]) => `A command of ${id} (${said(operation, 80)}) began, and nobody knows how it ended.`,
    ),
    commands: open.map(([id]) =>
      isEnded
        ? { does: `settle ${id}, once you know whether it did its work`, command: `${baton} reject ${id} --reason "…"` }
        : { does: `let the command of ${id} run once more`, command: `${baton} approve ${id} --again` },
    ),
  };
}
