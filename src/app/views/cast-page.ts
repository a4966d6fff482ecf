// All that the page of a cast shows, as plain JSON: made from the view of the cast as of its last entry. The server makes it
// for any moment of the past, the page itself while it follows. Long texts stay away; their digests lead to them.

import { runnerCan } from '../../kernel/capabilities.ts';
import { elapsedOf } from '../../kernel/cast/budget.ts';
import { itemKey, parkedIn } from '../../kernel/cast/item.ts';
import { isConversing } from '../../kernel/cast/rules.ts';
import { type Cast, type CastStatus, isOver, type Turn, type Usage } from '../../kernel/cast/state.ts';
import { countItems, type ItemCounts, itemFates } from '../../kernel/cast/summary.ts';
import type { Materia, Rules } from '../../kernel/graph/config.ts';
import { contractOf } from '../../kernel/graph/route.ts';
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import { taskOf } from '../../kernel/ledger/state.ts';
import { counted } from '../../kernel/text.ts';
import type { LogList, Samples, TimelineMark } from './cast-timeline.ts';
import type { PageView } from './cast-view.ts';
import { type DrawnWay, drawingOf, type GraphDrawing, wayKey } from './graph-drawing.ts';
import { socketName, type Text } from './in-words.ts';
import { itemIdOf, type TakenCount } from './page-record.ts';
import { type TaskView, tasksIn } from './result.ts';
import type { TurnRow } from './turn-rows.ts';

/** How something is shown: the glyph, the word and the colour follow from it. */
export type ShownState =
  | 'idle'
  | 'soon'
  | 'runs'
  | 'waits'
  | 'question'
  | 'unknown'
  | 'blocked'
  | 'paused'
  | 'done'
  | 'back'
  | 'failed'
  | 'parked'
  | 'skipped'
  | 'stopped';

/** What a socket is doing now. */
export type LiveLine = {
  readonly turn: number;
  readonly number: number | null;
  readonly title: string | null;
  readonly attempt: number;
  readonly shown: ShownState;
  /** Such as `attempt 2` or `asks permission`. */
  readonly words: string;
  /** Since when; the age is the page's to count. */
  readonly since: string;
};

export type PageSocket = {
  readonly id: string;
  readonly name: string;
  readonly materia: string;
  readonly kind: 'agent' | 'utility' | 'person' | 'empty';
  readonly runner: string | null;
  readonly model: string | null;
  /** What it may do, or what it runs. */
  readonly does: string;
  readonly isEntry: boolean;
  readonly isGenerator: boolean;
  readonly isConsumer: boolean;
  readonly isConversation: boolean;
  /** What its output must hold. */
  readonly asks: readonly AskedField[];
  /** The innermost loop that it belongs to. */
  readonly loop: string | null;
  readonly turns: number;
  readonly shown: ShownState;
  readonly refused: { readonly count: number; readonly turn: number; readonly attempt: number } | null;
  /** The turn that began last. */
  readonly last: Pick<TurnRow, 'turn' | 'number' | 'title'> | null;
  readonly live: readonly LiveLine[];
  /** The items of its loop that it was the last to accept, where nothing of it is live. */
  readonly advanced: number;
};

type AskedField = { readonly name: string; readonly type: string; readonly why: string };

export type PageEdge = Omit<DrawnWay, 'count' | 'then' | 'isOtherwise' | 'isNextItem'> & {
  readonly then: string | null;
  /** Accepted handoffs that went this way. */
  readonly count: number;
  readonly last: { readonly seq: number; readonly at: string } | null;
  /** How often it was taken for items that are not over, where that is bounded. */
  readonly perItem: readonly { readonly item: string; readonly count: number }[];
};

export type PageLoop = {
  readonly id: string;
  readonly over: string | null;
  readonly generator: string | null;
  readonly steps: readonly string[];
  readonly lanes: number;
  readonly list: string | null;
  readonly walking: readonly { readonly lane: number; readonly key: string }[];
  readonly isLeft: boolean;
  /** It was entered with nothing to walk over. */
  readonly isEmpty: boolean;
};

