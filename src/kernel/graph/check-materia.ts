// Checks of materia definitions: the reusable behaviours, wherever they are placed.
import { dialectCan, PRESENT, runnerCan } from '../capabilities.ts';
import { isObject, isString, isText, type Json, type JsonObject } from '../json.ts';
import { given, isGenerator, namedContract, namedParse, parseFor, typeOfMateria } from './authored.ts';
import { checkAddresses } from './check-address.ts';
import { checkAssign } from './check-assign.ts';
import { checkRunner } from './check-runner.ts';
import { isToolScope, RUNNERS, TOOL_SCOPES, WIRES } from './config.ts';
import { FOLDER_BELOW } from './folder-below.ts';
import { error, type Findings, listed, shown } from './issue.ts';
import { isForbidden } from './path-syntax.ts';
import {
  ANYTHING,
  BOOLEAN,
  CONTRACT,
  checkObsolete,
  checkShapes,
  checkUnknown,
  OBJECT,
  oneOf,
  PARSE,
  POSITIVE_INTEGER,
  SCHEMA,
  type Shape,
  type Shapes,
  STRING,
  TEXT,
  TEXTS,
} from './shape.ts';

const THINKING = ['off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];
const EXECUTABLES = ['utility', 'command', 'script'];

const COMMAND: Shape = {
  accepts: (value) => Array.isArray(value) && value.length > 0 && value.every(isText),
  wants: 'a list of strings, the program first, none of them blank',
};
/** Arguments in a list of their own are left out together; the program cannot be left out. */
const TEMPLATE: Shape = {
  accepts: (value) =>
    Array.isArray(value) &&
    isText(value[0]) &&
    value.every((part) => isText(part) || (Array.isArray(part) && part.every(isText))),
  wants:
    'a list of arguments, the program first; arguments that belong to an optional slot stand in a list of their own',
};
const NAMES: Shape = {
  accepts: (value) => Array.isArray(value) && value.every((name) => isString(name) && VARIABLE.test(name)),
  wants: 'a list of names of environment variables, without their values',
};
const ARGUMENTS: Shape = {
  accepts: (value) => Array.isArray(value) && value.every(isString),
  wants: 'a list of arguments',
};
const ADDRESS: Shape = {
  accepts: (value) => isString(value) && /^https?:\/\/[^\s]+$/.test(value),
  wants: 'an address that begins with http:// or https://',
};
const FALLBACKS: Shape = {
  accepts: (value) => Array.isArray(value) && value.every(isFallback),
  wants:
    'a list of {"runner"?: …, "model"?: …, "baseUrl"?: …, "wire"?: …, "keyVariable"?: …}, each with a runner or a model',
};
const KEY_VARIABLE: Shape = {
  accepts: (value) => isString(value) && VARIABLE.test(value),
  wants: 'the name of the environment variable that holds the key, without its value',
};
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,199}$/;
const FOLDER: Shape = {
  accepts: (value) => isText(value) && FOLDER_BELOW.test(value),
  wants: 'a folder below the workspace, such as "packages/api", without .. and without templates',
};
const SCRIPT: Shape = {
  accepts: (value) =>
    isObject(value) &&
    given(value, 'kind') === 'shippedUtility' &&
    isText(given(value, 'name')) &&
    ['node', undefined].includes(given(value, 'runtime') as string | undefined),
  wants: '{"kind": "shippedUtility", "name": …}',
};
const TOOLS: Shape = {
  accepts: (value) => isToolScope(value) || isCustomTools(value),
  wants: `${TOOL_SCOPES.join(', ')} or {"type": "custom", "tools": [names]}`,
};
// A blank value keeps whatever the runner would use anyway.
const THINKING_LEVEL: Shape = {
  accepts: (value) => isString(value) && (value.trim() === '' || THINKING.includes(value)),
  wants: `one of ${THINKING.join(', ')}`,
};

/** Where a model is, how it is spoken to and by which key. */
const PLACE: Shapes = { baseUrl: ADDRESS, wire: oneOf([...WIRES]), keyVariable: KEY_VARIABLE };

