// Everything a runner needs to carry out one dispatch, and nothing it has to ask back for.
import type { Materia } from '../graph/config.ts';
import type { Json, JsonObject } from '../json.ts';
import type { Cast, Item, Turn } from '../state.ts';
import { cursorName, scopeOf } from './item.ts';
import { materiaOf, socketOf } from './pen.ts';
import { notesFor } from './rework.ts';
import { isScripted, scriptedTurn } from './script.ts';

export type Packet = {
  readonly cast: string;
  readonly turn: number;
  readonly attempt: number;
  readonly socket: string;
  readonly materia: Materia;
  readonly brief: string;
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
  /** The scripted turn to play; `{}` when the script has nothing (more) for this socket, null when it is not scripted. */
  readonly scripted: { readonly turn?: Json } | null;
  /** What a utility gets on its standard input. */
  readonly utility: UtilityInput | null;
};

export type UtilityInput = {
  readonly request: string;
  readonly state: JsonObject;
  readonly item: Json;
  readonly itemKey: string | null;
  readonly itemLabel: string | null;
  readonly cursor: { readonly name: string; readonly index: number } | null;
  readonly cursors: Readonly<Record<string, number>>;
  readonly rework: readonly { readonly from: string; readonly reason: string }[];
};

export function packetOf(cast: Cast, turn: Turn): Packet {
  const socket = socketOf(cast, turn.socket);
  const materia = materiaOf(cast, turn.socket);
  return {
    cast: cast.id,
    turn: turn.id,
    attempt: turn.attempt,
    socket: turn.socket,
    materia,
    brief: turn.brief ?? '',
    timeoutMs: socket.limits.timeoutMs,
    maxOutputBytes: socket.limits.maxOutputBytes,
    scripted: scripted(cast, turn),
    utility: materia.type === 'utility' ? utilityInput(cast, turn.socket, turn.item) : null,
  };
}

function scripted(cast: Cast, turn: Turn): Packet['scripted'] {
  if (!isScripted(cast, turn.socket)) return null;
  const said = turn.script ? scriptedTurn(cast, turn.script) : undefined;
  return said === undefined ? {} : { turn: said };
}

function utilityInput(cast: Cast, socket: string, item: Item | null): UtilityInput {
  const scope = scopeOf(cast, item);
  return {
    request: cast.request,
    state: { ...cast.data, ...scope.itemVars },
    item: scope.item ?? null,
    itemKey: item?.key ?? null,
    itemLabel: item?.label ?? null,
    cursor: item ? { name: cursorName(item.cursorKey), index: item.index } : null,
    cursors: scope.cursors,
    rework: notesFor(cast, socket, item?.key ?? null).map(({ from, reason }) => ({ from, reason })),
  };
}
