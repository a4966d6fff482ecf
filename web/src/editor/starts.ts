// The three ways to begin on an empty canvas.
import { type EditorDocument, materiaOf } from '../../../src/editor/document.ts';
import type { Edit } from '../../../src/editor/edit.ts';
import { isObject, type JsonObject } from '../../../src/kernel/json.ts';

type Start = { readonly says: string; readonly edit: Edit };

const PLAN: JsonObject = {
  tools: 'readOnly',
  generator: true,
  prompt:
    'Plan this request: {{request}}\n\nReturn compact JSON with ordered workItems. Each has a title and a context.',
};
const BUILD: JsonObject = {
  tools: 'coding',
  prompt: 'Build this item, and only it: {{item.title}}\n\n{{item.context}}',
};
const REVIEW: JsonObject = {
  tools: 'readAndRun',
  prompt: 'Review the change for {{item.title}}. When it is not right, say in context what is missing.',
};
const WORK: JsonObject = { tools: 'coding', prompt: 'Do this: {{request}}' };

export function startsFor(document: EditorDocument): readonly Start[] {
  const known = materiaOf(document);
  const made: Edit[] = [];
  /** A materia of this name, unless another one has it. */
  const need = (name: string, definition: JsonObject): string => {
    const fits = (id: string): boolean => {
      const own = known[id];
      return !isObject(own) || (own.generator === true) === (definition.generator === true);
    };
    let id = name;
    for (let number = 2; !fits(id); number++) id = `${name}-${number}`;
    if (!isObject(known[id])) made.push({ edit: 'materia.add', id, definition });
    return id;
  };
  const [plan, build, review] = [need('plan', PLAN), need('build', BUILD), need('review', REVIEW)];
  const loop: Edit = {
    edit: 'all',
    edits: [
      ...made.splice(0),
      { edit: 'socket.add', materia: plan },
      { edit: 'socket.add', materia: build, after: 'Socket-1' },
      { edit: 'socket.add', materia: review, after: 'Socket-2' },
      { edit: 'edge.add', from: 'Socket-3', to: 'Socket-2', when: 'not_satisfied' },
      { edit: 'edge.set', edge: { from: 'Socket-3', index: 0 }, maxTraversals: 3 },
      { edit: 'loop.make', sockets: ['Socket-2', 'Socket-3'] },
    ],
  };
  const work = need('work', WORK);
  const one: Edit = { edit: 'all', edits: [...made.splice(0), { edit: 'socket.add', materia: work }] };
  return [
    { says: 'Plan, build, review', edit: loop },
    { says: 'One agent', edit: one },
    { says: 'Empty', edit: { edit: 'socket.add' } },
  ];
}
