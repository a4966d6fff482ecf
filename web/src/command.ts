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

export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
