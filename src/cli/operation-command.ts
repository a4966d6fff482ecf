// Commands made from operations: the words, options and help come from the fields of an entry. By hand there is only how an
// answer is shown.
import type { Act } from '../access/rights.ts';
import { formOf, type OperationEntry, type OperationField, type OperationFields } from '../app/operation.ts';
import { OPERATIONS, type OperationName } from '../app/operations/table.ts';
import type { Given } from '../app/perform.ts';
import { describeField } from '../kernel/field-schema.ts';
import { mismatches } from '../kernel/fields.ts';
import type { Json } from '../kernel/json.ts';
import { nearestName } from '../kernel/text.ts';
import { again, type Call, type Command, EXIT_CODE, type Options, out, outJson, UsageError } from './command.ts';

/** The input of the operation, read when it is asked for; `isStream` leaves the payload on standard input. */
export type Giving = (how?: { readonly isStream: true }) => Promise<Given>;

type About = Pick<Command, 'name' | 'summary'> & {
  /** Said in the help after the fields. */
  readonly note?: string;
  /** Where the help lists it; the group of its operation without it. */
  readonly group?: Command['group'];
  /** Options of the command line itself, which are no fields. */
  readonly options?: Options;
  /** The form that is meant where no word says which; without it the forms are listed. */
  readonly otherwise?: OperationName;
  /** For a command that does more than show the answer: it asks a person, or reads a stream. */
  readonly shownBy?: () => Promise<Shower>;
};

/** Calls the operation of a command and shows its answer. */
type Shower = (call: Call, given: Giving) => Promise<number>;

/** A command of one operation, which has its name; its help has the words of the entry unless there are others. */
export function oneOperation(name: OperationName, about: Partial<Omit<About, 'name'>> = {}): Command {
  const entry: OperationEntry = OPERATIONS[name];
  return operationCommand({ name: formOf(entry), summary: entry.means, ...about }, [name]);
}

/** A command of one operation, or of several that differ in its first word. */
export function operationCommand(about: About, names: readonly OperationName[]): Command {
  const { name, summary, note } = about;
  const entries = names.map((each): OperationEntry => OPERATIONS[each]);
  const [only] = entries;
  if (!only) throw new Error(`${name} has no operation`);
  const isOne = names.length === 1 && wordOf(only) === null;
  const options: Options = Object.assign({ ...about.options }, ...entries.map((entry) => optionsOf(entry.fields)));
  const acts = Object.fromEntries(entries.map((entry) => [wordOf(entry) ?? '', entry.act])) as Record<string, Act>;
  const forms = entries.map((entry) => `${wordOf(entry) ?? ''} ${wordOf(entry) === null ? argsOf(entry.fields) : ''}`);
  return {
    name,
    group: about.group ?? groupOf(only),
    summary,
    // Without a word of its own it tells which forms there are.
    act: isOne ? only.act : { '': about.otherwise ? OPERATIONS[about.otherwise].act : 'look', ...acts },
    args: isOne ? argsOf(only.fields) : forms.map((form) => form.trim() || 'no word').join(' | '),
    words: isOne ? wordCounts(only.fields) : [0, MANY],
    help: [...entries.map((entry) => helpOf(name, entry, isOne)), note].filter(Boolean).join('\n\n'),
    example: (isOne ? only : (entries.find(({ name: own }) => own.endsWith('claim')) ?? only)).example,
    options,
    operations: names,
    async refuseBefore({ words: [word], ...call }) {
      const entry = isOne ? only : entries.find((each) => wordOf(each) === (word ?? null));
      if (entry?.peopleOnly === undefined) return;
      const { refuseBefore } = await import('./show-operation.ts');
      await refuseBefore({ ...call, words: [] }, entry.name as OperationName);
    },
    load: async () => (call) => (isOne ? runEntry(call, about, only, call.words) : runForm(call, about, entries)),
  };
}