export type PageItem = {
  readonly list: string;
  readonly number: number;
  readonly key: string;
  readonly task: string;
  readonly title: string;
  readonly shown: ShownState;
  readonly words: string;
  /** The turn that it is at, or was at last. */
  readonly turn: number | null;
  readonly socket: string | null;
  readonly lane: number | null;
  readonly turns: number;
  readonly rework: number;
  readonly since: string | null;
};

/** Something that waits for a person. */
export type PageWait = {
  readonly kind: 'approval' | 'question' | 'talk' | 'turn' | 'unknown' | 'blocked' | 'spent' | 'parked';
  readonly turn: number | null;
  readonly socket: string | null;
  readonly number: number | null;
  readonly item: string | null;
  readonly title: string | null;
  readonly since: string | null;
  readonly words: string;
  readonly approval: string | null;
};

/** A row of the inbox: of a cast, or of the workspace. */
export type InboxRow = {
  readonly kind: Exclude<PageWait['kind'], 'turn'> | 'memory' | 'quarantine';
  /** Of an approval, a note or a blocked agent, its own id; else the cast with the turn or the item. */
  readonly id: string;
  readonly cast: string | null;
  readonly request: string | null;
  readonly turn: number | null;
  /** The name of the socket. */
  readonly socket: string | null;
  readonly item: { readonly n: number; readonly title: string } | null;
  readonly title: string;
  readonly since: string;
  /** Whether a cast waits until it is decided. */
  readonly stops: boolean;
  /** Why it waits, in the words of the asker. */
  readonly reason: string;
  readonly code?: string | null;
  /** Of an item, its key. */
  readonly key?: string;
};

/** What a person can do now. The page fills in the fields that it asks for. */
export type PageAct = {
  readonly id: string;
  readonly operation: string;
  readonly input: JsonObject;
  readonly verb: string;
  readonly asks: readonly { readonly field: string; readonly label: string; readonly isRequired: boolean }[];
  readonly command: string;
  /** Said before it is done; without it no dialog is needed. */
  readonly confirm: string | null;
  readonly turn: number | null;
  readonly item: string | null;
};

/** How many tasks a page shows. */
const TASKS_MAX = 30;

export type CastPage = {
  readonly seq: number;
  /** The entry of the cast before that; null where it is the first. */
  readonly before: number | null;
  readonly time: string;
  readonly cast: string;
  readonly request: string;
  /** The same, whole or by digest. */
  readonly requestText: Text;
  readonly loadout: string;
  readonly status: CastStatus;
  /** The status in words. */
  readonly words: string;
  readonly code: string | null;
  readonly reason: string;
  readonly startedAt: string;
  readonly startedBy: string;
  readonly changedAt: string;
  /** How long it ran by then, and when that was. */
  readonly elapsedMs: number;
  readonly asOf: string;
  readonly root: string | null;
  readonly usage: Usage & { readonly unpriced: number };
  readonly budget: {
    readonly maxTokens: number | null;
    readonly maxCost: number | null;
    readonly maxMs: number | null;
  };
  readonly waits: readonly PageWait[];
  readonly acts: readonly PageAct[];
  readonly graph: {
    readonly sockets: readonly PageSocket[];
    readonly edges: readonly PageEdge[];
    readonly loops: readonly PageLoop[];
  };
  readonly counts: ItemCounts | null;
  readonly items: readonly PageItem[];
  /** Those that may still change, and the latest others; how many there are is `turnCount`. */
  readonly turns: readonly TurnRow[];
  readonly turnCount: number;
  /** Refused attempts. */
  readonly refusedCount: number;
  readonly timeline: {
    readonly rows: readonly string[];
    readonly marks: readonly TimelineMark[];
    /** How many entries each list of the log has. */
    readonly counts: Readonly<Record<LogList, number>>;
    readonly samples: Samples;
    /** The longest of the turns that are not in `turns`. */
    readonly long: readonly TurnRow[];
  };
  /** Those that are not done first, in the order of the ledger; how many there are is `taskCount`. */
  readonly tasks: readonly TaskView[];
  readonly taskCount: number;
  /** The data of the cast, each member with how its value begins. */
  readonly data: readonly { readonly name: string; readonly text: string }[];
};

