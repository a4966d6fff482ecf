// An endpoint is where an edge, a route or a loop points: a socket, or `end` where something may be over.
import type { Json } from '../json.ts';
import type { Draft } from './authored.ts';
import { END } from './config.ts';
import { error, type Findings, listed, shown } from './issue.ts';

const SOCKET_ID = /^Socket-[1-9]\d*$/;

export function isSocketId(value: Json | undefined): value is string {
  return typeof value === 'string' && SOCKET_ID.test(value);
}

/** Checks one endpoint and returns whether it can be followed. */
export function* checkEndpoint(
  draft: Draft,
  value: Json | undefined,
  path: string,
  allowed: 'socket' | 'socket or end',
): Findings<boolean> {
  if (value === undefined || value === null || value === '') {
    yield error('MISSING_ENDPOINT', path, `Nothing is named here. Name ${choices(draft, allowed)}.`);
    return false;
  }
  const isEnd = value === END;
  if (isEnd && allowed === 'socket or end') return true;
  if (!isSocketId(value)) {
    // A socket with such a name is refused where it is defined. One cause gives one issue.
    if (typeof value === 'string' && Object.hasOwn(draft.sockets, value)) return false;
    const why = isEnd ? '`end` is only a target of edges' : `${shown(value)} is not of the form Socket-N`;
    yield error('INVALID_SOCKET_ID', path, `${why}. Name ${choices(draft, allowed)}.`);
    return false;
  }
  if (!Object.hasOwn(draft.sockets, value)) {
    yield error('UNKNOWN_ENDPOINT', path, `There is no socket ${shown(value)}. Name ${choices(draft, allowed)}.`);
    return false;
  }
  return true;
}

function choices(draft: Draft, allowed: 'socket' | 'socket or end'): string {
  const sockets = draft.socketIds.length === 0 ? 'a socket, once there is one' : `one of: ${listed(draft.socketIds)}`;
  return allowed === 'socket' ? sockets : `${sockets}, or ${END}`;
}
