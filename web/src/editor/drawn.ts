// What the canvas draws of a document. A draft may be unsound anywhere; what cannot be read is left out, and the checks say so.
import type { EditorDocument } from '../../../src/editor/document.ts';
import {
  edgeId,
  exitsIn,
  loadoutOf,
  loopsOf,
  materiaIn,
  nameOf,
  pointOf,
  socketsOf,
} from '../../../src/editor/document.ts';
import { type EdgeCondition, END } from '../../../src/kernel/graph/config.ts';
import { conditionWords } from '../../../src/kernel/graph/route.ts';
import {
  isObject,
  isString,
  isText,
  type Json,
  type JsonObject,
  listAt,
  objectAt,
  stringAt,
} from '../../../src/kernel/json.ts';
import type { Plan } from '../graph/layout.ts';
import type { Places } from './free-routes.ts';

export type DrawnSocket = {
  readonly id: string;
  readonly name: string;
  readonly materia: string | null;
  readonly kind: 'agent' | 'utility' | 'person' | 'empty' | 'unknown';
  /** What runs there, in one line. */
  readonly below: string;
  /** The colour that the materia names itself; null where it names none that is known. */
  readonly color: string | null;
  /** Without colour, for everybody: Entry, Generator, Loop consumer, Conversation. */
  readonly marks: readonly string[];
  readonly loop: string | null;
};

export type DrawnWay = {
  /** `edge:Socket-3:1`, or `loop-exit:LOOP:ROUTE`. */
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly when: string;
  readonly kind: 'edge' | 'exit';
  readonly max: number | null;
  /** Its place among the edges of its socket, and how many there are. */
  readonly at: number;
  readonly of: number;
  readonly hasItems: boolean;
  readonly isNextItem: boolean;
};

export type DrawnLoop = {
  readonly id: string;
  readonly over: string | null;
  readonly steps: readonly string[];
  readonly lanes: number;
  readonly advances: readonly string[];
  readonly exits: number;
};

export type Drawn = {
  readonly sockets: readonly DrawnSocket[];
  readonly ways: readonly DrawnWay[];
  readonly loops: readonly DrawnLoop[];
  readonly plan: Plan;
  /** Where people put the sockets; null where all of them are placed by the layout. */
  readonly places: Places | null;
};

export function drawnOf(document: EditorDocument): Drawn {
  const loadout = loadoutOf(document);
  const written = Object.entries(socketsOf(document)).filter((entry): entry is [string, JsonObject] =>
    isObject(entry[1]),
  );
  const known = new Set(written.map(([id]) => id));
  const loops = Object.entries(loopsOf(document)).flatMap(([id, loop]) =>
    isObject(loop) ? [drawnLoop(document, id, loop, known)] : [],
  );
  const entry = stringAt(loadout, 'entry');
  const sockets = written.map(([id, socket]) => drawnSocket(document, id, socket, entry === id, loops));
  const generators = new Set(sockets.filter(({ marks }) => marks.includes('Generator')).map(({ id }) => id));
  const ways = [
    ...written.flatMap(([id, socket]) => edgesOf(id, socket, loops, generators)),
    ...exitWays(document),
  ].filter(({ to, from }) => known.has(from) && (to === END || known.has(to)));
  const places = new Map(
    written.flatMap(([id]) => {
      const point = pointOf(document, id);
      return point ? [[id, point] as const] : [];
    }),
  );
  return {
    sockets,
    ways,
    loops,
    plan: {
      sockets: sockets.map(({ id }) => ({ id, isEntry: id === entry })),
      edges: ways.map(({ id, from, to, when, kind }) => ({ id, from, to, when, kind })),
      loops: loops.map(({ id, steps }) => ({ id, steps, lanes: 1, list: null })),
    },
    places: places.size === 0 ? null : places,
  };
}

function drawnLoop(document: EditorDocument, id: string, loop: JsonObject, known: ReadonlySet<string>): DrawnLoop {
  const steps = listAt(loop, 'sockets')
    .filter(isString)
    .filter((step) => known.has(step));
  const from = stringAt(objectAt(loop, 'consumes'), 'from');
  const { maxConcurrency } = objectAt(loop, 'parallel');
  const sockets = socketsOf(document);
  return {
    id,
    steps,
    over: from === null ? null : nameOf(document, from),
    lanes: typeof maxConcurrency === 'number' ? maxConcurrency : 1,
    advances: steps.filter((step) => isObject(objectAt(sockets, step).advance)),
    exits: listAt(loop, 'exits').length,
  };
}

function drawnSocket(
  document: EditorDocument,
  id: string,
  socket: JsonObject,
  isEntry: boolean,
  loops: readonly DrawnLoop[],
): DrawnSocket {
  const materia = stringAt(socket, 'materia');
  const own = materiaIn(document, id);
  const kind = kindOf(materia, own);
  const loop = loops.find(({ steps }) => steps.includes(id)) ?? null;
  const marks = [
    isEntry && 'Entry',
    own?.generator === true && 'Generator',
    loop !== null && 'Loop consumer',
    own?.multiTurn === true && 'Conversation',
  ].filter((mark) => mark !== false);
  return {
    id,
    name: materia === null ? 'Empty' : nameOf(document, id),
    materia,
    kind,
    below: belowOf(kind, own, materia),
    color: own ? stringAt(own, 'color') : null,
    marks,
    loop: loop?.id ?? null,
  };
}

