// The graph of a loadout as something to draw: steps with names and marks, ways between them with conditions, bounds and
// counts, and loops as regions. `draw-graph.ts` prints it. It is made from the rules of a loadout, and of a cast it also
// shows where the cast is and how often it took which way.
import type { Fact } from '../../kernel/fact.ts';
import type { Condition, Edge, EdgeEnd, Graph, Materia, Rules } from '../../kernel/graph/config.ts';
import { conditionWords } from '../../kernel/graph/route.ts';
import { socketNames } from './in-words.ts';

export type DrawnStep = {
  readonly id: string;
  readonly name: string;
  /** What runs there, such as `claude, may edit`. */
  readonly does: string;
  /** For people, without colour: `generator`, `loop consumer`, `waits for you`. */
  readonly marks: readonly string[];
  readonly loop: string | null;
  readonly visits: number;
  readonly isHere: boolean;
};

export type DrawnWay = {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly when: string;
  /** How often at most for one item. */
  readonly max: number | null;
  /** What happens after that, where it is not a failure. */
  readonly then: EdgeEnd | null;
  /** Other ways of the step are asked before it. */
  readonly isOtherwise: boolean;
  /** The step is through with its item when it goes this way. */
  readonly isNextItem: boolean;
  readonly count: number;
  /** The ways out of a loop whose list is used up belong to the loop, and not to a socket. */
  readonly kind: 'edge' | 'exit';
};

type DrawnLoop = {
  readonly id: string;
  readonly over: string | null;
  /** How many items are in progress together. */
  readonly atOnce: number;
  /** An item that fails lets the others finish; then what was done is enough. */
  readonly isSettled?: true;
  readonly steps: readonly string[];
};

export type GraphDrawing = {
  readonly name: string;
  readonly steps: readonly DrawnStep[];
  readonly ways: readonly DrawnWay[];
  readonly loops: readonly DrawnLoop[];
};

/** One edge or exit that a cast took: the id of an exit, the ends and the condition of an edge. */
export type TakenWay = string;

/** The key by which a way is counted. */
export function wayKey({ id, from, to, when, kind }: Pick<DrawnWay, 'id' | 'from' | 'to' | 'when' | 'kind'>): TakenWay {
  return kind === 'exit' ? id : `${from} ${when} ${to}`;
}

/** What a cast adds: where it went, by which ways, and the sockets whose turns are open. */
export type DrawnProgress = {
  readonly path: readonly PathStep[];
  readonly taken: readonly TakenWay[];
  readonly here: readonly string[];
};

const NOWHERE: DrawnProgress = { path: [], taken: [], here: [] };

/** The way that a fact is about; null for any other fact. */
export function wayIn(fact: Fact): TakenWay | null {
  if (fact.kind === 'edge.taken') return `${fact.from} ${conditionWords(fact.when)} ${fact.to}`;
  return fact.kind === 'exit.taken' && fact.loop !== null ? exitId(fact.loop, fact.route ?? '') : null;
}

export function drawingOf({ graph, materia }: Pick<Rules, 'graph' | 'materia'>, progress = NOWHERE): GraphDrawing {
  const counts = countWays(graph, progress.taken);
  // The log keeps no order of members.
  const sockets = Object.values(graph.sockets).toSorted((one, other) => numberOf(one.id) - numberOf(other.id));
  const names = socketNames({ graph, materia });
  const generators = new Set(graph.loops.flatMap(({ consumes }) => consumes ?? []));
  return {
    name: graph.name,
    steps: sockets.map((socket) => {
      const loop = graph.loops.find(({ sockets: members }) => members.includes(socket.id));
      const own = materia[socket.materia];
      const isGenerator = own?.generator === true || generators.has(socket.id);
      return {
        id: socket.id,
        name: names[socket.id]?.name ?? socket.id,
        does: own ? doing(own) : 'empty',
        marks: [
          ...(isGenerator ? ['Generator'] : []),
          ...(loop?.consumes ? ['Loop consumer'] : []),
          ...(graph.loops.some(({ prelude = [] }) => prelude.includes(socket.id)) ? ['Once per stream'] : []),
          ...(own?.type === 'agent' && own.multiTurn ? ['Conversation'] : []),
        ],
        loop: loop?.id ?? null,
        visits: progress.path.filter((step) => step.socket === socket.id).length,
        isHere: progress.here.includes(socket.id),
      };
    }),
    ways: waysOf(graph).map((way) => ({ ...way, count: counts.get(way.id) ?? 0 })),
    loops: graph.loops.map(({ id, consumes, sockets: members, isParallel, maxConcurrency, barrier }) => {
      const over = consumes === null ? null : (names[consumes]?.name ?? null);
      const settled = barrier === 'settled' ? { isSettled: true as const } : {};
      return { id, over, atOnce: isParallel ? maxConcurrency : 1, ...settled, steps: members };
    }),
  };
}