function groupOf({ name, group }: OperationEntry): Command['group'] {
  if (group === 'casts' || group === 'ledger' || group === 'contracts' || group === 'history') return group;
  throw new Error(`${name} says no group of the help`);
}

/** The word that tells the forms of a command apart; null for a form without one, and for a command of its own. */
export function wordOf(entry: OperationEntry): string | null {
  const words = formOf(entry);
  const at = words.indexOf(' ');
  return at === -1 ? null : words.slice(at + 1);
}

async function runForm(call: Call, about: About, entries: readonly OperationEntry[]): Promise<number> {
  const { otherwise } = about;
  const [word = otherwise && (wordOf(OPERATIONS[otherwise]) ?? undefined), ...words] = call.words;
  const program = `${again(call)} ${call.command.name}`;
  const wordless = entries.find((each) => wordOf(each) === null);
  if (word === undefined && !wordless) return overview(call, program, entries);
  const entry = word === undefined ? wordless : entries.find((each) => wordOf(each) === word);
  if (!entry) {
    const forms = entries.map((each) => [wordOf(each) ?? program, ...wordsOf(each.fields)].join(' '));
    const guess = guessed(
      word ?? '',
      entries.flatMap((each) => wordOf(each) ?? []),
    );
    throw new UsageError(`there is no ${program} ${word}; ${guess}there are: ${forms.join(', ')}`);
  }
  const form = word === undefined ? program : `${program} ${word}`;
  const say = `say: ${form} ${argsOf(entry.fields)}`.trimEnd();
  const known = [...EVERYWHERE, ...Object.keys(about.options ?? {})];
  const odd = Object.keys(call.values).find((name) => !known.includes(name) && !isOption(entry.fields, name));
  if (odd !== undefined) throw new UsageError(`${form} has no --${odd}; ${say}`);
  const [min, max] = wordCounts(entry.fields);
  if (words.length < min || words.length > max) throw new UsageError(say);
  return runEntry(call, about, entry, words);
}

const EVERYWHERE = ['json', 'help', 'directory', 'verbose'];

function overview(call: Call, program: string, entries: readonly OperationEntry[]): number {
  const rows = entries.map((entry) => ({ name: wordOf(entry), args: argsOf(entry.fields), does: entry.means }));
  if (call.json) outJson(rows);
  else for (const { name, args, does } of rows) out(`${`${program} ${name} ${args}`.trimEnd()}\n    ${does}`);
  return EXIT_CODE.ok;
}

async function runEntry(
  call: Call,
  { shownBy }: About,
  entry: OperationEntry,
  words: readonly string[],
): Promise<number> {
  const given: Giving = (how) => givenTo(call, entry.fields, words, how?.isStream);
  if (shownBy) return (await shownBy())(call, given);
  const { showOperation } = await import('./show-operation.ts');
  return showOperation(call, entry.name as OperationName, await given());
}

/** The input of an operation, from the words and options of a call. */
async function givenTo(
  call: Call,
  fields: OperationFields,
  words: readonly string[],
  isStream = false,
): Promise<Record<string, Json>> {
  const given: Record<string, Json> = {};
  const left = [...words];
  const all = Object.entries(fields);
  // Options first: a wrong one is reported before a file is read or standard input is waited for.
  for (const [name, field] of all.filter(([, each]) => hasOption(each))) {
    const value = call.values[optionName(name)];
    if (value === undefined && field.required) throw missing(call, name);
    if (value !== undefined) given[name] = await optionValue(call, name, field, value);
  }
  for (const [name, field] of all.filter(([, each]) => !hasOption(each) && each.hidden !== true)) {
    const isUnsaid = !isStream && left.length === 0 && field.type === 'json' && field.orStandardInput === true;
    const countMax = isBeforeText(fields) ? (call.wordsBefore ?? left.length) : left.length;
    if (field.type === 'list') given[name] = left.splice(0, countMax);
    else if (isStandardInput(field) || isUnsaid) Object.assign(given, await payloadOf(call, name, field, '-'));
    // What is written in several words is one text.
    else if (left.length > 0 && field.word?.endsWith('…')) given[name] = left.splice(0).join(' ');
    else if (left.length > 0) Object.assign(given, await wordValue(call, name, field, left.shift() ?? ''));
  }
  return given;
}