const COMMON: Shapes = {
  type: oneOf(['agent', 'utility']),
  label: STRING,
  description: STRING,
  group: STRING,
  color: STRING,
  parse: PARSE,
  contract: CONTRACT,
  schema: SCHEMA,
  generator: BOOLEAN,
  parallel: BOOLEAN,
  parallelSafe: BOOLEAN,
  timeoutMs: POSITIVE_INTEGER,
  lockScope: TEXTS,
  sandbox: oneOf(['bwrap']),
  cwd: FOLDER,
  lockState: oneOf(['locked', 'unlocked']),
  catalogOrigin: OBJECT,
};
const AGENT: Shapes = {
  ...COMMON,
  prompt: TEXT,
  promptFile: TEXT,
  tools: TOOLS,
  model: STRING,
  thinking: THINKING_LEVEL,
  multiTurn: BOOLEAN,
  identity: TEXT,
  runner: oneOf([...RUNNERS]),
  system: TEXT,
  env: NAMES,
  args: ARGUMENTS,
  ...PLACE,
  command: TEMPLATE,
  fallbacks: FALLBACKS,
  mcp: BOOLEAN,
  onCrash: oneOf(['rerun', 'wait']),
  assign: ANYTHING,
};
const UTILITY: Shapes = {
  ...COMMON,
  utility: TEXT,
  command: COMMAND,
  script: SCRIPT,
  params: OBJECT,
  env: NAMES,
  once: BOOLEAN,
  writes: TEXTS,
  identity: TEXT,
  assign: ANYTHING,
};
const OBSOLETE = {
  systemPrompt: 'Put the text into prompt, or name a file in promptFile; standing instructions go into system.',
  generates: 'Write generator: true; what a generator produces is always workItems.',
};

export function* checkMateria(id: string, materia: Json): Findings {
  const path = `materia.${id}`;
  if (!isText(id) || isForbidden(id)) {
    yield error('INVALID_MATERIA', path, `${shown(id)} cannot be the id of a materia. Choose another name.`);
  }
  if (!isObject(materia)) {
    yield error('INVALID_MATERIA', path, `A materia is an object, not ${shown(materia)}. Define it or remove its id.`);
    return;
  }
  const shapes = typeOfMateria(materia) === 'utility' ? UTILITY : AGENT;
  yield* checkObsolete(materia, OBSOLETE, path, 'INVALID_MATERIA');
  yield* checkShapes(materia, shapes, path, 'INVALID_MATERIA');
  yield* shapes === UTILITY ? checkUtility(materia, path) : checkAgent(materia, path);
  yield* checkAssign(given(materia, 'assign'), `${path}.assign`, 'INVALID_MATERIA');
  yield* checkOutput(materia, path);
  // Fields of the other type are refused by name above, so they are not reported a second time as unknown.
  const known = [...Object.keys(shapes), ...Object.keys(OBSOLETE), ...foreignFields(shapes)];
  yield* checkUnknown(materia, known, path, shapes === UTILITY ? 'a utility materia' : 'an agent materia');
}

function* checkAgent(materia: JsonObject, path: string): Findings {
  const isCommand = runnerCan(PRESENT, given(materia, 'runner'), 'runsCommand');
  if (isCommand && given(materia, 'command') === undefined) {
    const message = `The runner command needs its command. Write ${TEMPLATE.wants}.`;
    yield error('INVALID_MATERIA', `${path}.command`, message);
  }
  for (const field of EXECUTABLES) {
    if (given(materia, field) === undefined || (isCommand && field === 'command')) continue;
    const fix = 'Write type: "utility", or remove the field.';
    yield error('INVALID_MATERIA', `${path}.${field}`, `An agent has nothing to execute, but names ${field}. ${fix}`);
  }
  const prompts = ['prompt', 'promptFile'].filter((field) => given(materia, field) !== undefined);
  if (prompts.length === 0) {
    yield error('INVALID_MATERIA', `${path}.prompt`, 'An agent needs a prompt. Write prompt, or name a promptFile.');
  }
  if (prompts.length === 2) {
    const both = 'An agent has one prompt. Remove either prompt or promptFile.';
    yield error('INVALID_MATERIA', `${path}.promptFile`, both);
  }
  if (given(materia, 'tools') === undefined) {
    yield error('INVALID_MATERIA', `${path}.tools`, `An agent needs a tool scope. Write ${TOOLS.wants}.`);
  }
  yield* checkRunner(materia, path);
  yield* checkAddresses(materia, path);
}