export function kindOf(materia: string | null, own: JsonObject | null): DrawnSocket['kind'] {
  if (materia === null) return 'empty';
  if (!own) return 'unknown';
  if (own.runner === 'person') return 'person';
  return own.type === 'utility' || own.utility !== undefined || own.script !== undefined || isProgram(own)
    ? 'utility'
    : 'agent';
}

/** A materia with a command and without a runner or a prompt is a utility. */
function isProgram({ type, command, prompt, promptFile, runner }: JsonObject): boolean {
  return (
    type !== 'agent' &&
    command !== undefined &&
    prompt === undefined &&
    promptFile === undefined &&
    runner === undefined
  );
}

export function belowOf(kind: DrawnSocket['kind'], own: JsonObject | null, materia: string | null): string {
  if (kind === 'empty') return 'drop a materia here';
  if (!own || kind === 'unknown') return `${materia} is not there`;
  if (kind === 'person') return 'a person';
  if (kind === 'utility') {
    const command = listAt(own, 'command').filter(isString).join(' ');
    return ['utility', stringAt(own, 'utility') ?? stringAt(objectAt(own, 'script'), 'name') ?? command]
      .filter(isText)
      .join(', ');
  }
  return [stringAt(own, 'runner') ?? 'claude', stringAt(own, 'model') ?? ''].filter(isText).join(', ');
}

function edgesOf(
  id: string,
  socket: JsonObject,
  loops: readonly DrawnLoop[],
  generators: ReadonlySet<string>,
): readonly DrawnWay[] {
  const edges = listAt(socket, 'edges');
  const advance = isObject(socket.advance) ? socket.advance : null;
  return edges.flatMap((edge, at): DrawnWay[] => {
    if (!isObject(edge)) return [];
    const [to, when] = [stringAt(edge, 'to') ?? '', wordsOfCondition(edge.when)];
    const isInside = loops.some(({ steps }) => steps.includes(id) && steps.includes(to));
    const asked = advance === null ? null : stringAt(advance, 'when');
    const isAdvancing =
      advance !== null && (asked === null || asked === 'always' || asked === when || when === 'always');
    return [
      {
        id: edgeId({ from: id, index: at }),
        from: id,
        to,
        when,
        kind: 'edge',
        max: typeof edge.maxTraversals === 'number' ? edge.maxTraversals : null,
        at,
        of: edges.length,
        hasItems: generators.has(id) && loops.some(({ steps }) => !steps.includes(id) && steps.includes(to)),
        isNextItem: isInside && isAdvancing,
      },
    ];
  });
}

function exitWays(document: EditorDocument): readonly DrawnWay[] {
  const all = exitsIn(document);
  return all.map(({ exit, loop, from, to, condition }) => {
    const own = all.filter((each) => each.loop === loop && each.from === from);
    return {
      ...{ id: exit, from, to, when: condition, kind: 'exit' as const, max: null },
      ...{ at: own.findIndex((each) => each.exit === exit), of: own.length, hasItems: false, isNextItem: false },
    };
  });
}

export function wordsOfCondition(when: Json | undefined): string {
  if (isString(when)) return when;
  return isObject(when) && isString(when.field) ? conditionWords(when as EdgeCondition) : '?';
}

/** The words on a way. */
export function labelOf({ kind, when, hasItems, isNextItem, max, at }: DrawnWay): string {
  const condition = when.replace('_', ' ');
  if (kind === 'exit') return `exit, ${condition}`;
  if (hasItems && when === 'always') return 'items';
  const bound = max === null ? '' : `, at most ${max}`;
  if (when !== 'always') return `${condition}${isNextItem ? ', next item' : ''}${bound}`;
  if (isNextItem) return `next item${bound}`;
  return max === null ? (at > 0 ? 'otherwise' : '') : `at most ${max}`;
}

/** The same as a sentence, for those who do not see the picture. */
export function sentenceOf(way: DrawnWay, nameIn: (socket: string) => string): string {
  const { kind, when, from, to, max, at, of } = way;
  const what = kind === 'exit' ? 'Exit' : 'Edge';
  const bound = max === null ? '' : `, at most ${max} for each item`;
  const order = of > 1 ? `, tried ${ordinal(at + 1)} of ${of}` : '';
  return `${what} from ${nameIn(from)} to ${to === END ? 'the end' : nameIn(to)}, ${when.replace('_', ' ')}${bound}${order}`;
}

export function ordinal(n: number): string {
  const tail = n % 100 > 10 && n % 100 < 14 ? 'th' : (['th', 'st', 'nd', 'rd'][n % 10] ?? 'th');
  return `${n}${tail}`;
}

export const CONDITIONS = [
  ['always', 'always'],
  ['satisfied', 'satisfied'],
  ['not_satisfied', 'not satisfied'],
] as const;
