// Traces the turns of a cast: which turn handed to which, with which prompt, model and brief, who decided, and which files changed.
// Texts appear as digests, as in the log.
import type { Rules } from '../kernel/graph/config.ts';
import { bystanderAt, remarkOn } from '../kernel/graph/route.ts';
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';
import type { StoredLine } from '../log/stored-line.ts';
import { digestOfText, isDecision, promptsIn } from './bundle.ts';

export type TracedTurn = {
  readonly cast: string;
  readonly turn: number;
  readonly socket: string;
  readonly visit: number;
  readonly item: string | null;
  readonly materia: string;
  readonly runner: string | null;
  readonly model: string | null;
  /** Digests of the materia's prompt, the last brief, and the accepted output. */
  readonly prompt: string | null;
  readonly brief: string | null;
  readonly output: string | null;
  /** The id of the handoff to this turn. Null for a first turn or without trust. */
  readonly handoff: string | null;
  /** The id of the handoff to the orchestrator that mediated; absent where none did. */
  readonly mediation?: string;
  /** The turn whose handoff led to this one, or null for the first turn. */
  readonly after: number | null;
  readonly decisions: readonly { readonly seq: number; readonly kind: string; readonly by: string }[];
  readonly touched: Readonly<Record<string, string | null>>;
  /** Why the changes may not be the turn's own: they were only observed. Null if they are its own. */
  readonly remark: string | null;
  /** The entry of its acceptance, or null. */
  readonly accepted: number | null;
};

type Traced = { -readonly [Key in keyof TracedTurn]: TracedTurn[Key] } & {
  decisions: TracedTurn['decisions'][number][];
};

/** The turns of one cast in the order they began. `lines` are its facts, in order. */
export function turnsOf(cast: string, lines: readonly (StoredLine & { readonly by: string })[]): readonly TracedTurn[] {
  const turns = new Map<number, Traced>();
  let rules: JsonObject = {};
  let root: Json | undefined;
  /** The last turn that handed to a socket, and to a socket with an item, because items can run in parallel. */
  const handedTo = new Map<string, number>();
  for (const { seq, kind, fact, by } of lines) {
    const turn = turns.get(Number(fact.turn));
    if (kind === 'cast.started') {
      rules = isObject(fact.rules) ? fact.rules : {};
      root = fact.root;
    } else if (kind === 'turn.started') {
      const [socket, own] = [String(fact.socket), placeOf(fact.socket, memberOf(fact, ['item', 'key']))];
      const started = newTurn(cast, fact, rules, handedTo.get(own) ?? handedTo.get(socket) ?? null);
      turns.set(started.turn, started);
      handedTo.delete(own);
    } else if (kind === 'edge.taken' || kind === 'exit.taken') {
      for (const place of [String(fact.to), placeOf(fact.to, fact.item)]) handedTo.set(place, Number(fact.turn));
    } else if (turn && kind === 'attempt.started') {
      turn.brief = digestOfText(fact.brief);
      const handoff = memberOf(fact, ['envelope', 'handoff_id']);
      if (typeof handoff === 'string') turn.handoff = handoff;
      const mediation = memberOf(fact, ['envelope', 'mediation', 'handoff_id']);
      if (typeof mediation === 'string') turn.mediation = mediation;
      // A script answered instead of the runner.
      if (isObject(fact.script)) Object.assign(turn, { runner: 'scripted', model: null });
    } else if (turn && kind === 'turn.accepted') {
      turn.accepted = seq;
      turn.output = digestOfText(fact.output);
      turn.touched = touchedIn(fact.touched);
      turn.remark = remarkFor(rules, root, turn.socket);
    }
    if (turn && isDecision(kind)) turn.decisions.push({ seq, kind, by });
  }
  return [...turns.values()];
}

/** The turns that changed a file, and all turns that led to them, in order. */
export function behindFile(turns: readonly TracedTurn[], path: string): readonly TracedTurn[] {
  return withThose(
    turns,
    turns.filter(({ touched }) => Object.hasOwn(touched, path)),
    behind,
  );
}

