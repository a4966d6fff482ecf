// The command that does the same as an act of the page. Whoever prefers the terminal copies it.
import type { Field, Input, Operation } from './api.ts';

/** `baton task move T-12 done --reason 'tested by hand'`; null where the command line has no such command. */
export function commandOf(operation: Operation | undefined, input: Input): string | null {
  if (!operation || operation.cli === null) return null;
  const fields = Object.entries(operation.fields);
  const [options, words] = [
    fields.filter(([, field]) => field.word === undefined && field.hidden !== true),
    fields.filter(([, field]) => field.word !== undefined),
  ];
  return [
    'baton',
    operation.cli,
    ...words.flatMap(([name, field]) => wordsOf(field, input[name])),
    ...options.flatMap(([name, field]) => optionOf(name, field, input[name])),
  ].join(' ');
}

function wordsOf(field: Field, value: unknown): readonly string[] {
  if (value === undefined || value === '' || value === null) return field.required === true ? [field.word ?? ''] : [];
  const each = Array.isArray(value) ? value : [value];
  const words = each.map((one) => quoted(typeof one === 'object' ? JSON.stringify(one) : String(one)));
  return field.word?.startsWith('-- ') ? ['--', ...words] : words;
}

function optionOf(name: string, field: Field, value: unknown): readonly string[] {
  const option = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  if (value === undefined || value === false || value === '' || value === null) return [];
  if (field.type === 'flag') return [option];
  return (Array.isArray(value) ? value : [value]).flatMap((each) => [option, quoted(String(each))]);
}

function quoted(word: string): string {
  return /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** The command of an act, at the element that carries it out. It is no attribute: there nothing writes hidden signs out. */
const commands = new WeakMap<Element, string>();

/** For `ref`, with `data-copies` beside it. */
export function carries(command: string): (element: Element | null) => void {
  return (element) => {
    if (element) commands.set(element, command);
  };
}

/** The command of the act at this element, else of the first act around it. */
export function commandAt(from: Element): string | null {
  for (let at: Element | null = from; at !== null; at = at.parentElement) {
    const found = at.matches('[data-copies]') ? at : at.querySelector('[data-copies]');
    const command = found ? commands.get(found) : undefined;
    if (command !== undefined) return command;
  }
  return null;
}

export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