/** The page as of the last entry of the view; `now` is the time for which it is made. Null before its first entry. */
export function castPageOf(view: PageView, now: string = view.page.at): CastPage | null {
  const { cast, page } = view;
  if (!cast) return null;
  const time = Date.parse(now);
  const open = openTurns(view, cast);
  const items = itemsOf(view, cast, open);
  const waits = waitsOf(view, cast, open);
  return {
    seq: page.seq,
    before: page.before,
    time: page.at,
    cast: cast.id,
    request: cast.request,
    requestText: page.request,
    loadout: cast.loadout,
    status: cast.status,
    words: wordsOf(cast, waits),
    code: cast.code,
    reason: cast.reason,
    startedAt: new Date(cast.clock.startedAt).toISOString(),
    startedBy: page.startedBy,
    changedAt: page.changedAt,
    elapsedMs: elapsedOf(cast, time),
    asOf: now,
    root: cast.root ?? null,
    usage: { ...cast.usage, unpriced: cast.unpriced },
    budget: {
      maxTokens: cast.budget.maxTokens,
      maxCost: cast.budget.maxCost,
      maxMs: cast.budget.maxDurationMs,
    },
    waits,
    acts: actsOf(cast, waits),
    graph: graphOf(view, cast, open, items),
    counts: countItems(view.items),
    items,
    turns: [...page.rows.values()].sort((a, b) => a.turn - b.turn),
    turnCount: page.turns,
    refusedCount: page.refused,
    timeline: timelineOf(view),
    ...shownTasks(tasksIn(view)),
    data: Object.entries(cast.data).map(([name, value]) => ({ name, text: beginningOf(value) })),
  };
}

function timelineOf(view: PageView): CastPage['timeline'] {
  const { counts, samples, marks, long } = view.page.timeline;
  const { every, seqs, times, tones } = samples;
  return {
    ...{ rows: rowNames(view), counts: { ...counts }, marks: marks.slice() },
    samples: { every, seqs: seqs.slice(), times: times.slice(), tones: tones.map((row) => row.slice()) },
    long: long.map(({ row }) => row),
  };
}

function shownTasks(all: readonly TaskView[]): Pick<CastPage, 'tasks' | 'taskCount'> {
  if (all.length <= TASKS_MAX) return { tasks: all, taskCount: all.length };
  const over = (task: TaskView) => (task.status === 'done' || task.status === 'canceled' ? 1 : 0);
  const first = new Set(all.toSorted((a, b) => over(a) - over(b)).slice(0, TASKS_MAX));
  return { tasks: all.filter((task) => first.has(task)), taskCount: all.length };
}

// The turns that are not over, each with its row.
type Open = { readonly turn: Turn; readonly row: TurnRow; readonly shown: ShownState };

function openTurns({ page }: PageView, cast: Cast): readonly Open[] {
  return Object.values(cast.turns).flatMap((turn) => {
    const row = page.rows.get(turn.id);
    return row ? [{ turn, row, shown: shownTurn(cast, turn) }] : [];
  });
}

function shownTurn({ status, stand }: Cast, { phase, asks, id }: Turn): ShownState {
  switch (phase) {
    case 'asked':
      return asks?.what === 'answer' ? 'question' : 'waits';
    case 'spent':
      return 'waits';
    case 'blocked':
      return 'blocked';
    case 'unknown':
      return 'unknown';
    case 'failed':
      return 'failed';
    default:
  }
  if (status === 'failed') return stand?.at === 'route' && stand.turn === id ? 'stopped' : 'failed';
  if (isOver(status)) return 'stopped';
  if (status === 'paused') return 'paused';
  return phase === 'held' ? 'soon' : 'runs';
}