/** The turns with this digest or handoff, and all turns that followed from them. */
export function aheadOf(turns: readonly TracedTurn[], digest: string): readonly TracedTurn[] {
  return withThose(
    turns,
    turns.filter((turn) => partsOf(turn).includes(digest)),
    ahead,
  );
}

/** Every digest of a turn. */
function partsOf({ prompt, brief, output, handoff, mediation, touched }: TracedTurn): readonly (string | null)[] {
  return [prompt, brief, output, handoff, mediation ?? null, ...Object.values(touched)];
}

/** A foreign handoff and its verdict. */
export type TracedHandoff = {
  readonly handoff: string | null;
  readonly source: string | null;
  readonly target: string | null;
  readonly parent: string | null;
  readonly code: string;
  /** The digest of the envelope. */
  readonly envelope: string | null;
  /** The entry that holds the verdict. */
  readonly judged: number;
};

export function tracedHandoff({ seq, fact }: Pick<StoredLine, 'seq' | 'fact'>): TracedHandoff {
  const text = (name: string) => {
    const value = fact[name];
    return typeof value === 'string' ? value : null;
  };
  return {
    handoff: text('handoff'),
    source: text('source'),
    target: text('target'),
    parent: text('parent'),
    code: text('code') ?? '',
    envelope: text('envelopeDigest'),
    judged: seq,
  };
}

type Next = (turns: readonly TracedTurn[], turn: TracedTurn) => readonly TracedTurn[];

const behind: Next = (turns, { after }) => turns.filter(({ turn }) => turn === after);
const ahead: Next = (turns, { turn }) => turns.filter(({ after }) => after === turn);

function withThose(turns: readonly TracedTurn[], start: readonly TracedTurn[], next: Next): readonly TracedTurn[] {
  const found = new Set<TracedTurn>();
  const due = [...start];
  for (let turn = due.pop(); turn; turn = due.pop()) {
    if (found.has(turn)) continue;
    found.add(turn);
    due.push(...next(turns, turn));
  }
  return turns.filter((turn) => found.has(turn));
}

function newTurn(cast: string, fact: JsonObject, rules: JsonObject, after: number | null): Traced {
  const socket = String(fact.socket);
  const materia = String(memberOf(rules, ['graph', 'sockets', socket, 'materia']) ?? '');
  const text = (value: Json | undefined) => (typeof value === 'string' ? value : null);
  return {
    cast,
    turn: Number(fact.turn),
    socket,
    visit: Number(fact.visit),
    item: text(memberOf(fact, ['item', 'key'])),
    materia,
    runner: text(memberOf(rules, ['materia', materia, 'runner'])),
    model: text(memberOf(rules, ['materia', materia, 'model'])),
    prompt: promptsIn(rules)[materia] ?? null,
    brief: null,
    output: null,
    handoff: null,
    after,
    decisions: [],
    touched: {},
    remark: null,
    accepted: null,
  };
}

/** Null if the rules were erased. */
function remarkFor(rules: JsonObject, root: Json | undefined, socket: string): string | null {
  if (!isObject(memberOf(rules, ['graph', 'sockets'])) || !isObject(rules.materia)) return null;
  const who = bystanderAt(rules as unknown as Rules, typeof root === 'string' ? root : undefined, socket);
  return who === null ? null : remarkOn(who, socket);
}

function placeOf(socket: Json | undefined, item: Json | undefined): string {
  return `${String(socket)} ${typeof item === 'string' ? item : ''}`;
}

function touchedIn(value: Json | undefined): Readonly<Record<string, string | null>> {
  if (!isObject(value)) return {};
  return Object.fromEntries(
    Object.entries(value).map(([path, digest]) => [path, typeof digest === 'string' ? digest : null]),
  );
}

function memberOf(value: Json | undefined, path: readonly string[]): Json | undefined {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  return isObject(value) && Object.hasOwn(value, name) ? memberOf(value[name], rest) : undefined;
}
