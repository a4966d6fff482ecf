// `baton completion SHELL` prints a script for that shell. The script knows nothing itself: at each TAB it asks `baton completion words`
// what may come next. The answer is made from the table of commands, and from what the workspace holds: casts, tasks, loadouts.
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { OperationEntry, OperationField } from '../app/operation.ts';
import { OPERATIONS, type OperationName } from '../app/operations/table.ts';
import type { Given } from '../app/perform.ts';
import { CAPABILITIES } from '../kernel/capabilities.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import { collapse, truncate } from '../kernel/text.ts';
import { type Call, type Command, commandName, EXIT_CODE, quoted, UsageError } from './command.ts';
import { hasOption, optionName, wordOf } from './operation-command.ts';
import { oneLine } from './terminal-text.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
const MEANS_CHARS_MAX = 70;
const CASTS_MAX = 50;

/** A value that may come next, and what it means. */
type Candidate = readonly [value: string, means: string];

export async function completionCommand(call: Call): Promise<number> {
  const [shell = '', ...words] = call.words;
  if (shell === 'words' || shell === 'line') {
    const typed = shell === 'words' ? words : wordsIn(words[0] ?? '').slice(1);
    // A mistake is reported when the command is called, and not while it is typed.
    for (const [value, means] of await candidates(call, typed).catch(() => []))
      process.stdout.write(`${oneLine(value)}\t${truncate(oneLine(collapse(means)), MEANS_CHARS_MAX)}\n`);
    return EXIT_CODE.ok;
  }
  const print = { bash, zsh, fish }[shell as (typeof SHELLS)[number]];
  if (!print || words.length > 0)
    throw new UsageError(`there is no completion for ${call.words.join(' ')}; use one of: ${SHELLS.join(', ')}`);
  process.stdout.write(print(ownProgram()));
  return EXIT_CODE.ok;
}

/** The script is used in any folder, so a program that is not on the PATH is named from the top. */
function ownProgram(): string {
  const name = commandName(undefined);
  const program = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..', 'bin', 'baton');
  return name.includes('/') ? quoted(program) : name;
}

