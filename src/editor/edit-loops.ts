// Edits of loops: a region made from a selection, where it goes on to the next item, and its exits. An exit belongs to its loop: editing
// one changes `loops.<id>.exits` and nothing else.
import type { Condition } from '../kernel/graph/config.ts';
import { isCondition, isGenerator, namedContract, namedParse, parseOf } from '../kernel/graph/issue.ts';
import { GENERATED } from '../kernel/graph/resolve-graph.ts';
import { given, isObject, isText, type Json, type JsonObject, listAt, objectAt, stringAt } from '../kernel/json.ts';
import { type Denied, deny } from '../kernel/verdict.ts';
import { type Exit, exitsIn, materiaIn, renamed, routeId, without } from './document.ts';
import { conditionAfter, guardedFirst, leadsTo, readAsJson } from './edit-edges.ts';
import { first, type Sheet, shortened } from './sheet.ts';

type NewLoop = { readonly sockets: readonly string[]; readonly generator?: string; readonly id?: string };

export function makeLoop(sheet: Sheet, { sockets, generator: named, id }: NewLoop): Denied | null {
  const wanted = [...new Set(sockets)];
  const refused = first(
    ...wanted.map((each) => sheet.noSocket(each)),
    named === undefined ? null : sheet.noSocket(named),
    noRegion(sheet, wanted, named, id),
  );
  if (refused) return refused;
  const entering = generatorsInto(sheet, wanted);
  const generator = named ?? entering[0];
  if (generator === undefined || (named === undefined && entering.length > 1)) {
    const found = entering.length === 0 ? 'No generator leads' : `${entering.length} generators lead`;
    const fix = 'Name the step whose items the loop walks over.';
    return deny('INVALID_LOOP', `${found} into the selection. ${fix}`, { generators: [...entering] });
  }
  if (!isGenerator(materiaIn(sheet.document, generator))) {
    const fix = 'Mark its materia as a generator first.';
    return deny('INVALID_GENERATOR', `${sheet.name(generator)} makes no items. ${fix}`, { socket: generator });
  }
  const members = inFlow(sheet, wanted, generator);
  const loop = id ?? freeLoop(sheet, `each-${slug(sheet.name(generator))}`);
  sheet.putLoop(loop, { sockets: members, consumes: { from: generator, output: GENERATED } });
  enterFrom(sheet, generator, members);
  closeLoop(sheet, loop, members);
  sheet.selected = [loop];
  return null;
}

function noRegion(
  sheet: Sheet,
  wanted: readonly string[],
  generator: string | undefined,
  id: string | undefined,
): Denied | null {
  if (wanted.length === 0) return deny('INVALID_LOOP', 'Select the steps that each item goes through.');
  if (id !== undefined && (!isText(id) || id === '__proto__' || sheet.loopIds.includes(id)))
    return deny('INVALID_LOOP', `A loop cannot be called ${shortened(id)}, or there is one already.`);
  const other = sheet.loopIds.find((loop) => sheet.members(loop).some((member) => wanted.includes(member)));
  if (other !== undefined) return deny('INVALID_LOOP', `Part of the selection is in the loop ${other} already.`);
  if (generator !== undefined && wanted.includes(generator))
    return deny('INVALID_LOOP', `${sheet.name(generator)} makes the items, so it is outside of the loop.`);
  return null;
}

/** Generators outside of a selection with an edge into it. */
function generatorsInto(sheet: Sheet, members: readonly string[]): readonly string[] {
  return sheet.socketIds.filter(
    (id) =>
      !members.includes(id) &&
      isGenerator(materiaIn(sheet.document, id)) &&
      sheet.edges(id).some((edge) => members.includes(stringAt(edge, 'to') ?? '')),
  );
}