/** In two or three words what goes on in an open turn. */
function doing({ turn, shown }: Open): string {
  if (shown === 'question') return 'asks you';
  if (shown === 'waits') return turn.asks ? 'asks permission' : turn.phase === 'spent' ? 'waits for you' : 'your turn';
  if (shown === 'unknown') return 'outcome unknown';
  if (shown === 'soon') return 'waits for its turn';
  if (shown !== 'runs') return shown;
  if (turn.phase === 'verifying') return 'is checked';
  if (turn.phase === 'merging') return 'is merged';
  if (turn.phase === 'awaiting') return 'waits';
  if (turn.phase === 'owed') return 'starts';
  return `attempt ${Math.max(turn.attempt, 1)}`;
}

function sinceOf({ row }: Open): string {
  const wait = row.waits.at(-1);
  if (wait && wait.to === null) return wait.from;
  return row.attempts.at(-1)?.at ?? row.at;
}

const WORDS: Readonly<Record<CastStatus, string>> = {
  running: 'Running',
  waiting: 'Waits for you',
  paused: 'Paused',
  completed: 'Completed',
  failed: 'Failed',
  aborted: 'Stopped',
};

function wordsOf({ status }: Cast, waits: readonly PageWait[]): string {
  return status === 'running' && waits.length > 0 ? `Running, ${waits.length} waits for you` : WORDS[status];
}

// The graph. What does not change while the cast runs is worked out once for its rules.
type Fixed = {
  readonly drawing: GraphDrawing;
  readonly sockets: readonly Omit<PageSocket, 'turns' | 'last' | 'shown' | 'refused' | 'live' | 'advanced'>[];
};

const FIXED = new WeakMap<Rules, Fixed>();

function fixedOf(rules: Rules): Fixed {
  const known = FIXED.get(rules);
  if (known) return known;
  const drawing = drawingOf(rules);
  const fixed = { drawing, sockets: drawing.steps.map((step) => ({ ...socketOf(rules, step.id), ...markedAs(step) })) };
  FIXED.set(rules, fixed);
  return fixed;
}

function markedAs({ name, does, marks, loop }: GraphDrawing['steps'][number]) {
  return {
    ...{ name, does, loop },
    isGenerator: marks.includes('Generator'),
    isConsumer: marks.includes('Loop consumer'),
    isConversation: marks.includes('Conversation'),
  };
}

function socketOf(rules: Rules, id: string) {
  const own: Materia | undefined = rules.materia[rules.graph.sockets[id]?.materia ?? ''];
  return {
    id,
    materia: own?.label ?? rules.graph.sockets[id]?.materia ?? '',
    kind: kindOf(rules, own),
    runner: own?.type === 'agent' ? own.runner : null,
    model: own?.type === 'agent' ? own.model : null,
    isEntry: rules.graph.entry === id,
    asks: own ? askedOf(rules, id) : [],
  };
}

/** The fields that the place of a socket in the graph asks for, and why. */
function askedOf(rules: Rules, id: string): readonly AskedField[] {
  const { requires, assign, schema } = contractOf(rules, id);
  const socket = rules.graph.sockets[id];
  const edges = socket?.edges.filter(({ when }) => when !== 'always').length ?? 0;
  const whySatisfied = edges > 0 ? `required by ${counted(edges, 'edge')} out of here` : 'required to finish an item';
  const known = requires.map((name): AskedField => {
    if (name === 'satisfied') return { name, type: 'boolean', why: whySatisfied };
    return name === 'workItems'
      ? { name, type: 'list', why: 'required: the items of the loop' }
      : { name, type: 'text', why: 'required' };
  });
  const named = Object.entries(assign).flatMap(([target, source]): AskedField[] => {
    const name = source.startsWith('$.') ? source.slice(2) : '';
    return name === '' || requires.includes(name) ? [] : [{ name, type: 'any', why: `kept as ${target}` }];
  });
  const checked = schema === null ? [] : [{ name: '$', type: 'schema', why: 'the JSON Schema of the socket' }];
  return [...known, ...named, ...checked];
}

