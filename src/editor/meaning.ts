// Whether two documents mean the same: the graphs and materia that a cast would run, whatever sockets and loops are numbered and called.
import { draftOf } from '../kernel/graph/issue.ts';
import { graphOf } from '../kernel/graph/resolve-graph.ts';
import { isSameJson, type Json, type JsonObject } from '../kernel/json.ts';
import { type EditorDocument, exitsIn, loadoutOf, materiaIn, nameOf, socketsOf } from './document.ts';

/** Where they differ first, in the words of the first one. `ids` leads from its sockets to those of the second. */
export function differenceIn(
  one: EditorDocument,
  other: EditorDocument,
  ids: ReadonlyMap<string, string>,
): { readonly path: string; readonly message: string } | null {
  const at = `loadouts.${one.name}`;
  const [left, right] = [meaningOf(one, ids), meaningOf(other, sameIds(other))];
  for (const [id, socket] of Object.entries(left.sockets)) {
    const twin = right.sockets[id];
    for (const field of Object.keys(socket)) {
      if (isSameJson(socket[field], twin?.[field])) continue;
      const own = [...ids].find(([, to]) => to === id)?.[0] ?? id;
      return {
        path: `${at}.sockets.${own}.${field}`,
        message: `The short form cannot say the ${WORDS[field] ?? field} of ${nameOf(one, own)}.`,
      };
    }
  }
  if (!isSameJson(left.loops, right.loops))
    return {
      path: `${at}.loops`,
      message: 'The short form leaves a loop for the step behind it, from wherever an item is done.',
    };
  const isAlike = left.entry === right.entry && Object.keys(left.sockets).length === Object.keys(right.sockets).length;
  return isAlike ? null : { path: at, message: 'The short form cannot say this order of steps.' };
}

const WORDS: Readonly<Record<string, string>> = {
  edges: 'edges',
  advance: 'place where an item is done',
  parse: 'way to answer',
  contract: 'way to answer',
  materia: 'materia',
  limits: 'limits',
};

function sameIds(document: EditorDocument): ReadonlyMap<string, string> {
  return new Map(Object.keys(socketsOf(document)).map((id) => [id, id]));
}

type Meaning = {
  readonly entry: string;
  readonly sockets: Readonly<Record<string, JsonObject>>;
  readonly loops: Json;
};

function meaningOf(document: EditorDocument, ids: ReadonlyMap<string, string>): Meaning {
  const graph = graphOf(draftOf(document.config, document.name));
  const to = (id: string) => ids.get(id) ?? id;
  const sockets = Object.values(graph.sockets).map((socket) => {
    const { id: _id, label: _label, materia: _materia, edges, advance, assign, ...rest } = socket;
    const meant: JsonObject = {
      ...JSON.parse(JSON.stringify(rest)),
      assign: Object.fromEntries(assign),
      advance: advance && { ...advance, when: advance.when ?? 'always' },
      edges: edgesOf(edges.map((edge) => ({ ...edge, to: to(edge.to) })) as unknown as readonly JsonObject[]),
      materia: materiaFor(document, socket.id),
    };
    return [to(socket.id), meant] as const;
  });
  const loops = graph.loops.map((loop) => ({
    sockets: loop.sockets.map(to).toSorted(),
    consumes: loop.consumes && to(loop.consumes),
    walk: loop.iterator && { items: loop.iterator.items, as: loop.iterator.as, cursor: loop.iterator.cursor },
    lanes: loop.isParallel ? loop.maxConcurrency : null,
    exits: exitsIn(document)
      .filter((exit) => exit.loop === loop.id)
      .map(({ from, condition, to: target }) => `${to(from)} ${condition} ${to(target)}`)
      .toSorted(),
  }));
  const byFirst = loops.toSorted((a, b) => ((a.sockets[0] ?? '') < (b.sockets[0] ?? '') ? -1 : 1));
  const entry = loadoutOf(document).entry;
  return { entry: to(String(entry ?? '')), sockets: Object.fromEntries(sockets), loops: byFirst as unknown as Json };
}

/** Where an answer says yes or no, `always` behind one of them is the other one. An `always` edge to the end is none. */
function edgesOf(edges: readonly JsonObject[]): Json {
  const guarded = edges.filter(({ when }) => when === 'satisfied' || when === 'not_satisfied');
  const isPlain = edges.every(({ when }) => typeof when === 'string');
  const always = edges.find(({ when }) => when === 'always');
  if (!isPlain || guarded.length === 0) {
    const isEnd = always && always.to === 'end' && (always.maxTraversals ?? null) === null;
    return edges.filter((edge) => !(isEnd && edge === always && edges.length === 1));
  }
  const first = (name: string) => edges.find(({ when }) => when === name) ?? (always && { ...always, when: name });
  return { satisfied: first('satisfied') ?? null, not_satisfied: first('not_satisfied') ?? null };
}

/** Its definition without its id and its names for people. */
function materiaFor(document: EditorDocument, socket: string): Json {
  const found = materiaIn(document, socket);
  if (found === null) return null;
  const {
    type = found.utility !== undefined || found.script !== undefined || found.command !== undefined
      ? 'utility'
      : 'agent',
    ...rest
  } = found;
  return { type, ...rest };
}