/** Whether a text follows the words of a list: `--` is between the two. */
function isBeforeText(fields: OperationFields): boolean {
  return Object.values(fields).some(({ type, word }) => type === 'text' && word?.startsWith('-- ') === true);
}

function isStandardInput(field: OperationField): boolean {
  return field.type === 'json' && field.isStandardInput === true;
}

/** Whether the command line has an option for the field. */
export function hasOption(field: OperationField): boolean {
  return field.word === undefined && field.hidden !== true && !isStandardInput(field);
}

async function wordValue(call: Call, name: string, field: OperationField, word: string): Promise<Record<string, Json>> {
  if (field.type === 'json') return payloadOf(call, name, field, word);
  if (field.type === 'choice') return { [name]: chosen(field, word, name) };
  return { [name]: field.type === 'count' ? countIn(field.word ?? '', field, word) : word };
}

/** The text of a payload; and its bytes where those are no text and the field can take them. */
async function payloadOf(call: Call, name: string, field: OperationField, file: string): Promise<Record<string, Json>> {
  const { readBytes, readInput } = await import('./read-input.ts');
  if (field.type !== 'json' || field.bytesField === undefined) return { [name]: await readInput(call, file) };
  const bytes = await readBytes(call, file);
  const text = bytes.toString('utf8');
  return { [name]: text, ...(text.includes('\uFFFD') ? { [field.bytesField]: bytes.toString('base64') } : {}) };
}

function countIn(name: string, field: Extract<OperationField, { type: 'count' }>, text: string): number {
  const value = /^[0-9]+$/.test(text) ? Number(text) : Number.NaN;
  if (mismatches(value, field).length === 0) return value;
  throw new UsageError(`${name} must be ${describeField(field)}, not ${text}`);
}

type OptionValue = Exclude<Call['values'][string], undefined>;

async function optionValue(call: Call, name: string, field: OperationField, value: OptionValue): Promise<Json> {
  if (field.type === 'flag') return value === true;
  if (field.type === 'list') return [value].flat().map(String);
  const text = String(value);
  if (field.isInFile) return (await import('./read-input.ts')).readInput(call, text);
  if (field.type === 'count') return countIn(`--${optionName(name)}`, field, text);
  if (field.type === 'number') {
    if (text.trim() !== '' && Number.isFinite(Number(text))) return Number(text);
    throw new UsageError(`--${optionName(name)} must be a number, not ${text}`);
  }
  if (field.type === 'choice') return chosen(field, text, name);
  if (field.required && text.trim() === '') throw missing(call, name);
  return text;
}

function chosen(field: Extract<OperationField, { type: 'choice' }>, word: string, name: string): string {
  const { of, noun = name } = field;
  if (of.includes(word)) return word;
  throw new UsageError(`there is no ${noun} ${word}; ${guessed(word, of)}there are: ${of.join(', ')}`);
}

function guessed(word: string, known: readonly string[]): string {
  const near = nearestName(word, known);
  return near === null ? '' : `did you mean ${near}? `;
}

function missing(call: Call, name: string): UsageError {
  return new UsageError(`say --${optionName(name)} … (\`${again(call)} ${call.command.name} --help\`)`);
}

export function optionName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function isOption(fields: OperationFields, option: string): boolean {
  return Object.entries(fields).some(([name, field]) => hasOption(field) && optionName(name) === option);
}