function kindOf(rules: Rules, materia: Materia | undefined): PageSocket['kind'] {
  if (!materia) return 'empty';
  if (materia.type === 'utility') return 'utility';
  return runnerCan(rules, materia.runner, 'isPerson') ? 'person' : 'agent';
}

function graphOf(view: PageView, cast: Cast, open: readonly Open[], items: readonly PageItem[]): CastPage['graph'] {
  const { page } = view;
  const { rules } = cast;
  const { drawing, sockets } = fixedOf(rules);
  const at = new Map<string, Open[]>();
  for (const each of open) at.set(each.turn.socket, [...(at.get(each.turn.socket) ?? []), each]);
  const isEnded = (loop: string) => page.left.has(loop) || cast.status === 'completed';
  // Until the work comes back, the last word of a socket is that it sent the work back.
  const isSentBack = ({ end, list, key, turn }: TurnRow) =>
    end === 'not_satisfied' &&
    open.some(({ row }) => row.isRework && row.turn > turn && row.list === list && row.key === key);
  return {
    sockets: sockets.map((socket) => {
      const here = at.get(socket.id) ?? [];
      const {
        turns = 0,
        last = null,
        accepted = null,
        refused = null,
        advanced = 0,
      } = page.sockets.get(socket.id) ?? {};
      return {
        ...{ ...socket, turns, last, refused, advanced },
        shown: shownSocket(here, accepted && isSentBack(accepted) ? 'back' : null, {
          isFailed: cast.status === 'failed' && page.failedAt === socket.id,
          isDone: accepted !== null && (socket.loop === null || isEnded(socket.loop)),
        }),
        live: here.map((each) => lineOf(each)),
      };
    }),
    edges: drawing.ways.map(({ count: _count, isOtherwise: _otherwise, isNextItem: _next, then, ...way }) => ({
      ...way,
      then,
      ...takenOf(page.taken.get(wayKey(way))),
      perItem: way.max === null ? [] : perItem(cast, way.from, way.to),
    })),
    loops: drawing.loops.map(({ id, over, steps }) => {
      const loop = rules.graph.loops.find((each) => each.id === id);
      const walking = (page.lanes.get(id) ?? []).flatMap((key, lane) =>
        key === null ? [] : [{ lane: lane + 1, key }],
      );
      const list = loop?.iterator?.cursorKey ?? null;
      const isLeft = page.left.has(id);
      return {
        ...{ id, over, steps, walking, list, isLeft },
        generator: loop?.consumes ?? null,
        lanes: cast.lanes[id] || page.lanes.has(id) ? (loop?.maxConcurrency ?? 1) : 1,
        isEmpty: isLeft && !items.some((item) => item.list === list),
      };
    }),
  };
}

function lineOf(open: Open): LiveLine {
  const { turn, row, shown } = open;
  const { number, title } = row;
  return { turn: turn.id, number, title, attempt: turn.attempt, shown, words: doing(open), since: sinceOf(open) };
}

/** What waits comes before what runs. In a loop that goes on nothing is done yet. */
function shownSocket(
  here: readonly Open[],
  back: 'back' | null,
  { isFailed, isDone }: { readonly isFailed: boolean; readonly isDone: boolean },
): ShownState {
  for (const first of ORDER) if (here.some(({ shown }) => shown === first)) return first;
  if (isFailed) return 'failed';
  return back ?? (isDone ? 'done' : 'idle');
}

const ORDER: readonly ShownState[] = [
  'failed',
  'unknown',
  'waits',
  'question',
  'blocked',
  'runs',
  'soon',
  'paused',
  'stopped',
];

function takenOf(taken: TakenCount | undefined): Pick<PageEdge, 'count' | 'last'> {
  return taken ? { count: taken.count, last: { seq: taken.seq, at: taken.at } } : { count: 0, last: null };
}

