// The situation of a cast that `why` explains, and its explanation: sentences for people, and commands that can be copied. Here are also
// the turns that wait for a person: a turn of the person, a question of an agent, a permission.

import { noteKey } from '../../../kernel/cast/notes.ts';
import { socketOf } from '../../../kernel/cast/rules.ts';
import { type Cast, type CastStatus, isOver, type OpenQuestion, type Turn } from '../../../kernel/cast/state.ts';
import { firstEdge } from '../../../kernel/graph/route.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { Ledger } from '../../../kernel/ledger/state.ts';
import type { WorkState } from '../../../kernel/retention.ts';
import { collapse, counted, truncate } from '../../../kernel/text.ts';
import type { Quarantine } from '../../../kernel/trust/state.ts';
import type { View } from '../cast-view.ts';
import { agoText, socketName, socketNames, withSocketNames } from '../in-words.ts';
import { unknownIn } from '../reported.ts';
import type { CastResult } from '../result.ts';

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
  /** What became of its worktree; looked at only where the cast is completed. */
  readonly work?: WorkState;
  /** By turn, the last sign of the agent that works on it; looked at only where the cast runs. */
  readonly signs?: ReadonlyMap<number, { readonly at: number; readonly tool: string | null }>;
};

/** A line that can be copied, and what it is for: the words after "To". */
export type Way = { readonly does: string; readonly command: string };

/** One part of the answer. */
export type Explanation = {
  /** The code of what is in the way; null where nothing is. */
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
  /** Since when it is so. */
  readonly since: string;
  /** What it produced, and what the turn that stopped it said. */
  readonly result: CastResult;
};

/** The socket of a turn as people know it, with the item where there is one. */
function nameOf({ rules }: Cast, { socket, item }: Pick<Turn, 'socket' | 'item'>): string {
  const name = inShort(socketName(rules, socket), 60);
  return item ? `${name} on ${inShort(item.label, 60)}` : name;
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
export function inShort(text: string, max = SAID_CHARS_MAX): string {
  return truncate(collapse(text), max);
}

/** The words as a sentence. */
export function sentence(text: string): string {
  const line = inShort(text, 1_000);
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
      ([id, operation]) => `A command of ${id} (${inShort(operation, 80)}) began, and its end is unknown.`,
    ),
    commands: open.map(([id]) =>
      isEnded
        ? { does: `settle ${id}, once you know whether it did its work`, command: `${baton} reject ${id} --reason "…"` }
        : { does: `let the command of ${id} run once more`, command: `${baton} approve ${id} --again` },
    ),
  };
}

export function askedFor(situation: Situation, turn: Turn): Explanation {
  const { cast, baton } = situation;
  if (turn.asks)
    return turn.asks.what === 'approval'
      ? permission(situation, turn, turn.asks)
      : question(situation, turn, turn.asks);
  const again = turn.refusal ? ` The last answer was refused: ${sentence(turn.refusal.verdict.reason)}` : '';
  return {
    code: 'ANSWER_NEEDED',
    sentences: [`${turnName(cast, turn)} is a step that a person does.${again}`],
    commands: [
      { does: 'read its brief and answer', command: `${baton} answer ${cast.id} --turn ${turn.id}` },
      wayToTurn(situation, turn.id),
    ],
  };
}

/** An edge that was taken as often as it may be. */
export function spentAt(situation: Situation, turn: Turn): Explanation {
  const { cast, baton } = situation;
  const found = turn.handoff && firstEdge(socketOf(cast, turn.socket), turn.handoff);
  const rounds = counted(found?.edge.maxTraversals ?? 0, 'more round');
  const to = found?.edge.to ?? '';
  const notes = cast.rework[noteKey(to, turn.item?.key ?? null)] ?? [];
  const last = notes.at(-1);
  const why = last ? ` The last rejection: ${sentence(last.reason)}` : '';
  return {
    code: 'EDGE_BUDGET_EXHAUSTED',
    sentences: [
      `${turnName(cast, turn)} was accepted, but it may not go back to ${socketName(cast.rules, to)} again.${why}`,
    ],
    commands: [
      { does: `allow ${rounds}`, command: `${baton} continue ${cast.id}` },
      { does: 'stop the cast', command: `${baton} abort ${cast.id}` },
      wayToTurn(situation, turn.id),
    ],
  };
}

function question(situation: Situation, turn: Turn, asks: OpenQuestion): Explanation {
  const { cast, now, baton } = situation;
  const where = turnName(cast, turn);
  return {
    code: 'ANSWER_NEEDED',
    sentences: [`${where} asks since ${moment(asks.since, now)}: ${sentence(asks.question)}`],
    commands: [
      { does: 'answer', command: `${baton} answer ${cast.id} --turn ${turn.id} "…"` },
      { does: 'let the agent go on without an answer', command: `${baton} decide ${cast.id}:${turn.id} rerun` },
      { does: 'give the agent up', command: `${baton} decide ${cast.id}:${turn.id} fail` },
      wayToTurn(situation, turn.id),
    ],
  };
}

function permission(situation: Situation, turn: Turn, asks: OpenQuestion): Explanation {
  const { question: wish, since, approval, until } = asks;
  const { cast, now, baton } = situation;
  const where = turnName(cast, turn);
  const named = approval === null ? '' : ` ${approval}`;
  if (until !== undefined && now >= until) {
    const over = `It expired at ${moment(until, now)} before anybody decided; the agent has to ask again.`;
    return {
      code: 'APPROVAL_EXPIRED',
      sentences: [`${where} asked for permission${named} at ${moment(since, now)}: \`${inShort(wish)}\`. ${over}`],
      commands: [
        { does: 'tell the agent and let it go on', command: `${baton} continue ${cast.id}` },
        { does: 'give the agent up', command: `${baton} decide ${cast.id}:${turn.id} fail` },
        wayToTurn(situation, turn.id),
      ],
    };
  }
  if (approval !== null && unknownIn(situation.view.commands).has(approval)) {
    const wait = `waits for a person since ${moment(since, now)}: may this run once more? \`${inShort(wish)}\`.`;
    return {
      code: 'OUTCOME_UNKNOWN',
      sentences: [`${where} ${wait}`],
      commands: [
        { does: 'see what is known about it', command: `${baton} approvals` },
        {
          does: 'leave it, and tell the agent why',
          command: `${baton} reject ${approval} --reason "it ran"`,
        },
        wayToTurn(situation, turn.id),
      ],
    };
  }
  const decisions =
    approval === null
      ? []
      : [
          // A command that is not shown in full is not offered for approval.
          ...(inShort(wish).endsWith('…') ? [] : [{ does: 'allow it once', command: `${baton} approve ${approval}` }]),
          {
            does: 'refuse it, and tell the agent why',
            command: `${baton} reject ${approval} --reason "not now"`,
          },
        ];
  return {
    code: 'APPROVAL_NEEDED',
    sentences: [`${where} asks for permission${named} since ${moment(since, now)}: \`${inShort(wish)}\`.`],
    commands: [
      { does: 'see what waits for a decision', command: `${baton} approvals` },
      ...decisions,
      wayToTurn(situation, turn.id),
    ],
  };
}
