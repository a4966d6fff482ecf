// Commands made from operations: the words, options and help come from the fields of an entry. By hand there is only how an
// answer is shown.
import type { Act } from '../access/role.ts';
import type { Field, Fields } from '../app/fields.ts';
import type { Entry } from '../app/operation.ts';
import { OPERATIONS, type OperationName } from '../app/operations/table.ts';
import type { Json } from '../kernel/json.ts';
import { again, type Call, type Command, EXIT, type Options, out, outJson, UsageError } from './command.ts';
import { MANY } from './command-table/shared-options.ts';

type About = Pick<Command, 'name' | 'summary'> & { readonly note?: string };

/** A command of one operation, or of several that are told apart by its first word. */
export function operationCommand({ name, summary, note }: About, names: readonly OperationName[]): Command {
  const entries = names.map((each): Entry => OPERATIONS[each]);
  const [only] = entries;
  if (!only) throw new Error(`${name} has no operation`);
  const isOne = names.length === 1 && wordOf(only) === null;
  const options: Options = Object.assign({}, ...entries.map((entry) => optionsOf(entry.fields)));
  const acts = Object.fromEntries(entries.map((entry) => [wordOf(entry) ?? '', entry.act])) as Record<string, Act>;
  return {
    name,
    group: 'ledger',
    summary,
    // Without a word of its own it tells which forms there are.
    act: isOne ? only.act : { '': 'look', ...acts },
    args: isOne ? argsOf(only.fields) : entries.map((entry) => wordOf(entry)).join(' | '),
    words: isOne ? wordCounts(only.fields) : [0, MANY],
    help: [...entries.map((entry) => helpOf(name, entry, isOne)), note].filter(Boolean).join('\n\n'),
    example: (isOne ? only : (entries.find(({ name: own }) => own.endsWith('claim')) ?? only)).example,
    options,
    load: async () => ({ run: (call) => (isOne ? runEntry(call, only, call.words) : runForm(call, entries)) }),
  };
}

/** The word that tells the forms of a command apart; null for a command of its own. */
function wordOf({ name }: Entry): string | null {
  const at = name.indexOf('.');
  return at === -1 ? null : name.slice(at + 1);
}

async function runForm(call: Call, entries: readonly Entry[]): Promise<number> {
  const [word, ...words] = call.words;
  const program = `${again(call)} ${call.command.name}`;
  if (word === undefined) return overview(call, program, entries);
  const entry = entries.find((each) => wordOf(each) === word);
  if (!entry) {
    const forms = entries.map((each) => [wordOf(each), ...wordsOf(each.fields)].join(' '));
    throw new UsageError(`there is no ${program} ${word}; there are: ${forms.join(', ')}`);
  }
  const say = `say: ${program} ${word} ${argsOf(entry.fields)}`.trimEnd();
  const odd = Object.keys(call.values).find((name) => !EVERYWHERE.includes(name) && !isOption(entry.fields, name));
  if (odd !== undefined) throw new UsageError(`${program} ${word} has no --${odd}; ${say}`);
  const [min, max] = wordCounts(entry.fields);
  if (words.length < min || words.length > max) throw new UsageError(say);
  return runEntry(call, entry, words);
}

const EVERYWHERE = ['json', 'help', 'directory'];

function overview(call: Call, program: string, entries: readonly Entry[]): number {
  const rows = entries.map((entry) => ({ name: wordOf(entry), args: argsOf(entry.fields), does: entry.means }));
  if (call.json) outJson(rows);
  else for (const { name, args, does } of rows) out(`${`${program} ${name} ${args}`.trimEnd()}\n    ${does}`);
  return EXIT.ok;
}

async function runEntry(call: Call, entry: Entry, words: readonly string[]): Promise<number> {
  const given = await givenTo(call, entry.fields, words);
  const { showOperation } = await import('./show-operation.ts');
  return showOperation(call, entry.name as OperationName, given);
}

/** The input of an operation, from the words and options of a call. */
async function givenTo(call: Call, fields: Fields, words: readonly string[]): Promise<Record<string, Json>> {
  const given: Record<string, Json> = {};
  const left = [...words];
  const all = Object.entries(fields);
  // Options first: a wrong one is told before a file is read or standard input is waited for.
  for (const [name, field] of all.filter(([, each]) => hasOption(each))) {
    const value = call.values[optionName(name)];
    if (value === undefined && field.required) throw missing(call, name);
    if (value !== undefined) given[name] = optionValue(call, name, field, value as string | boolean);
  }
  for (const [name, field] of all.filter(([, each]) => !hasOption(each))) {
    if (isStandardInput(field)) given[name] = await (await import('./read-input.ts')).readInput(call, '-');
    else if (field.type === 'list') given[name] = left.splice(0);
    else if (left.length > 0) given[name] = await wordValue(call, field, left.shift() ?? '');
  }
  return given;
}