/** The keys of `traversals` say from where, to where and for which item. */
function perItem({ traversals }: Cast, from: string, to: string): PageEdge['perItem'] {
  const begin = `${from}->${to}@`;
  return Object.entries(traversals).flatMap(([key, count]) =>
    key.startsWith(begin) && key !== begin ? [{ item: key.slice(begin.length), count }] : [],
  );
}

// Items.
const FATES = { done: 'done', skipped: 'skipped', leftEarly: 'skipped', leftOut: 'skipped', parked: 'parked' } as const;
const FATE_WORDS = {
  done: 'done',
  skipped: 'skipped',
  leftEarly: 'left early',
  leftOut: 'left out',
  parked: 'parked',
  open: 'not started',
} as const;

function itemsOf(view: PageView, cast: Cast, open: readonly Open[]): readonly PageItem[] {
  const { items, page, tasks } = view;
  if (items.lists.size === 0) return [];
  const fates = itemFates(items);
  const at = new Map<string, Open>();
  for (const each of open) {
    const { list, key } = each.row;
    if (list !== null && key !== null) at.set(itemIdOf(list, key), each);
  }
  return [...items.lists].flatMap(([list, places]) => {
    const loop = cast.rules.graph.loops.find(({ iterator }) => iterator?.cursorKey === list);
    const { items: path = 'workItems', as = null } = loop?.iterator ?? {};
    return places.map(({ task }, index): PageItem => {
      const key = itemKey(path, as, index);
      const id = itemIdOf(list, key);
      const now = at.get(id);
      const last = page.items.get(id);
      const fate = fates.get(task) ?? 'open';
      const isStopped = !now && fate === 'open' && last !== undefined;
      const shown: ShownState = now ? now.shown : fate !== 'open' ? FATES[fate] : isStopped ? stoppedAs(cast) : 'idle';
      return {
        ...{ list, number: index + 1, key, task, shown },
        title: taskOf(tasks.state.ledger, cast.id, task)?.title ?? last?.title ?? task,
        words: now ? doing(now) : isStopped ? STOPPED_WORDS[stoppedAs(cast)] : FATE_WORDS[fate],
        turn: now?.turn.id ?? last?.turn ?? null,
        socket: now?.turn.socket ?? last?.socket ?? null,
        lane: now ? now.row.row : null,
        turns: last?.turns ?? 0,
        rework: last?.rework ?? 0,
        since: now ? sinceOf(now) : (last?.endAt ?? null),
      };
    });
  });
}

const STOPPED_WORDS = { failed: 'failed', stopped: 'stopped', runs: 'between two steps' } as const;

/** An item whose turns are over and that is not. */
function stoppedAs({ status }: Cast): keyof typeof STOPPED_WORDS {
  return status === 'failed' ? 'failed' : isOver(status) ? 'stopped' : 'runs';
}

function rowNames({ page, items }: PageView): readonly string[] {
  const hasItems = items.lists.size > 0 || page.hasItems;
  if (!hasItems) return ['Steps'];
  if (page.lanesMax === 0) return ['Start', 'Items'];
  return ['Start', ...Array.from({ length: page.lanesMax }, (_, index) => `Lane ${index + 1}`)];
}

// What waits for a person.
function waitsOf(view: PageView, cast: Cast, open: readonly Open[]): readonly PageWait[] {
  if (isOver(cast.status)) return [];
  const turns = open.flatMap((each): PageWait[] => {
    const kind = waitKind(cast, each);
    if (kind === null) return [];
    const { turn, row } = each;
    const words = turn.asks?.question ?? row.attempts.at(-1)?.reason ?? '';
    return [{ kind, ...waiter(cast, each), since: sinceOf(each), words, approval: turn.asks?.approval ?? null }];
  });
  const known = new Set(turns.map(({ approval }) => approval));
  const asked = Object.values(view.state.approvals).flatMap((approval): PageWait[] => {
    if (approval.grant !== null || known.has(approval.id)) return [];
    const from = open.find(({ turn }) => turn.id === approval.from?.turn);
    const who = from ? waiter(cast, from) : { turn: null, socket: null, number: null, item: null, title: null };
    const since = new Date(approval.since).toISOString();
    return [{ kind: 'approval', ...who, since, words: approval.sealed.operation, approval: approval.id }];
  });
  const parked = (parkedIn({ ledger: view.state.ledger }, cast) ?? []).map(({ item, note }): PageWait => {
    const who = { turn: null, socket: null, number: item.index + 1, item: item.key, title: item.label };
    return { kind: 'parked', ...who, since: null, words: note, approval: null };
  });
  return [...turns, ...asked, ...parked];
}