function numberOf(socket: string): number {
  return Number(socket.replace('Socket-', ''));
}

const SCOPES: Readonly<Record<string, string>> = {
  none: 'no tools',
  readOnly: 'reads',
  readAndRun: 'reads and runs',
  coding: 'edits',
  custom: 'its own tools',
};

function doing(materia: Materia): string {
  if (materia.type === 'utility') return materia.utility ?? materia.script ?? materia.command?.[0] ?? 'utility';
  const scope = typeof materia.tools === 'string' ? materia.tools : materia.tools.type;
  return `${materia.runner}, ${SCOPES[scope] ?? scope}`;
}

function waysOf({ sockets, loops }: Graph): Omit<DrawnWay, 'count'>[] {
  const edges = Object.values(sockets).flatMap(({ id, edges: own, advance }) =>
    own.map((edge, index) => ({
      id: `${id}:${index}`,
      from: id,
      to: edge.to,
      when: conditionWords(edge.when),
      max: edge.maxTraversals,
      then: edge.then ?? null,
      isOtherwise: index > 0 && edge.when === 'always',
      isNextItem: advance !== null && staysInLoop(loops, id, edge.to) && isAdvancing(advance.when, own, index),
      kind: 'edge' as const,
    })),
  );
  const exits = loops.flatMap(({ id, exits: own }) =>
    own.map((route) => ({
      id: exitId(id, route.id),
      from: route.from,
      to: route.targetSocketId,
      when: route.condition,
      max: null,
      then: null,
      isOtherwise: false,
      isNextItem: false,
      kind: 'exit' as const,
    })),
  );
  return [...edges, ...exits];
}

function staysInLoop(loops: Graph['loops'], from: string, to: string): boolean {
  return loops.some(({ sockets }) => sockets.includes(from) && sockets.includes(to));
}

/** Whether the cursor has moved on wherever this edge is taken. */
function isAdvancing(when: Condition | null | undefined, edges: readonly Edge[], index: number): boolean {
  if (!when || when === 'always') return true;
  const edge = edges[index];
  if (edge?.when !== 'always') return edge?.when === when;
  const opposite = when === 'satisfied' ? 'not_satisfied' : 'satisfied';
  return edges.slice(0, index).some((earlier) => earlier.when === opposite);
}

function exitId(loop: string, route: string): string {
  return `loop-exit:${loop}:${route}`;
}

/** How often each way was taken. */
function countWays(graph: Graph, taken: readonly TakenWay[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  const ways = waysOf(graph);
  for (const each of taken) {
    const way = ways.find((other) => wayKey(other) === each);
    if (way) counts.set(way.id, (counts.get(way.id) ?? 0) + 1);
  }
  return counts;
}

/** When it is taken, for people: `satisfied, next item`. */
export function conditionOfWay({ when, kind, isOtherwise, isNextItem }: DrawnWay): string {
  const condition = when === 'always' ? (isOtherwise ? 'otherwise' : '') : when.replace('_', ' ');
  const words = [kind === 'exit' ? 'when all are done' : '', condition, isNextItem ? 'next item' : ''];
  return words.filter(Boolean).join(', ');
}

/** How often at most, and what then: `at most 3, then park`. */
export function boundOfWay({ max, then }: DrawnWay): string {
  return [max === null ? '' : `at most ${max}`, then === null ? '' : `then ${then}`].filter(Boolean).join(', ');
}

/** All the words of a way: `not satisfied, at most 3, then park ×2`. */
export function wordsOfWay(way: DrawnWay): string {
  const text = [conditionOfWay(way), boundOfWay(way)].filter(Boolean).join(', ');
  return way.count === 0 ? text : `${text}${text === '' ? '' : ' '}×${way.count}`;
}

/** `each item of plan, 3 at a time` */
export function wordsOfLoop({ over, atOnce, isSettled }: DrawnLoop): string {
  const what = over === null ? 'loop' : `each item of ${over}`;
  const many = atOnce > 1 ? `${what}, ${atOnce} at a time` : what;
  return isSettled ? `${many}, until all are settled` : many;
}

export type PathStep = { readonly socket: string; readonly visit: number; readonly item: string | null };