function* checkUtility(materia: JsonObject, path: string): Findings {
  for (const field of ['prompt', 'promptFile']) {
    if (given(materia, field) === undefined) continue;
    yield error(
      'INVALID_MATERIA',
      `${path}.${field}`,
      `A utility reads no prompt. Remove ${field}, or what it executes.`,
    );
  }
  const named = EXECUTABLES.filter((field) => given(materia, field) !== undefined);
  if (named.length === 1) return;
  const found = named.length === 0 ? 'names nothing' : `names ${listed(named)}`;
  const fix = 'Name exactly one of utility, command and script.';
  yield error(
    'INVALID_MATERIA',
    `${path}.${named[1] ?? 'utility'}`,
    `A utility executes one thing and this one ${found}. ${fix}`,
  );
}

function* checkOutput(materia: JsonObject, path: string): Findings {
  const contract = namedContract(materia);
  const parse = namedParse(materia);
  if (given(materia, 'parallel') === true && !isGenerator(materia)) {
    const fix = 'Add generator: true, or remove parallel.';
    yield error('INVALID_MATERIA', `${path}.parallel`, `Only a generator can be parallel. ${fix}`);
  }
  if (contract !== null && parse !== null && parseFor(contract) !== parse) {
    const fix = 'Remove parse: the contract decides it.';
    yield error('INVALID_MATERIA', `${path}.parse`, `The contract ${contract} cannot be read as ${parse}. ${fix}`);
  }
  if (isGenerator(materia)) yield* checkGeneratorOutput(materia, path);
}

/** What a generator's own fields, on its materia or on its socket, may say about its output. */
export function* checkGeneratorOutput(object: JsonObject, path: string): Findings {
  const contract = namedContract(object);
  if (contract !== null && !dialectCan(PRESENT, contract, 'listsItems')) {
    const fix = 'Write contract: "materia" or "operator", or drop generator.';
    yield error('INVALID_GENERATOR', `${path}.contract`, `The contract ${contract} carries no workItems. ${fix}`);
  }
  if (namedParse(object) === 'text') {
    const fix = 'Write parse: "json" or leave it out.';
    yield error('INVALID_GENERATOR', `${path}.parse`, `A generator returns JSON with workItems. ${fix}`);
  }
  const assign = given(object, 'assign');
  const source = isObject(assign) ? given(assign, 'workItems') : undefined;
  if (source !== undefined && source !== '$.workItems') {
    const fix = 'Write "$.workItems" or leave the target out.';
    yield error(
      'INVALID_GENERATOR',
      `${path}.assign.workItems`,
      `A generator's workItems come from its output. ${fix}`,
    );
  }
}

function foreignFields(shapes: Shapes): readonly string[] {
  return shapes === UTILITY ? ['prompt', 'promptFile'] : EXECUTABLES;
}

function isFallback(value: Json): boolean {
  if (!isObject(value)) return false;
  const [runner, model] = [given(value, 'runner'), given(value, 'model')];
  const isRunner = runner === undefined || RUNNERS.some((known) => known === runner);
  const others = Object.keys(value).filter((key) => key !== 'runner' && key !== 'model' && !(key in PLACE));
  for (const [key, shape] of Object.entries(PLACE)) {
    const said = given(value, key);
    if (said !== undefined && !shape.accepts(said)) return false;
  }
  return isRunner && (model === undefined || isText(model)) && (runner ?? model) !== undefined && others.length === 0;
}

function isCustomTools(value: Json): boolean {
  if (!isObject(value) || given(value, 'type') !== 'custom') return false;
  const tools = given(value, 'tools');
  return Array.isArray(tools) && tools.every(isText);
}
