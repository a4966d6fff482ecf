// What a loop region means as it is written: whom it consumes from, what it walks over, and what its legacy `exit`
// stands for. The checks and `resolve` both ask here, so that both see the same loop.
import { isObject, type JsonObject } from '../json.ts';
import { type Draft, given, isCondition, isGeneratorSocket, listAt, objectAt, stringAt } from './authored.ts';
import type { Condition } from './config.ts';

export const GENERATED = 'workItems';

/** What is walked over, before the cursors of a loadout are told apart. */
export type Walk = {
  readonly items: string;
  readonly as: string;
  readonly cursor: string;
  readonly cursorIsDefault: boolean;
};

/** The `advance` that a legacy `exit` puts on its source socket. */
export type DerivedAdvance = { readonly from: string; cursor: string; items: string; when: Condition };

export function membersOf(loop: JsonObject): readonly string[] {
  return [...new Set(listAt(loop, 'sockets').filter((member) => typeof member === 'string'))];
}

/** The sources of all edges that lead from generators outside the loop to one of its members, one entry per edge. */
export function generatorsEntering(draft: Draft, loop: JsonObject): readonly string[] {
  const members = new Set(membersOf(loop));
  const entering = draft.generatorEdges.filter(({ from, to }) => !members.has(from) && members.has(to));
  return entering.map((edge) => edge.from);
}

/**
 * The generator whose items a loop consumes. Putting a second generator between the first and the loop leaves the name
 * of the first behind; the one generator that enters the loop is then meant.
 */
export function consumedGenerator(draft: Draft, loop: JsonObject): string | null {
  const consumes = given(loop, 'consumes');
  if (!isObject(consumes)) return null;
  const named = stringAt(consumes, 'from');
  if (named === null || isParallelGenerator(draft, named)) return named;
  const sources = new Set(generatorsEntering(draft, loop));
  const [only] = sources;
  return sources.size === 1 && only !== undefined ? only : named;
}

/** Lanes may pass through other sockets before they reach their loop, so no edge need join the two. */
export function isParallelGenerator(draft: Draft, id: string): boolean {
  const materia = objectAt(draft.materia, stringAt(objectAt(draft.sockets, id), 'materia') ?? '');
  return isGeneratorSocket(draft, id) && given(materia, 'parallel') === true;
}

/** What a loop walks over: its iterator, or what `consumes` implies, the former completed by the latter. */
export function walkOfLoop(loop: JsonObject): Walk | null {
  const consumes = given(loop, 'consumes');
  const iterator = given(loop, 'iterator');
  const implied = isObject(consumes) ? walkOfConsumes(consumes) : null;
  if (!isObject(iterator)) return implied;
  const own = walkOf(iterator);
  if (own === null || implied === null) return own ?? implied;
  return {
    items: own.items,
    as: stringAt(iterator, 'as') ?? implied.as,
    cursor: stringAt(iterator, 'cursor') ?? implied.cursor,
    cursorIsDefault: stringAt(iterator, 'cursor') === null && implied.cursorIsDefault,
  };
}

/** What an `iterator` or a `foreach` walks over. */
export function walkOf(iterator: JsonObject): Walk | null {
  const items = stringAt(iterator, 'items');
  if (items === null) return null;
  const cursor = stringAt(iterator, 'cursor');
  const list = items.split('.').at(-1) ?? items;
  return {
    items,
    as: stringAt(iterator, 'as') ?? 'item',
    cursor: cursor ?? cursorFor(list),
    cursorIsDefault: cursor === null,
  };
}

/** A legacy `exit` moves the cursor on its source whenever its condition holds. */
export function advanceOfExit(loop: JsonObject): DerivedAdvance | null {
  const exit = objectAt(loop, 'exit');
  const walk = walkOfLoop(loop);
  const from = stringAt(exit, 'from');
  const when = given(exit, 'when');
  if (walk === null || from === null || !isCondition(when)) return null;
  return { from, cursor: walk.cursor, items: walk.items, when };
}

function walkOfConsumes(consumes: JsonObject): Walk {
  const output = stringAt(consumes, 'output') ?? GENERATED;
  const cursor = stringAt(consumes, 'cursor');
  return {
    items: `state.${output}`,
    as: stringAt(consumes, 'as') ?? 'workItem',
    cursor: cursor ?? cursorFor(output),
    cursorIsDefault: cursor === null,
  };
}

function cursorFor(list: string): string {
  return list === GENERATED ? 'workItemIndex' : `${list}Index`;
}