/** The members as an item walks through them: from where the generator enters, by edges that lead on. */
function inFlow(sheet: Sheet, wanted: readonly string[], generator: string): readonly string[] {
  const targets = sheet.edges(generator).map((edge) => stringAt(edge, 'to') ?? '');
  const entered = wanted.find((id) => targets.includes(id));
  const isEntered = (id: string) =>
    wanted.some(
      (other) => other !== id && sheet.edges(other).some((edge) => edge.when !== 'not_satisfied' && edge.to === id),
    );
  const start = entered ?? wanted.find((id) => !isEntered(id)) ?? wanted[0] ?? '';
  const found: string[] = [];
  const ahead = [start];
  for (let id = ahead.shift(); id !== undefined; id = ahead.shift()) {
    if (found.includes(id) || !wanted.includes(id)) continue;
    found.push(id);
    const onwards = sheet.edges(id).filter(({ when }) => when !== 'not_satisfied');
    ahead.push(...onwards.map((edge) => stringAt(edge, 'to') ?? ''));
  }
  return [...found, ...wanted.filter((id) => !found.includes(id))];
}

function enterFrom(sheet: Sheet, generator: string, members: readonly string[]): void {
  const edges = sheet.edges(generator);
  const [start = ''] = members;
  if (edges.some((edge) => members.includes(stringAt(edge, 'to') ?? ''))) return;
  if (edges.some(({ when }) => when === 'always')) return;
  sheet.putEdges(generator, [...edges, { when: 'always', to: start }]);
  sheet.note(`${sheet.name(generator)} now leads to ${sheet.name(start)}.`);
}

/** The last member goes on to the next item: it advances and leads back. Its ways out of the region become exits. */
function closeLoop(sheet: Sheet, loop: string, members: readonly string[]): void {
  const [start = ''] = members;
  const last = members.at(-1) ?? start;
  const edges = sheet.edges(last);
  const isInside = (edge: JsonObject) => members.includes(stringAt(edge, 'to') ?? '');
  const isAdvancing = members.some((id) => isObject(given(sheet.socket(id), 'advance')));
  const isJudging = edges.some(({ when }) => when === 'satisfied' || when === 'not_satisfied');
  const out = edges.filter((edge) => !isInside(edge) && isCondition(edge.when));
  const kept = edges.filter((edge) => !out.includes(edge));
  const when: Condition = kept.some((edge) => edge.when === 'not_satisfied') ? 'satisfied' : 'always';
  const isClosed = members.some((id) =>
    sheet
      .edges(id)
      .some((edge) => isInside(edge) && edge.when !== 'not_satisfied' && leadsBack(sheet, members, id, edge)),
  );
  const back = isClosed || kept.some((edge) => edge.when === when) ? [] : [{ when, to: start }];
  if (back.length > 0) sheet.note(`${sheet.name(last)} now leads back to ${sheet.name(start)} for the next item.`);
  sheet.putEdges(last, guardedFirst(sheet, last, [...kept, ...back]));
  for (const edge of out) exitInstead(sheet, loop, last, edge);
  if (isAdvancing) return;
  putAdvance(sheet, loop, last, isJudging ? 'satisfied' : null);
  sheet.note(`An item is done when ${sheet.name(last)} ${isJudging ? 'is satisfied' : 'has answered'}.`);
}

function leadsBack(sheet: Sheet, members: readonly string[], from: string, edge: JsonObject): boolean {
  const to = stringAt(edge, 'to') ?? '';
  return members.indexOf(to) <= members.indexOf(from) && leadsTo(sheet, to, from);
}

/** An edge out of the region was meant for the end of the list. */
function exitInstead(sheet: Sheet, loop: string, from: string, edge: JsonObject): void {
  const to = stringAt(edge, 'to') ?? '';
  if (to === 'end' || !sheet.has(to)) return;
  const exits = listAt(sheet.loop(loop), 'exits');
  // A list that is used up is left in every case, whatever the last answer was.
  const condition = exits.length === 0 ? 'always' : String(edge.when);
  sheet.putExits(loop, [...exits, { id: routeId(from, condition), from, condition, targetSocketId: to }]);
  sheet.note(`The way from ${sheet.name(from)} to ${sheet.name(to)} is now the exit of the loop.`);
}

