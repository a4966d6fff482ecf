// What the answer of a socket must hold, and why: read from the draft, so that it is there before the draft is sound.
import { type EditorDocument, loopWith, materiaIn, socketAt, socketsOf } from '../../../src/editor/document.ts';
import { contractNameOf, isGenerator, parseOf } from '../../../src/kernel/graph/issue.ts';
import { isObject, isString, listAt, objectAt } from '../../../src/kernel/json.ts';
import { plural } from '../words.ts';

export type Returned = { readonly name: string; readonly type: string; readonly why: string };

const GUARDED = ['satisfied', 'not_satisfied'];

export function returnsOf(document: EditorDocument, id: string): readonly Returned[] {
  const [socket, materia] = [socketAt(document, id), materiaIn(document, id)];
  if (!socket || !materia) return [];
  const contract = contractNameOf(socket, materia);
  const found: Returned[] = [];
  const add = (name: string, type: string, why: string): void => {
    if (!found.some((each) => each.name === name)) found.push({ name, type, why });
  };
  if (isGenerator(materia)) add('workItems', 'list', 'because it is a generator');
  const edges = listAt(socket, 'edges').filter(isObject);
  const guarded = edges.filter(({ when }) => GUARDED.some((each) => each === when)).length;
  const asked = objectAt(socket, 'advance').when;
  const isJudged = isString(asked) && GUARDED.includes(asked);
  if (guarded > 0) add('satisfied', 'boolean', `because ${plural(guarded, 'edge')} read${guarded === 1 ? 's' : ''} it`);
  else if (isJudged)
    add('satisfied', 'boolean', `because the loop ${loopWith(document, id) ?? ''} advances on it`.trim());
  for (const { when } of edges)
    if (isObject(when) && isString(when.field)) add(when.field, 'value', 'because an edge asks for it');
  if (edges.some(({ when }) => when === 'not_satisfied')) add('context', 'text', 'the reason for rework');
  for (const [target, source] of Object.entries({ ...objectAt(materia, 'assign'), ...objectAt(socket, 'assign') })) {
    const name = isString(source) ? /^\$\.([^.]+)/.exec(source)?.[1] : undefined;
    if (name !== undefined) add(name, name === 'context' ? 'text' : 'value', `kept as ${target}`);
  }
  const schema = socket.schema ?? materia.schema;
  if (schema !== undefined) add('$', 'schema', isString(schema) ? `as ${schema} says` : 'as its JSON Schema says');
  if (contract !== 'materia' && contract !== 'text') add('$', contract, `a report as ${contract} writes it`);
  if (found.length === 0 && parseOf(socket, materia) === 'json')
    add('$', 'object', 'one JSON object, no field is asked for');
  return found;
}

/** The slots of the cast data that the draft writes. */
export function slotsOf(document: EditorDocument): readonly string[] {
  const found = Object.values(socketsOf(document)).flatMap((socket) =>
    isObject(socket) ? Object.keys(objectAt(socket, 'assign')) : [],
  );
  return [...new Set([...found, 'workItems'])];
}

/** Where a value of `assign` can come from. */
export function pathsOf(document: EditorDocument, id: string): readonly string[] {
  const returned = returnsOf(document, id).flatMap(({ name }) => (name === '$' ? [] : [`$.${name}`]));
  const slots = slotsOf(document).map((slot) => `state.${slot}`);
  return [
    ...new Set([
      ...returned,
      '$',
      '$.context',
      '$.satisfied',
      'item',
      'item.title',
      'item.context',
      ...slots,
      'lastJson',
      'lastOutput',
    ]),
  ];
}