function optionsOf(fields: OperationFields): Options {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) => {
      if (!hasOption(field)) return [];
      const short = field.short === undefined ? {} : { short: field.short };
      const many = field.type === 'list' ? { multiple: true } : {};
      return [[optionName(name), { type: field.type === 'flag' ? 'boolean' : 'string', ...short, ...many } as const]];
    }),
  );
}

function wordCounts(fields: OperationFields): readonly [number, number] {
  const words = Object.values(fields).filter(({ word }) => word !== undefined);
  const isMany = words.some(({ type }) => type === 'list');
  const needed = words.filter((field) => isNeeded(field));
  return [needed.length, isMany ? MANY : words.length];
}

/** Whether the word of a field is required. */
function isNeeded(field: OperationField): boolean {
  return field.required !== undefined && !(field.type === 'json' && field.orStandardInput === true);
}

/** `TASK --owner NAME [--run ID]` */
function argsOf(fields: OperationFields): string {
  const all = Object.entries(fields);
  const options = all.filter(([, field]) => hasOption(field));
  const needed = options.filter(([, { required }]) => required).map(([name, field]) => optionText(name, field));
  const free = options.filter(([, { required }]) => !required).map(([name, field]) => `[${optionText(name, field)}]`);
  const words = wordsOf(fields);
  const isLast = (word: string) => word.startsWith('-- ');
  return [...words.filter((word) => !isLast(word)), ...needed, ...free, ...words.filter(isLast)].join(' ');
}

function wordsOf(fields: OperationFields): string[] {
  return Object.values(fields).flatMap((field) =>
    field.word === undefined ? [] : [isNeeded(field) ? field.word : `[${field.word}]`],
  );
}

const PLACEHOLDERS = { count: 'N', number: 'N', path: 'DIR', text: 'TEXT', choice: 'WORD', list: 'LIST', json: 'JSON' };

function optionText(name: string, field: OperationField): string {
  const value = field.type === 'flag' ? '' : ` ${field.value ?? PLACEHOLDERS[field.type]}`;
  return `--${optionName(name)}${value}${field.type === 'list' ? ' …' : ''}`;
}

function helpOf(command: string, entry: OperationEntry, isOne: boolean): string {
  const rows = Object.entries(entry.fields)
    .filter(([, field]) => !isStandardInput(field) && field.hidden !== true)
    .map(([name, { word, short, means }]) => {
      const shown = word ?? `--${optionName(name)}${short === undefined ? '' : `, -${short}`}`;
      return `${isOne ? '' : '  '}${shown.padEnd(isOne ? 16 : 20)}${shown.length < (isOne ? 16 : 20) ? '' : ' '}${means}`;
    });
  const file = Object.values(entry.fields).find(({ word, type }) => word === 'FILE' && type === 'json');
  const unsaid = file?.type === 'json' && file.orStandardInput ? 'Without FILE, or with -: standard input.' : null;
  if (file) rows.push(`${isOne ? '' : '  '}${unsaid ?? 'FILE may be -, for standard input.'}`);
  if (isOne) return rows.join('\n');
  const form = [command, wordOf(entry), argsOf(entry.fields)].filter(Boolean).join(' ');
  return [`${form}\n  ${entry.means}`, ...rows].join('\n');
}

export const MANY = Number.POSITIVE_INFINITY;
export const EXITS = 'Exit: 0 completed, 1 failed, aborted or paused, 4 waiting for a person.';
/** Shows an operation that may drive a cast. */
export function driveBy(name: OperationName) {
  return async () => {
    const { drive } = await import('./drive-operation.ts');
    return async (call: Call, given: Giving) => drive(call, name, await given());
  };
}

/** Shows an operation that the options of the call choose, with input that they add. */
export function showBy(pick: (call: Call) => { readonly name: OperationName; readonly more?: Given }) {
  return async () => {
    const { showOperation } = await import('./show-operation.ts');
    return async (call: Call, given: Giving) => {
      const { name, more } = pick(call);
      return showOperation(call, name, { ...more, ...(await given()) });
    };
  };
}