/** The slots that a loop counts in and walks over. */
function walkOf(sheet: Sheet, loop: string): { readonly cursor: string; readonly items: string } {
  const written = sheet.loop(loop);
  const consumes = objectAt(written, 'consumes');
  const iterator = objectAt(written, 'iterator');
  const output = stringAt(consumes, 'output') ?? GENERATED;
  const items = stringAt(iterator, 'items') ?? `state.${output}`;
  const list = items.split('.').at(-1) ?? items;
  const usual = list === GENERATED ? 'workItemIndex' : `${list}Index`;
  return { cursor: stringAt(iterator, 'cursor') ?? stringAt(consumes, 'cursor') ?? usual, items };
}

function putAdvance(sheet: Sheet, loop: string, id: string, when: Condition | null): void {
  const before = objectAt(sheet.socket(id), 'advance');
  const walk = walkOf(sheet, loop);
  const advance = { ...without(before, 'when'), ...walk, ...(when === null ? {} : { when }) };
  const { edges, ...rest } = without(sheet.socket(id), 'advance');
  sheet.putSocket(id, { ...rest, advance, ...(edges === undefined ? {} : { edges }) });
  // What decides on an item answers a verdict.
  if (when !== null) readAsJson(sheet, id, when);
}

export function setAdvance(
  sheet: Sheet,
  id: string,
  advance: { readonly when: Condition | null } | null,
): Denied | null {
  const refused = sheet.noSocket(id);
  if (refused) return refused;
  if (advance === null) {
    sheet.putSocket(id, without(sheet.socket(id), 'advance'));
    return null;
  }
  const loop = sheet.loopIds.find((each) => sheet.members(each).includes(id));
  if (loop === undefined) return deny('INVALID_LOOP', `${sheet.name(id)} is in no loop, so there is no next item.`);
  putAdvance(sheet, loop, id, advance.when);
  return null;
}

export function breakLoop(sheet: Sheet, loop: string): Denied | null {
  const refused = sheet.noLoop(loop);
  if (refused) return refused;
  const exits = exitsIn(sheet.document).filter((each) => each.loop === loop);
  sheet.putLoop(loop, null);
  const gone = exits.map(({ from, to, condition }) => `${sheet.name(from)} to ${sheet.name(to)} (${condition})`);
  sheet.note(
    gone.length === 0
      ? `The loop ${loop} is removed. It had no exits.`
      : `The loop ${loop} is removed, with its ${gone.length === 1 ? 'exit' : 'exits'}: ${gone.join(', ')}.`,
  );
  return null;
}

type LoopChange = {
  readonly loop: string;
  readonly generator?: string;
  readonly cursor?: string | null;
  readonly maxConcurrency?: number | null;
  readonly sockets?: readonly string[];
  readonly id?: string;
};

export function setLoop(sheet: Sheet, change: LoopChange): Denied | null {
  const { loop, generator, cursor, maxConcurrency, sockets, id } = change;
  const refused = first(
    sheet.noLoop(loop),
    generator === undefined ? null : sheet.noSocket(generator),
    ...(sockets ?? []).map((each) => sheet.noSocket(each)),
    sockets === undefined ? null : noMembers(sheet, loop, sockets),
  );
  if (refused) return refused;
  if (generator !== undefined) {
    const consumes = objectAt(sheet.loop(loop), 'consumes');
    sheet.putLoop(loop, { ...sheet.loop(loop), consumes: { output: GENERATED, ...consumes, from: generator } });
  }
  if (cursor !== undefined) setCursor(sheet, loop, cursor);
  if (maxConcurrency !== undefined) {
    const parallel = objectAt(sheet.loop(loop), 'parallel');
    const next = maxConcurrency === null ? without(parallel, 'maxConcurrency') : { ...parallel, maxConcurrency };
    const rest = without(sheet.loop(loop), 'parallel');
    sheet.putLoop(loop, Object.keys(next).length === 0 ? rest : { ...sheet.loop(loop), parallel: next });
  }
  if (sockets !== undefined) setMembers(sheet, loop, [...new Set(sockets)]);
  if (id === undefined || id === loop) return null;
  if (!isText(id) || id === '__proto__' || sheet.loopIds.includes(id))
    return deny('INVALID_LOOP', `A loop cannot be called ${shortened(id)}, or there is one already.`);
  sheet.putLoadout((loadout) => ({ ...loadout, loops: renamed(objectAt(loadout, 'loops'), loop, id) }));
  sheet.selected = [id];
  return null;
}