function waiter({ rules }: Cast, { turn, row }: Open) {
  const { number, key, title } = row;
  return { turn: turn.id, socket: socketName(rules, turn.socket), number, item: key, title };
}

function waitKind(cast: Cast, { turn, shown }: Open): PageWait['kind'] | null {
  if (shown === 'question') return isConversing(cast, turn) ? 'talk' : 'question';
  if (shown === 'waits') return turn.asks ? 'approval' : turn.phase === 'spent' ? 'spent' : 'turn';
  return shown === 'unknown' || shown === 'blocked' ? shown : null;
}

// What a person can do now. The operation decides whether it is allowed when it is called.
function actsOf(cast: Cast, waits: readonly PageWait[]): readonly PageAct[] {
  const { id, status, code } = cast;
  // Parked items are decided about when nothing else goes on.
  const isParking = status === 'waiting' && code === 'ITEMS_PARKED';
  const decided = waits.filter(({ kind }) => kind !== 'parked' || isParking);
  const acts: PageAct[] = decided.flatMap((wait) => actsOfWait(cast, wait));
  if (status === 'running') acts.push(act('pause', 'cast.pause', { cast: id }, 'Pause', `baton pause ${id}`));
  if (status === 'paused' || status === 'failed' || status === 'aborted')
    acts.push(act('continue', 'cast.continue', { cast: id, detach: true }, 'Continue', `baton continue ${id}`));
  const isSpent = code === 'BUDGET_EXHAUSTED' || code === 'EDGE_BUDGET_EXHAUSTED';
  if (status === 'failed' && isSpent) {
    const what = code === 'BUDGET_EXHAUSTED' ? 'Give it as much again' : 'Allow as many rounds again';
    acts.push(act('revive', 'cast.revive', { cast: id, detach: true }, what, `baton revive ${id}`));
  }
  if (status === 'waiting' && waits.some(({ kind }) => kind === 'blocked'))
    acts.push(act('continue', 'cast.continue', { cast: id, detach: true }, 'Try again', `baton continue ${id}`));
  if (!isOver(status)) {
    const asks = [
      { field: 'text', label: 'What the next brief of its agents holds', isRequired: true },
      { field: 'interrupt', label: 'At once: the agents at work are interrupted', isRequired: false },
    ];
    acts.push({ ...act('say', 'cast.say', { cast: id }, 'Say', `baton say ${id} "…"`), asks });
  }
  if (status !== 'completed') {
    const asks = ['tokens', 'cost', 'minutes'].map((field) => ({ field, label: field, isRequired: false }));
    acts.push({ ...act('budget', 'cast.budget', { cast: id }, 'Budget', `baton budget ${id}`), asks });
  }
  if (!isOver(status)) {
    const confirm = 'Its agents are stopped now. What was accepted stays, and the cast can be continued later.';
    acts.push({ ...act('abort', 'cast.abort', { cast: id }, 'Abort', `baton abort ${id}`), confirm, asks: [REASON] });
  }
  return acts;
}

const REASON = { field: 'reason', label: 'Reason, for the log', isRequired: false } as const;

function act(id: string, operation: string, input: JsonObject, verb: string, command: string): PageAct {
  return { id, operation, input, verb, command, asks: [], confirm: null, turn: null, item: null };
}