/** The words of a line that is still being typed. The last one is the word at the cursor, and may be empty. */
function wordsIn(line: string): readonly string[] {
  const words = line.match(/(?:\\.|"(?:\\.|[^"\\])*"?|'[^']*'?|[^\s"'\\])+/gs) ?? [];
  const plain = words.map((word) => word.replace(/\\(.)|["']/gs, '$1'));
  return /\s$/.test(line) ? [...plain, ''] : plain;
}

const EVERYWHERE: readonly Candidate[] = [
  ['--json', 'one JSON value on standard output'],
  ['--help', 'what the command does, with an example'],
];

async function candidates(call: Call, words: readonly string[]): Promise<readonly Candidate[]> {
  const typed = words.at(-1) ?? '';
  const read = readBefore(call, words.slice(0, -1));
  const within: Call = { ...call, cwd: read.cwd, values: { directory: read.cwd }, json: true };
  const { command } = read;
  if (read.pending !== null) return command ? valuesOfOption(within, command, read, read.pending) : [];
  if (command === null) {
    if (typed.startsWith('-')) return [['-C', 'the workspace'], ...EVERYWHERE, ['--version', 'the version']];
    return read.words.length > 0 ? [] : call.commands.map(({ name, summary }) => [name, summary]);
  }
  const [, option, , value] = /^--([^=]+)(=(.*))?$/.exec(typed) ?? [];
  if (option !== undefined && value !== undefined) {
    const found = await valuesOfOption(within, command, read, option);
    return found.map(([each, means]) => [`--${option}=${each}`, means]);
  }
  if (typed.startsWith('-') && !read.isText) return optionsFor(command, read);
  return wordsFor(within, command, read);
}

type ReadWords = {
  readonly command: Command | null;
  /** Its words without options, and without the one that names its form. */
  readonly words: readonly string[];
  readonly entry: OperationEntry | null;
  readonly options: readonly string[];
  /** The option whose value comes next. */
  readonly pending: string | null;
  readonly cwd: string;
  /** After `--` nothing is an option. */
  readonly isText: boolean;
};

function readBefore(call: Call, before: readonly string[]): ReadWords {
  let [command, pending, cwd]: [Command | null, string | null, string] = [null, null, call.cwd];
  let isHelp = false;
  const [words, options]: [string[], string[]] = [[], []];
  const end = before.indexOf('--');
  for (const word of end === -1 ? before : before.slice(0, end)) {
    if (pending !== null) {
      if (pending === 'C') cwd = resolve(call.cwd, word);
      pending = null;
    } else if (word === '-C' || word === '--directory') pending = 'C';
    else if (word.startsWith('-')) {
      const name = optionNamed(command, word);
      if (name !== null) options.push(name);
      if (name !== null && command?.options[name]?.type === 'string' && !word.includes('=')) pending = name;
    } else if (command === null && word === 'help') isHelp = true;
    else {
      const named: Command | undefined = command === null ? call.commands.find(({ name }) => name === word) : undefined;
      if (named) command = named;
      else words.push(word);
    }
  }
  if (isHelp) return { ...{ command: null, words, entry: null, options, pending, cwd }, isText: false };
  const entries = entriesOf(command);
  const byWord = entries.find((entry) => wordOf(entry) !== null && wordOf(entry) === words[0]);
  const entry = byWord ?? entries.find((each) => wordOf(each) === null) ?? null;
  return {
    ...{ command, entry, options, pending, cwd, isText: end !== -1 },
    words: byWord ? words.slice(1) : words,
  };
}

function entriesOf(command: Command | null): readonly OperationEntry[] {
  return (command?.operations ?? []).map((name): OperationEntry => OPERATIONS[name]);
}

/** The whole name of an option, also of its one letter. */
function optionNamed(command: Command | null, word: string): string | null {
  const [, name, letter] = /^--([^=]+)|^-(\w)/.exec(word) ?? [];
  if (name !== undefined) return name;
  return Object.entries(command?.options ?? {}).find(([, { short }]) => short === letter)?.[0] ?? null;
}

function optionsFor(command: Command, { entry, options }: ReadWords): readonly Candidate[] {
  const fields = Object.entries(entry?.fields ?? {});
  const all = entriesOf(command).flatMap((each) => Object.keys(each.fields).map(optionName));
  const own = Object.keys(command.options).filter((name) => {
    const isOfEntry = fields.some(([field, each]) => hasOption(each) && optionName(field) === name);
    return (isOfEntry || !all.includes(name)) && (command.options[name]?.multiple || !options.includes(name));
  });
  const means = Object.fromEntries(fields.map(([name, field]) => [optionName(name), field.means]));
  return [...own.map((name): Candidate => [`--${name}`, means[name] ?? '']), ...EVERYWHERE];
}

function valuesOfOption(
  call: Call,
  command: Command,
  { entry }: ReadWords,
  option: string,
): Promise<readonly Candidate[]> {
  for (const each of entry ? [entry] : entriesOf(command)) {
    const found = Object.entries(each.fields).find(([name, field]) => hasOption(field) && optionName(name) === option);
    if (found) return valuesOf(call, each, ...found);
  }
  return Promise.resolve([]);
}

/** The forms of the command, and the values of its next word. */
async function wordsFor(call: Call, command: Command, read: ReadWords): Promise<readonly Candidate[]> {
  const { entry, words } = read;
  const isFirst = words.length === 0 && (entry === null || wordOf(entry) === null);
  const forms = isFirst ? entriesOf(command).flatMap((each) => formIn(each)) : [];
  if (entry === null) return [...forms, ...(command.operations ? [] : wordsInArgs(command, words.length))];
  const fields = Object.entries(entry.fields).filter(([, { word }]) => word !== undefined);
  // A list takes all words from its place on.
  const next = fields.slice(0, words.length + 1).find(([, { type }]) => type === 'list') ?? fields[words.length];
  return [...forms, ...(next ? await valuesOf(call, entry, ...next) : [])];
}

function formIn(entry: OperationEntry): readonly Candidate[] {
  const word = wordOf(entry);
  return word === null ? [] : [[word, entry.means]];
}

/** Of a command without an operation, the choices that its usage shows: `bash | zsh | fish`. */
function wordsInArgs({ args }: Command, at: number): readonly Candidate[] {
  if (at > 0 || !/^[a-z]+( \| [a-z]+)+$/.test(args)) return [];
  return args.split(' | ').map((word) => [word, '']);
}

type Source = (call: Call) => Promise<readonly Candidate[]>;

/** Where values come from, by the field of an operation, by the word that the help shows for it, or by the field's name anywhere. */
const SOURCES: Readonly<Record<string, Source>> = {
  CAST: casts,
  'CAST[:ITEM]': casts,
  'FILE|CAST|DIGEST|HANDOFF': casts,
  'CAST:ITEM': (call) => waiting(call, 'parked'),
  TURN: (call) => waiting(call, 'unknown'),
  LOADOUT: loadouts,
  'LOADOUT|FILE': own,
  'LOADOUT|CAST': async (call) => [...(await loadouts(call)), ...(await casts(call))],
  TASK: (call) => rows(call, 'task.list', 'tasks', 'task_id', ({ status, title }) => `${status}: ${title ?? ''}`),
  CODE: codes,
  AGENT: (call) => rows(call, 'registry.list', 'agents', 'id', ({ name }) => String(name ?? '')),
  SECTION: (call) => rows(call, 'context.show', 'sections', 'section', () => ''),
  QUEST: (call) => rows(call, 'quest.list', 'quests', 'id', ({ status, title }) => `${status}: ${title}`),
  'TARGET…': async (call) => [...(await loadouts(call)), ...(await materia(call))],
  materia,
  runner: runners,
  'approve.id': (call) => waiting(call, 'approval'),
  'reject.id': (call) => waiting(call, 'approval'),
  'exec.approval': (call) =>
    rows(call, 'approvals.list', 'approvals', 'id', ({ status, operation }) => `${status}: ${operation}`),
  'memory.accept.id': (call) => rows(call, 'memory.list', 'memory', 'id', ({ text }) => String(text ?? '')),
  'memory.drop.id': (call) => rows(call, 'memory.list', 'memory', 'id', ({ text }) => String(text ?? '')),
  'registry.release.id': (call) =>
    rows(call, 'registry.quarantine', 'blocked', 'id', ({ reason }) => String(reason ?? '')),
  'token.revoke.name': (call) => rows(call, 'token.list', 'tokens', 'name', ({ role }) => String(role)),
};

async function valuesOf(
  call: Call,
  entry: OperationEntry,
  name: string,
  field: OperationField,
): Promise<readonly Candidate[]> {
  if (field.type === 'choice') return field.of.map((value) => [value, '']);
  const keys = [`${entry.name}.${name}`, field.word ?? '', field.value ?? '', name];
  const source = keys.flatMap((key) => (Object.hasOwn(SOURCES, key) ? [SOURCES[key]] : [])).at(0);
  return (await source?.(call)) ?? [];
}

async function casts(call: Call): Promise<readonly Candidate[]> {
  const found = await rows(call, 'cast.list', 'casts', 'cast', aboutCast, { limit: CASTS_MAX });
  return found.length === 0 ? [] : [['latest', 'the newest cast'], ...found];
}

function aboutCast({ status, request }: JsonObject): string {
  return `${status}: ${request}`;
}

async function waiting(call: Call, kind: string): Promise<readonly Candidate[]> {
  const found = await listed(call, 'inbox', 'inbox', {});
  return found.flatMap((row) => (row.kind === kind ? [[String(row.id), String(row.title)] as const] : []));
}

/** Those of the project. What comes with Baton has no short form. */
async function own(call: Call): Promise<readonly Candidate[]> {
  const found = await listed(call, 'loadout.list', 'loadouts', {});
  return found.flatMap(({ name, isBundled, ...about }) =>
    isBundled === true ? [] : [[String(name), aboutLoadout(about)] as const],
  );
}

function aboutLoadout({ description, steps }: JsonObject): string {
  return typeof description === 'string' ? description : [steps].flat().join(', ');
}

function loadouts(call: Call): Promise<readonly Candidate[]> {
  return rows(call, 'loadout.list', 'loadouts', 'name', aboutLoadout);
}

/** The agents and utilities of the loadouts. */
async function materia(call: Call): Promise<readonly Candidate[]> {
  const all = await listed(call, 'loadout.list', 'loadouts', {});
  return [...new Set(all.flatMap(({ steps }) => [steps].flat().map(String)))].map((name) => [name, 'a materia']);
}

async function codes(): Promise<readonly Candidate[]> {
  const { CODES } = await import('../kernel/codes.ts');
  return Object.entries(CODES).map(([code, { means }]) => [code, means]);
}

async function runners(): Promise<readonly Candidate[]> {
  return Object.keys(CAPABILITIES.runners).map((name) => [name, '']);
}

async function rows(
  call: Call,
  operation: OperationName,
  list: string,
  value: string,
  means: (row: JsonObject) => string,
  given: Given = {},
): Promise<readonly Candidate[]> {
  const found = await listed(call, operation, list, given);
  return found.map((row) => [String(row[value]), means(row)]);
}

async function listed(
  call: Call,
  operation: OperationName,
  list: string,
  given: Given,
): Promise<readonly JsonObject[]> {
  const { allowed } = await import('./show-operation.ts');
  const details = await allowed(call, operation, given);
  return [details[list] ?? []].flat().filter(isObject);
}

// bash breaks words also at `:` and `=`, so it gets the line as it was typed, and only what follows the last of these is put in.
function bash(program: string): string {
  return `# Completion of baton for bash: eval "$(baton completion bash)"
_baton() {
  local line="\${COMP_LINE:0:COMP_POINT}" value means
  local word="\${line##*[[:space:]]}"
  local before="\${word%"\${word##*[:=]}"}"
  COMPREPLY=()
  while IFS=$'\\t' read -r value means; do
    [[ $value == "$word"* ]] && COMPREPLY+=("\${value#"$before"}")
  done < <(${program} completion line -- "$line" 2>/dev/null)
}
complete -o default -F _baton baton
`;
}

function zsh(program: string): string {
  return `#compdef baton
# Completion of baton for zsh: eval "$(baton completion zsh)"
_baton() {
  local -a found
  local value means
  while IFS=$'\\t' read -r value means; do
    found+=("\${value//:/\\\\:}\${means:+:$means}")
  done < <(${program} completion words -- "\${(@Q)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)
  if (( $#found )); then
    _describe -V baton found
  else
    _files
  fi
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i }
if [[ "\${funcstack[1]}" = _baton ]]; then _baton "$@"; else compdef _baton baton; fi
`;
}

function fish(program: string): string {
  return `# Completion of baton for fish: baton completion fish | source
function __baton_words
  set -l words (commandline -opc)
  set -e words[1]
  set -l found (${program} completion words -- $words (commandline -ct) 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c baton -f -a '(__baton_words)'
`;
}