function noMembers(sheet: Sheet, loop: string, sockets: readonly string[]): Denied | null {
  if (sockets.length === 0) return deny('INVALID_LOOP', 'A loop has at least one socket. Break it to remove it.');
  const other = sheet.loopIds.find((each) => each !== loop && sheet.members(each).some((id) => sockets.includes(id)));
  return other === undefined ? null : deny('INVALID_LOOP', `One of them is in the loop ${other} already.`);
}

/** The name of the cursor is written in the loop and wherever its members advance. */
function setCursor(sheet: Sheet, loop: string, cursor: string | null): void {
  const before = walkOf(sheet, loop).cursor;
  const written = sheet.loop(loop);
  const where = isObject(given(written, 'iterator')) ? 'iterator' : 'consumes';
  const walk = objectAt(written, where);
  sheet.putLoop(loop, { ...written, [where]: cursor === null ? without(walk, 'cursor') : { ...walk, cursor } });
  const after = walkOf(sheet, loop).cursor;
  for (const id of sheet.members(loop)) {
    const socket = sheet.socket(id);
    const advance = objectAt(socket, 'advance');
    if (advance.cursor === before) sheet.putSocket(id, { ...socket, advance: { ...advance, cursor: after } });
  }
}

/** Exits of sockets that are no members any more are removed. */
function setMembers(sheet: Sheet, loop: string, members: readonly string[]): void {
  const written = sheet.loop(loop);
  const exits = listAt(written, 'exits');
  const kept = exits.filter((exit) => !isObject(exit) || members.includes(stringAt(exit, 'from') ?? ''));
  const next: JsonObject = { ...written, sockets: members };
  sheet.putLoop(loop, next);
  if (kept.length === exits.length) return;
  sheet.putExits(loop, kept);
  sheet.note(`The loop ${loop} loses ${exits.length - kept.length === 1 ? 'the exit' : 'the exits'} of what left it.`);
}

// Exits

type NewExit = {
  readonly loop: string;
  readonly from: string;
  readonly condition: Condition;
  readonly to: string;
};

export function addExit(sheet: Sheet, { loop, from, condition, to }: NewExit): Denied | null {
  const refused = first(sheet.noLoop(loop), noRoute(sheet, loop, { from, condition, to }, null));
  if (refused) return refused;
  const id = freeRoute(sheet, loop, from, condition, null);
  sheet.putExits(loop, [...listAt(sheet.loop(loop), 'exits'), { id, from, condition, targetSocketId: to }]);
  sheet.selected = [`loop-exit:${loop}:${id}`];
  warnOfText(sheet, from, condition);
  return null;
}

function noRoute(
  sheet: Sheet,
  loop: string,
  { from, condition, to }: Pick<NewExit, 'from' | 'to'> & { readonly condition: string },
  except: number | null,
): Denied | null {
  if (to === 'end')
    return deny('UNKNOWN_ENDPOINT', 'Without an exit the cast ends when the list is used up. Remove the exit.');
  const missing = first(sheet.noSocket(from), sheet.noSocket(to));
  if (missing) return missing;
  if (!isCondition(condition))
    return deny('INVALID_EDGE_CONDITION', `${shortened(condition)} is no condition of an exit.`);
  if (!sheet.members(loop).includes(from))
    return deny('INVALID_LOOP', `${sheet.name(from)} is not in the loop ${loop}, so the loop cannot be left there.`);
  const twice = exitsIn(sheet.document).some(
    (each) => each.loop === loop && each.index !== except && each.from === from && each.condition === condition,
  );
  return twice
    ? deny('INVALID_LOOP', `The loop ${loop} is left at ${sheet.name(from)} on ${condition} already.`)
    : null;
}

