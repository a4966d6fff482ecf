// How the states of a cast are shown: their signs, words and pills.
import type { CastPage, PageItem, PageSocket, ShownState } from '../../../src/app/views/cast-page.ts';
import type { AttemptRow } from '../../../src/app/views/turn-rows.ts';
import type { Status } from '../parts/glyphs.tsx';
import type { ItemState } from '../parts/items.tsx';
import { plural } from '../words.ts';

export const SIGN: Readonly<Record<ShownState, Status>> = {
  idle: 'open',
  soon: 'open',
  runs: 'running',
  waits: 'waits',
  question: 'waits',
  unknown: 'unknown',
  blocked: 'waits',
  paused: 'paused',
  done: 'done',
  back: 'rework',
  failed: 'failed',
  parked: 'parked',
  skipped: 'stopped',
  stopped: 'stopped',
};

export const SAYS: Readonly<Record<ShownState, string>> = {
  idle: 'not started',
  soon: 'waits for its turn',
  runs: 'runs',
  waits: 'waits for you',
  question: 'asks you',
  unknown: 'outcome unknown',
  blocked: 'is blocked',
  paused: 'paused',
  done: 'done',
  back: 'sent it back',
  failed: 'failed',
  parked: 'parked',
  skipped: 'left out',
  stopped: 'stopped',
};

/** What is said of a socket. One that had turns, and has none now, is idle. */
export const saysOf = ({ shown, turns }: Pick<PageSocket, 'shown' | 'turns'>): string =>
  shown === 'idle' && turns > 0 ? 'idle' : SAYS[shown];

/** Of these a person has to do something. */
export const isWaiting = (shown: ShownState): boolean =>
  shown === 'waits' || shown === 'question' || shown === 'unknown' || shown === 'blocked' || shown === 'parked';

export function pillOf(shown: ShownState): ItemState {
  if (shown === 'runs') return 'live';
  if (isWaiting(shown)) return 'waits';
  if (shown === 'failed') return 'failed';
  return shown === 'done' || shown === 'skipped' ? 'done' : 'waiting';
}

/** A cell of the track: an item that has not begun is open there. */
export function cellOf({ shown }: Pick<PageItem, 'shown'>): ItemState {
  return shown === 'idle' || shown === 'soon' ? 'open' : pillOf(shown);
}

export const nameOf = (page: CastPage, socket: string | null): string =>
  page.graph.sockets.find(({ id }) => id === socket)?.name ?? socket ?? '';

/** Such as `claude, opus, 3 turns`; a utility runs no model. */
export function belowName({ kind, runner, model, does, turns }: PageSocket): string {
  const who =
    kind === 'agent'
      ? [runner, model]
      : kind === 'person'
        ? ['you']
        : kind === 'utility'
          ? ['utility', does]
          : ['empty'];
  const often = turns === 0 ? 'not started' : kind === 'utility' ? '' : plural(turns, 'turn');
  return [...who.filter((word) => (word !== null && word !== 'utility' ? true : word === 'utility')), often]
    .filter(Boolean)
    .join(', ');
}

const ENDS = {
  accepted: 'accepted',
  not_satisfied: 'not satisfied',
  refused: 'refused',
  failed: 'failed',
  lost: 'cut off',
  interrupted: 'interrupted',
  asks: 'asks',
  goes_on: 'goes on',
  blocked: 'blocked',
} as const;

export function attemptWords({ end }: AttemptRow): string {
  return end === null ? 'running' : ENDS[end];
}

export function attemptSign({ end }: AttemptRow): Status {
  if (end === null) return 'running';
  if (end === 'refused' || end === 'failed') return 'refused';
  if (end === 'not_satisfied') return 'rework';
  if (end === 'asks' || end === 'blocked') return 'waits';
  return end === 'lost' ? 'unknown' : 'done';
}

/** The words of the engine name sockets by their ids; people know them by their names. */
export function named(page: CastPage, text: string): string {
  const names = new Map(page.graph.sockets.map(({ id, name }) => [id, name]));
  return text.replace(/Socket-[A-Za-z0-9_]+(?:-[A-Za-z0-9_]+)*/g, (id) => names.get(id) ?? id);
}

export function ranFor(ms: number, says: (ms: number) => string): string {
  return ms < 1_000 ? 'under 1 s' : says(ms);
}
