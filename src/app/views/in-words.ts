// Figures, names and entries as people read them: how long, how many tokens, for how much; what a socket is called; an entry with the
// members of its fact next to its own, and a text that may be a digest to fetch.

import type { Entry, Fact } from '../../kernel/fact.ts';
import type { Rules } from '../../kernel/graph/config.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** `<0.1 s`, `0.3 s`, `4 s`, `1 min 18 s`, `2 h 5 min`, `3 days 4 h`. */
export function durationText(ms: number): string {
  if (ms < 50) return '<0.1 s';
  if (ms < 950) return `${(ms / SECOND).toFixed(1)} s`;
  const seconds = Math.round(ms / SECOND);
  if (seconds < 60) return `${seconds} s`;
  if (ms < HOUR - SECOND / 2) return both(Math.floor(seconds / 60), 'min', seconds % 60, 's');
  const minutes = Math.round(ms / MINUTE);
  if (minutes < 24 * 60) return both(Math.floor(minutes / 60), 'h', minutes % 60, 'min');
  const hours = Math.round(ms / HOUR);
  const days = Math.floor(hours / 24);
  return both(days, days === 1 ? 'day' : 'days', hours % 24, 'h');
}

function both(large: number, unit: string, small: number, smaller: string): string {
  return small === 0 ? `${large} ${unit}` : `${large} ${unit} ${small} ${smaller}`;
}

/** `just now`, `4 s ago`, `3 min ago`, `2 days ago`; a moment to come is `in 3 min`. */
export function agoText(then: number, now: number): string {
  const ms = Math.abs(now - then);
  if (ms < SECOND) return 'just now';
  return then > now ? `in ${roundText(ms)}` : `${roundText(ms)} ago`;
}

/** `for 3 min`: how long something has been so; `for a moment` in its first second. */
export function spanText(then: number, now: number): string {
  const ms = Math.abs(now - then);
  return ms < SECOND ? 'for a moment' : `for ${roundText(ms)}`;
}

/** One unit is enough for an age. */
function roundText(ms: number): string {
  const seconds = Math.round(ms / SECOND);
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} days`;
}

/** `950 tokens`, `11.4k tokens`, `1.25M tokens`. */
export function tokensText(tokens: number): string {
  if (tokens < 1_000) return tokens === 1 ? '1 token' : `${tokens} tokens`;
  if (tokens < 999_950) return `${shortened(tokens / 1_000, 1)}k tokens`;
  return `${shortened(tokens / 1_000_000, 2)}M tokens`;
}

function shortened(value: number, digits: number): string {
  return String(Number(value.toFixed(digits)));
}

/** `11,390`. */
export function wholeNumber(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

type Cost = { readonly cost: number; readonly estimated?: true };

/** Agents and price tables give dollars. A cost that was worked out from a table of prices has a mark in front. */
export function costText({ cost, estimated }: Cost): string {
  const digits = cost >= 1 || cost <= 0 ? 2 : Math.min(6, Math.max(2, 1 - Math.floor(Math.log10(cost))));
  const [whole, part = ''] = cost.toFixed(digits).split('.');
  return `${estimated ? '~' : ''}$${whole}.${part.slice(0, 2)}${part.slice(2).replace(/0+$/, '')}`;
}

/** By the id of a socket. `materia` is the label of what runs there, which reasons name next to the id. */
export type SocketNames = Readonly<Record<string, { readonly name: string; readonly materia: string }>>;

type Named = Pick<Rules, 'graph' | 'materia'>;

const known = new WeakMap<Named['graph'], SocketNames>();

/** The label of each socket, else that of its materia. Sockets of one name are shown with their id. */
export function socketNames({ graph, materia }: Named): SocketNames {
  const found = known.get(graph);
  if (found) return found;
  const rows = Object.values(graph.sockets).map((socket) => {
    const label = materia[socket.materia]?.label || socket.materia || socket.id;
    return { id: socket.id, name: socket.label?.trim() || label, materia: label };
  });
  const isShared = (name: string) => rows.filter((row) => row.name === name).length > 1;
  const names = Object.fromEntries(
    rows.map(({ id, name, materia: its }) => {
      return [id, { name: isShared(name) && name !== id ? `${name} (${id})` : name, materia: its }];
    }),
  );
  known.set(graph, names);
  return names;
}

export function socketName(rules: Named, socket: string): string {
  return socketNames(rules)[socket]?.name ?? socket;
}

/** `Socket-2`, `Socket-2 (Build)`, and `[Socket-2 Build]` before the reason of a rejection. */
const MENTIONED = /\bSocket-\d+\b(?: \(([^()]*)\)|(?<=\[Socket-\d+) ([^\]]*)(?=\]))?/g;

/** A reason with the names of sockets in place of their ids. */
export function withSocketNames(text: string, names: SocketNames): string {
  return text.replace(MENTIONED, (all, inParentheses: string | undefined, inBrackets: string | undefined) => {
    const label = inParentheses ?? inBrackets;
    const id = all.split(' ', 1)[0] ?? '';
    const own = Object.hasOwn(names, id) ? names[id] : undefined;
    if (!own) return all;
    return label === undefined || label === own.materia ? own.name : `${own.name} (${label})`;
  });
}

export type LoggedFact = Omit<Entry, 'fact'> & Fact & { readonly leaf?: string };

export function flat({ v, seq, at, clock, ranMs, prev, by, fact }: Entry, leaf?: string): LoggedFact {
  const time = { at, ...(clock === undefined ? {} : { clock }), ...(ranMs === undefined ? {} : { ranMs }) };
  return { seq, ...time, by, v, prev, ...(leaf === undefined ? {} : { leaf }), ...fact };
}

export type Text =
  | string
  | {
      readonly digest: string;
      /** The entry that it belongs to. */
      readonly seq: number;
      readonly bytes: number;
      /** How it begins. */
      readonly preview: string;
    };

/** All that is here of a text. */
export function textHere(text: Text): string {
  return typeof text === 'string' ? text : `${text.preview}…`;
}