function warnOfText(sheet: Sheet, from: string, condition: string): void {
  const materia = materiaIn(sheet.document, from);
  if (condition === 'always' || materia === null || parseOf(sheet.socket(from), materia) === 'json') return;
  const format = namedParse(sheet.socket(from)) ?? namedContract(sheet.socket(from)) ?? 'text';
  sheet.note(`${sheet.name(from)} answers in ${format}, and this exit needs a verdict.`);
}

/** The usual id of a route, unless another one of the loop has it. */
function freeRoute(sheet: Sheet, loop: string, from: string, condition: string, except: number | null): string {
  const taken = exitsIn(sheet.document).flatMap((each) =>
    each.loop === loop && each.index !== except ? [each.route] : [],
  );
  const usual = routeId(from, condition);
  let id = usual;
  for (let number = 2; taken.includes(id); number++) id = `${usual}-${number}`;
  return id;
}

function exitNamed(sheet: Sheet, exit: string): Exit | Denied {
  return (
    exitsIn(sheet.document).find((each) => each.exit === exit) ??
    deny('UNKNOWN_ENDPOINT', 'There is no such exit.', { exit: shortened(exit) })
  );
}

export function setExit(
  sheet: Sheet,
  exit: string,
  change: 'cycle' | { readonly from?: string; readonly condition?: Condition; readonly to?: string },
): Denied | null {
  const found = exitNamed(sheet, exit);
  if ('allow' in found) return found;
  const next = change === 'cycle' ? { condition: nextFree(sheet, found) } : change;
  const { from = found.from, condition = found.condition, to = found.to } = next;
  const refused = noRoute(sheet, found.loop, { from, condition, to }, found.index);
  if (refused) return refused;
  const exits = listAt(sheet.loop(found.loop), 'exits');
  const before = exits[found.index] as JsonObject;
  // An id that was made from the other two is made from them again; a name that a person gave stays.
  const isUsual = found.route === routeId(found.from, found.condition);
  const id = isUsual ? freeRoute(sheet, found.loop, from, condition, found.index) : found.route;
  const written: Json = {
    ...before,
    ...(Object.hasOwn(before, 'id') ? { id } : {}),
    from,
    condition,
    targetSocketId: to,
  };
  sheet.putExits(
    found.loop,
    exits.map((each, index) => (index === found.index ? written : each)),
  );
  const shown = Object.hasOwn(before, 'id') ? id : routeId(from, condition);
  sheet.selected = [`loop-exit:${found.loop}:${shown}`];
  warnOfText(sheet, from, condition);
  return null;
}

/** The next condition that no other exit of the socket has. */
function nextFree(sheet: Sheet, { loop, index, from, condition }: Exit): Condition {
  const others = exitsIn(sheet.document).filter(
    (each) => each.loop === loop && each.from === from && each.index !== index,
  );
  const second = conditionAfter(condition);
  const ahead = [second, conditionAfter(second), condition].filter(isCondition);
  return ahead.find((each) => !others.some((other) => other.condition === each)) ?? 'always';
}

export function removeExit(sheet: Sheet, exit: string): Denied | null {
  const found = exitNamed(sheet, exit);
  if ('allow' in found) return found;
  sheet.putExits(
    found.loop,
    listAt(sheet.loop(found.loop), 'exits').filter((_, index) => index !== found.index),
  );
  return null;
}

function freeLoop(sheet: Sheet, usual: string): string {
  let id = usual;
  for (let number = 2; sheet.loopIds.includes(id); number++) id = `${usual}-${number}`;
  return id;
}

/** A name as ids have it: small letters, digits and hyphens. */
function slug(name: string): string {
  const letters = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return letters === '' ? 'item' : letters.slice(0, 60);
}
