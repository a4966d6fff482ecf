// Reads a configuration from disk: the JSON and the prompt files it names. A cast freezes it and does not read the files again. The last
// part says which schema an editor uses for it.
import { closeSync, constants, existsSync, fstatSync, openSync, readSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { parseJsonText } from '../dialects/json-text.ts';
import { readWithSchema, schemaFault } from '../dialects/user-schema.ts';
import type { Issue } from '../kernel/graph/config.ts';
import type { ConfigLayer, MergedLayers } from '../kernel/graph/layers.ts';
import { inputsOf } from '../kernel/graph/resolve-graph.ts';
import { isObject, isText, type Json, type JsonObject } from '../kernel/json.ts';
import { placeAt } from '../short-form/source.ts';
import { UsageError } from './locate.ts';

const CONFIG_BYTES_MAX = 8 * 1024 * 1024;

export type Loaded = {
  readonly file: string;
  readonly config: Json;
  /** Where its relative names start from. */
  readonly baseDir: string;
  /** What is wrong with the files it names. */
  readonly issues: readonly Issue[];
  /** Where a path of the configuration is written, as `bugfix.yaml:4:9`, and what people call its sockets: of a short form. */
  readonly source?: Source;
  /** What it was merged from, from the lowest to the highest. */
  readonly layers?: readonly FileLayer[];
  readonly merged?: MergedLayers;
};

/** A layer with the files that it names read. */
export type FileLayer = ConfigLayer & { readonly baseDir: string; readonly issues: readonly Issue[] };

type Source = {
  readonly placeOf: (path: string) => string;
  readonly labels: Readonly<Record<string, string>>;
  /** SHA-256 of the text. */
  readonly digest: string;
  /** The long form of the file alone. */
  readonly compiled: JsonObject;
};

export function readJsonFile(file: string): Json {
  const text = readText(file);
  const parsed = parseJsonText(text, { maxBytes: CONFIG_BYTES_MAX });
  if (!parsed.ok) throw new BrokenJson(file, `${parsed.line}:${parsed.column}: ${faultText(text, parsed)}`);
  return parsed.value;
}

/** The object in a file; an empty one where there is no file, or no object in it. */
export function objectInFile(file: string): JsonObject {
  const json = existsSync(file) ? readJsonFile(file) : null;
  return isObject(json) ? json : {};
}

/** The file is there and holds no JSON: an issue where files are checked, wrong usage where one is needed. */
export class BrokenJson extends UsageError {
  readonly file: string;

  constructor(file: string, fault: string) {
    super(`${file}:${fault}`);
    this.file = file;
  }
}

type TextFault = { readonly line: number; readonly column: number; readonly message: string };

/** What is wrong with the text, in which object, and, where it is written in another form, which files may be. */
function faultText(text: string, { line, column, message }: TextFault): string {
  const lines = text.split('\n').slice(0, line - 1);
  const offset = lines.reduce((sum, each) => sum + each.length + 1, 0) + column - 1;
  if (/^\/[/*]/.test(text.slice(offset)))
    return 'JSON holds no comments. Remove it; comments are read in loadouts, .baton/loadouts/NAME.yaml or NAME.jsonc';
  if (!/^\s*[{[]/.test(text))
    return `this is no JSON: ${message}. Write an object in braces; YAML is read in .baton/loadouts/NAME.yaml`;
  const place = placeAt(text, offset);
  return place === '' ? message : `in ${place}: ${message}`;
}

export function readText(file: string): string {
  return readBytesOf(file).toString('utf8');
}

export function readBytesOf(file: string): Buffer {
  try {
    return readPlainFile(file);
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    throw new UsageError(`${file}: ${UNREADABLE[code] ?? message}`);
  }
}

const UNREADABLE: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'a part of this path is a file, not a folder',
  EISDIR: 'this is a folder; name a file',
  EACCES: 'you may not read it; change its permissions',
};

/** Loaded on first use: loading it takes as long as a short command. */
export function digestOf(text: string): string {
  return process.getBuiltinModule('node:crypto').hash('sha256', text, 'hex');
}

export function loadConfig(file: string): Loaded {
  return withFiles(file, readJsonFile(file), dirname(realpathSync(file)));
}

/** Reads the prompts and schemas that a configuration names. */
export function withFiles(file: string, config: Json, baseDir: string): Loaded {
  if (!isObject(config)) return { file, config, baseDir, issues: [] };
  const issues: Issue[] = [];
  const files: Files = { baseDir, issues };
  const materia = mapObject(config.materia, (definition, id) =>
    withSchema(withPrompt(definition, `materia.${id}`, files), `materia.${id}`, files),
  );
  const loadouts = mapObject(config.loadouts, (loadout, name) => {
    if (!isObject(loadout)) return loadout;
    const at = `loadouts.${name}.sockets`;
    issues.push(...inputIssues(loadout, `loadouts.${name}`));
    return {
      ...loadout,
      ...given(
        'sockets',
        mapObject(loadout.sockets, (socket, id) => withSchema(socket, `${at}.${id}`, files)),
      ),
    };
  });
  const read = { ...config, ...given('materia', materia), ...given('loadouts', loadouts) };
  return { file, config: read, baseDir, issues };
}

type Files = { readonly baseDir: string; readonly issues: Issue[] };

function given(name: string, value: Json | undefined): JsonObject {
  return value === undefined ? {} : { [name]: value };
}

function mapObject(object: Json | undefined, change: (value: Json, key: string) => Json): Json | undefined {
  if (!isObject(object)) return object;
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value, key)]));
}