function actsOfWait({ id: cast }: Cast, { kind, turn, item, approval }: PageWait): readonly PageAct[] {
  const own = (name: string, operation: string, input: JsonObject, verb: string, command: string) => ({
    ...act(`${name}:${turn ?? item ?? ''}`, operation, { ...input, detach: true }, verb, command),
    ...{ turn, item },
  });
  const decide = (choice: string, verb: string) =>
    own(choice, 'cast.decide', { turn: `${cast}:${turn}`, choice }, verb, `baton decide ${cast}:${turn} ${choice}`);
  const answer = {
    ...own('answer', 'cast.answer', { cast, turn: turn ?? 0 }, 'Answer', `baton answer ${cast} --turn ${turn} "…"`),
    asks: [{ field: 'answer', label: 'Answer', isRequired: true }],
  };
  switch (kind) {
    case 'question':
      return [answer, decide('rerun', 'Send on without an answer'), giveUp(decide('fail', 'Give the agent up'))];
    case 'talk': {
      const say = own('talk', 'cast.talk', { cast, turn: turn ?? 0 }, 'Send', `baton talk ${cast} --turn ${turn} "…"`);
      const asks = [{ field: 'text', label: 'Your words', isRequired: true }];
      return [{ ...say, asks }, own('finish', 'cast.continue', { cast }, 'Hand on', `baton continue ${cast}`)];
    }
    case 'turn':
      return [answer];
    case 'blocked':
      return [answer, giveUp(decide('fail', 'Give the agent up'))];
    case 'unknown':
      return [
        decide('accept', 'It ran, accept it'),
        decide('rerun', 'Run it once more'),
        giveUp(decide('fail', 'Give it up')),
      ];
    case 'spent':
      return [
        own('extend', 'cast.continue', { cast, extend: true }, 'Allow more rounds', `baton continue ${cast} --extend`),
      ];
    case 'approval': {
      if (approval === null) return [];
      // Only the card of the inbox shows what is sealed; so the way there is the act.
      const open = own('review', '', { approval }, 'Review', `baton approvals`);
      return [open];
    }
    case 'parked': {
      const named = `${cast}:${item}`;
      const retry = own('retry', 'cast.retry', { item: named }, 'Retry', `baton retry ${named} --note "…"`);
      const drop = own('drop', 'cast.drop', { item: named, yes: true }, 'Drop', `baton drop ${named} --reason "…"`);
      const confirm = 'The item is left out, and every item that depends on it.';
      return [
        { ...retry, asks: [{ field: 'note', label: 'A note for its next agent', isRequired: false }] },
        { ...drop, confirm, asks: [{ field: 'reason', label: 'Reason, for the log', isRequired: true }] },
      ];
    }
  }
}

function giveUp(one: PageAct): PageAct {
  return { ...one, confirm: 'The cast fails with this turn. It can be continued from there.' };
}

// Data of the cast: how a value begins, without writing all of it.
const BEGINNING_CHARS = 160;

function beginningOf(value: Json): string {
  const parts: string[] = [];
  write(value, parts, { left: BEGINNING_CHARS });
  const text = parts.join('');
  return text.length > BEGINNING_CHARS ? `${text.slice(0, BEGINNING_CHARS)}…`.toWellFormed() : text;
}

function write(value: Json, parts: string[], room: { left: number }): void {
  const put = (text: string) => {
    parts.push(text);
    room.left -= text.length;
  };
  if (room.left < 0) return;
  if (typeof value === 'string') return put(JSON.stringify(value.slice(0, room.left + 1)));
  if (Array.isArray(value)) {
    put('[');
    for (const [index, each] of (value as readonly Json[]).entries()) {
      if (room.left < 0) return;
      if (index > 0) put(', ');
      write(each, parts, room);
    }
    return put(']');
  }
  if (!isObject(value)) return put(String(value));
  put('{');
  let isFirst = true;
  for (const [name, each] of Object.entries(value)) {
    if (room.left < 0) return;
    put(`${isFirst ? '' : ', '}${name}: `);
    isFirst = false;
    write(each, parts, room);
  }
  put('}');
}