function isStandardInput(field: Field): boolean {
  return field.type === 'json' && field.isStandardInput === true;
}

/** Whether the command line has an option for the field. */
function hasOption(field: Field): boolean {
  return field.word === undefined && !isStandardInput(field);
}

async function wordValue(call: Call, field: Field, word: string): Promise<Json> {
  if (field.type === 'json') return (await import('./read-input.ts')).readInput(call, word);
  if (field.type === 'choice') return chosen(field, word);
  return word;
}

function optionValue(call: Call, name: string, field: Field, value: string | boolean): Json {
  if (field.type === 'flag') return value;
  const text = String(value);
  if (field.type === 'count') {
    if (/^[0-9]+$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text);
    throw new UsageError(`--${optionName(name)} must be a whole number, 0 or above, not ${text}`);
  }
  if (field.type === 'choice') return chosen(field, text);
  if (field.required && text.trim() === '') throw missing(call, name);
  return text;
}

function chosen({ of, noun = 'choice' }: Extract<Field, { type: 'choice' }>, word: string): string {
  if (of.includes(word)) return word;
  throw new UsageError(`${word} is no ${noun}; there are: ${of.join(', ')}`);
}

function missing(call: Call, name: string): UsageError {
  return new UsageError(`say --${optionName(name)} … (\`${again(call)} ${call.command.name} --help\`)`);
}

function optionName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function isOption(fields: Fields, option: string): boolean {
  return Object.entries(fields).some(([name, field]) => hasOption(field) && optionName(name) === option);
}

function optionsOf(fields: Fields): Options {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) => {
      if (!hasOption(field)) return [];
      const short = field.short === undefined ? {} : { short: field.short };
      return [[optionName(name), { type: field.type === 'flag' ? 'boolean' : 'string', ...short } as const]];
    }),
  );
}

function wordCounts(fields: Fields): readonly [number, number] {
  const words = Object.values(fields).filter(({ word }) => word !== undefined);
  const isMany = words.some(({ type }) => type === 'list');
  return [words.filter(({ required }) => required !== undefined).length, isMany ? MANY : words.length];
}

/** `TASK --owner NAME [--run ID]` */
function argsOf(fields: Fields): string {
  const all = Object.entries(fields);
  const options = all.filter(([, field]) => hasOption(field));
  const needed = options.filter(([, { required }]) => required).map(([name, field]) => optionText(name, field));
  const free = options.filter(([, { required }]) => !required).map(([name, field]) => `[${optionText(name, field)}]`);
  return [...wordsOf(fields), ...needed, ...free].join(' ');
}

function wordsOf(fields: Fields): string[] {
  return Object.values(fields).flatMap(({ word, required }) =>
    word === undefined ? [] : [required ? word : `[${word}]`],
  );
}

const PLACEHOLDERS = { count: 'N', number: 'N', path: 'DIR', text: 'TEXT', choice: 'WORD', list: 'LIST', json: 'JSON' };

function optionText(name: string, field: Field): string {
  const value = field.type === 'flag' ? '' : ` ${field.value ?? PLACEHOLDERS[field.type]}`;
  return `--${optionName(name)}${value}`;
}

function helpOf(command: string, entry: Entry, isOne: boolean): string {
  const rows = Object.entries(entry.fields)
    .filter(([, field]) => !isStandardInput(field))
    .map(([name, { word, short, means }]) => {
      const shown = word ?? `--${optionName(name)}${short === undefined ? '' : `, -${short}`}`;
      return `${isOne ? '' : '  '}${shown.padEnd(isOne ? 16 : 20)}${shown.length < (isOne ? 16 : 20) ? '' : ' '}${means}`;
    });
  const isFile = Object.values(entry.fields).some(({ word }) => word === 'FILE');
  if (isFile) rows.push(`${isOne ? '' : '  '}FILE may be -, for standard input.`);
  if (isOne) return rows.join('\n');
  return [`${`${command} ${wordOf(entry)} ${argsOf(entry.fields)}`.trimEnd()}\n  ${entry.means}`, ...rows].join('\n');
}