/** Schemas of inputs that cannot be used, and defaults that do not fit. */
function inputIssues(loadout: JsonObject, path: string): readonly Issue[] {
  return Object.entries(inputsOf(loadout)).flatMap(([name, schema]) => {
    const at = `${path}.inputs.${name}`;
    const refuse = (message: string): Issue => ({ code: 'INVALID_CONFIG', level: 'error', path: at, message });
    const fault = schemaFault(schema);
    if (fault !== null) return [refuse(`the schema of the input cannot be used: ${fault}`)];
    const { default: usual = null } = schema;
    if (usual === null) return [];
    const read = readWithSchema(schema, usual);
    const [problem] = read.usable ? read.problems : [];
    return problem ? [refuse(`the default ${JSON.stringify(usual)} does not fit: ${problem.message}`)] : [];
  });
}

/** A schema given by name is read; a schema of either kind must be one. */
function withSchema(definition: Json, path: string, { baseDir, issues }: Files): Json {
  if (!isObject(definition) || definition.schema === undefined || definition.schema === null) return definition;
  const refuse = (message: string): Json => {
    issues.push({ code: 'INVALID_CONFIG', level: 'error', path: `${path}.schema`, message });
    return { ...definition, schema: {} };
  };
  const { schema } = definition;
  const read = isText(schema) ? readBeside(baseDir, schema) : { ok: true as const, text: null };
  if (!read.ok) return refuse(read.why);
  let value: Json = schema;
  if (read.text !== null) {
    const parsed = parseJsonText(read.text, { maxBytes: CONFIG_BYTES_MAX });
    if (!parsed.ok) return refuse(`${schema}:${parsed.line}:${parsed.column}: ${parsed.message}`);
    value = parsed.value;
  }
  if (!isObject(value)) return refuse('a schema is a JSON object, or the name of a file that holds one');
  const fault = schemaFault(value);
  return fault === null ? { ...definition, schema: value } : refuse(`the schema cannot be used: ${fault}`);
}

function withPrompt(definition: Json, path: string, { baseDir, issues }: Files): Json {
  if (!isObject(definition) || !isText(definition.promptFile) || definition.prompt !== undefined) return definition;
  const { promptFile, ...rest } = definition;
  const read = readBeside(baseDir, promptFile);
  if (read.ok) return { ...rest, prompt: read.text };
  issues.push({ code: 'INVALID_MATERIA', level: 'error', path: `${path}.promptFile`, message: read.why });
  return { ...rest, prompt: '(missing)' };
}

