// Checks of materia definitions: the reusable behaviours, wherever they are placed.
import { dialectCan, PRESENT, runnerCan } from '../capabilities.ts';
import { describeField } from '../field-words.ts';
import { isObject, isText, type Json, type JsonObject } from '../json.ts';
import {
  given,
  isGenerator,
  listAt,
  namedContract,
  namedParse,
  parseFor,
  typeOfMateria,
  withoutFields,
} from './authored.ts';
import { checkAddresses } from './check-address.ts';
import { checkAssign } from './check-assign.ts';
import { checkFields } from './check-fields.ts';
import { checkRunner } from './check-runner.ts';
import { AGENT, TEMPLATE, TOOLS, UTILITY } from './graph-fields.ts';
import { error, type Findings, listed, shown } from './issue.ts';
import { isForbidden } from './path-syntax.ts';

const EXECUTABLES = ['utility', 'command', 'script'];

export function* checkMateria(id: string, materia: Json): Findings {
  const path = `materia.${id}`;
  if (!isText(id) || isForbidden(id)) {
    yield error('INVALID_MATERIA', path, `${shown(id)} cannot be the id of a materia. Choose another name.`);
  }
  if (!isObject(materia)) {
    yield error('INVALID_MATERIA', path, `A materia is an object, not ${shown(materia)}. Define it or remove its id.`);
    return;
  }
  const isUtility = typeOfMateria(materia) === 'utility';
  // Fields of the other type are refused by name, so they are not reported a second time as unknown.
  const own = withoutFields(
    materia,
    isUtility ? ['prompt', 'promptFile'] : EXECUTABLES.filter((name) => name !== 'command'),
  );
  const what = isUtility ? 'a utility materia' : 'an agent materia';
  yield* checkFields(own, isUtility ? UTILITY : AGENT, { path, code: 'INVALID_MATERIA', what });
  yield* isUtility ? checkUtility(materia, path) : checkAgent(materia, path);
  yield* checkAssign(given(materia, 'assign'), `${path}.assign`, 'INVALID_MATERIA');
  yield* checkOutput(materia, path);
}

function* checkAgent(materia: JsonObject, path: string): Findings {
  const isCommand = runnerCan(PRESENT, given(materia, 'runner'), 'runsCommand');
  if (isCommand && given(materia, 'command') === undefined) {
    const message = `The runner command needs its command. Write ${describeField(TEMPLATE)}.`;
    yield error('INVALID_MATERIA', `${path}.command`, message);
  }
  if (isCommand && Array.isArray(listAt(materia, 'command')[0])) {
    const message = `The program of a command cannot be left out. Write ${describeField(TEMPLATE)}.`;
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
    yield error('INVALID_MATERIA', `${path}.tools`, `An agent needs a tool scope. Write ${describeField(TOOLS)}.`);
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
