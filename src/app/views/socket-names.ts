// What people call the sockets of a graph. Facts and reasons keep the ids of sockets; displays show names.
import type { Rules } from '../../kernel/graph/config.ts';

/** By the id of a socket. `materia` is the label of what runs there, which reasons name next to the id. */
export type SocketNames = Readonly<Record<string, { readonly name: string; readonly materia: string }>>;

type Named = Pick<Rules, 'graph' | 'materia'>;

const known = new WeakMap<Named['graph'], SocketNames>();

/** The label of each socket, else that of its materia. Sockets of one name are told apart by their id. */
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
    const id = all.split(' ', 1)[0] ?? '';
    const own = Object.hasOwn(names, id) ? names[id] : undefined;
    if (!own) return all;
    const label = inParentheses ?? inBrackets;
    return label === undefined || label === own.materia ? own.name : `${own.name} (${label})`;
  });
}