/** A file the configuration names, if it lies within the project. */
export function readBeside(baseDir: string, name: string): { ok: true; text: string } | { ok: false; why: string } {
  const file = join(baseDir, name);
  try {
    if (!isBelow(projectOf(baseDir), realpathSync(file))) {
      return { ok: false, why: `${name} lies outside the project; move it into .baton/` };
    }
    return { ok: true, text: readPlainFile(file, CONFIG_BYTES_MAX).toString('utf8') };
  } catch (error) {
    const shown = relative(projectOf(baseDir), file);
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      return { ok: false, why: `there is no file ${shown}; create it` };
    return { ok: false, why: `${shown} cannot be read: ${(error as Error).message}` };
  }
}

/** A configuration in `.baton` may name files of the whole project. */
function projectOf(baseDir: string): string {
  return basename(baseDir) === '.baton' ? dirname(baseDir) : baseDir;
}

function isBelow(root: string, file: string): boolean {
  const below = relative(root, file);
  return below !== '' && !below.startsWith('..') && !isAbsolute(below);
}

const PLAIN_BYTES_MAX = 512 * 1024 * 1024;
const CHUNK = 65_536;
const OPEN_FILES = /^\/(?:dev\/stdin$|dev\/fd\/|proc\/(?:self|\d+)\/fd\/)/;

class NotPlainError extends Error {}

/** Reads a file that a user named. A pipe or a device could block, so it is refused unless this process was started with it open. */
export function readPlainFile(file: string, bytesMax = PLAIN_BYTES_MAX): Buffer {
  const isOpenFile = OPEN_FILES.test(file);
  const handle = openSync(file, constants.O_RDONLY | (isOpenFile ? 0 : constants.O_NONBLOCK));
  try {
    const found = fstatSync(handle);
    if (found.isDirectory()) throw Object.assign(new Error('this is a folder'), { code: 'EISDIR' });
    const mayRead = found.isFile() || (isOpenFile && (found.isFIFO() || found.isSocket()));
    if (!mayRead) throw new NotPlainError('this is not a plain file but a pipe or a device; name a file');
    const chunks: Buffer[] = [];
    for (let total = 0; ; ) {
      const chunk = Buffer.allocUnsafe(Math.max(CHUNK, Math.min(found.size - total + 1, 2 ** 26)));
      const length = readSync(handle, chunk, 0, chunk.length, null);
      if (length === 0) return Buffer.concat(chunks);
      total += length;
      if (total > bytesMax) throw new NotPlainError(`it is larger than ${bytesMax} bytes`);
      chunks.push(chunk.subarray(0, length));
    }
  } finally {
    closeSync(handle);
  }
}

type SchemaReference = {
  readonly $schema: string;
  /** Whether the schema must be copied next to the configuration, because there is no lasting other place. */
  readonly copied: boolean;
};

/** The name of the schema in the package. */
export const SCHEMA_NAME = 'config.schema.json';

/**
 * A package that is installed in the project is referenced, so that the schema always fits the installed version. A path to any other
 * place would be valid only on this machine, so the configuration gets a copy.
 */
export function schemaReference(configDir: string, packageDir: string): SchemaReference {
  const modules = `${sep}node_modules${sep}`;
  const at = packageDir.lastIndexOf(modules);
  const owner = at === -1 ? null : packageDir.slice(0, at);
  if (owner === null || !isWithin(owner, resolve(configDir))) return { $schema: `./${SCHEMA_NAME}`, copied: true };
  const path = relative(configDir, join(packageDir, 'schemas', SCHEMA_NAME));
  return { $schema: path.split(sep).join('/'), copied: false };
}

function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** A script of a command is next to the file that names it. */
export function resolveScript(command: readonly string[], baseDir: string): readonly string[] {
  const isScript = (word: string | undefined) => word !== undefined && /^\.\/.*\.[mc]?js$/.test(word);
  const [program = '', first = '', ...rest] = command;
  if (isScript(program)) return ['node', join(baseDir, program), ...command.slice(1)];
  return program === 'node' && isScript(first) ? [program, join(baseDir, first), ...rest] : command;
}
