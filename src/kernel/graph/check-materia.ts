// Checks of materia definitions: the reusable behaviours, wherever they are placed.
import { policyOf } from '../approval/request.ts';
import { CAPABILITIES, DEFAULT_RUNNER, dialectCan, orList, PRESENT, runnerCan, runnersThat } from '../capabilities.ts';
import type { Code } from '../codes.ts';
import { describeField } from '../field-schema.ts';
import { given, isObject, isString, isText, type Json, type JsonObject, listAt, objectAt, stringAt } from '../json.ts';
import { normalPath, PATH_FAULTS, pathKey } from '../ledger/path.ts';
import { isGoverning } from '../ledger/scope.ts';
import { momentIn, nearestName, truncate } from '../text.ts';
import type { KnownFields } from './answer-fields.ts';
import { COMMAND_SLOTS } from './config.ts';
import {
  authoredMateria,
  checkFields,
  type Draft,
  error,
  type Findings,
  isGenerator,
  listed,
  meant,
  namedContract,
  namedParse,
  parseFor,
  shown,
  typeOfMateria,
  warning,
  withoutFields,
} from './issue.ts';
import { AGENT, TEMPLATE, TOOLS, UTILITY } from './materia-fields.ts';
import { isForbidden, problemOfSource, problemOfTarget } from './path.ts';

const EXECUTABLES = ['utility', 'command', 'script', 'wait'];

export function* checkMateria(id: string, materia: Json): Findings {
  const path = `materia.${id}`;
  if (!isText(id) || isForbidden(id)) {
    yield error('INVALID_MATERIA', path, `${shown(id)} cannot be the id of a materia. Choose another name.`);
  }
  if (!isObject(materia)) {
    yield error('INVALID_MATERIA', path, `A materia is an object, not ${shown(materia)}. Define it or remove its id.`);
    return;
  }
  const runner = given(materia, 'runner');
  const isUnknown = isUnknownRunner(runner);
  const isUtility = typeOfMateria(materia) === 'utility';
  if (isUnknown && isUtility && given(materia, 'type') === undefined) {
    // Without a known runner it is unclear whether an agent or a utility is meant.
    const fix = `${meant(runner, Object.keys(CAPABILITIES.runners))}Write one of ${listed(Object.keys(CAPABILITIES.runners))}.`;
    yield error('INVALID_MATERIA', `${path}.runner`, `There is no runner ${shown(runner)}. ${fix}`);
    return;
  }
  // Fields of the other type are refused by name, so they are not reported a second time as unknown.
  const own = withoutFields(
    materia,
    isUtility ? ['prompt', 'promptFile'] : EXECUTABLES.filter((name) => name !== 'command'),
  );
  const what = isUtility ? 'a utility materia' : 'an agent materia';
  yield* checkFields(own, isUtility ? UTILITY : AGENT, { path, code: 'INVALID_MATERIA', what });
  // A misspelt field is one mistake, not an unknown field and a missing one.
  const table = isUtility ? UTILITY : AGENT;
  const misspelt = Object.keys(own).flatMap((name) =>
    Object.hasOwn(table.fields, name) ? [] : [nearestName(name, Object.keys(table.fields))],
  );
  for (const issue of isUtility ? checkUtility(materia, path) : checkAgent(materia, path)) {
    const field = issue.path.slice(path.length + 1);
    if (given(materia, field) === undefined && misspelt.includes(field)) continue;
    yield issue;
  }
  yield* checkAssign(given(materia, 'assign'), `${path}.assign`, 'INVALID_MATERIA');
  yield* checkOutput(materia, path);
}

function isUnknownRunner(runner: Json | undefined): boolean {
  return runner !== undefined && !Object.hasOwn(CAPABILITIES.runners, String(runner));
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
  // A misspelt runner may have been meant for one that takes a command.
  const mayHaveCommand = isCommand || isUnknownRunner(given(materia, 'runner'));
  for (const field of EXECUTABLES) {
    if (given(materia, field) === undefined || (mayHaveCommand && field === 'command')) continue;
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
  if (named.length === 1) return yield* checkWait(materia, path);
  const found = named.length === 0 ? 'names nothing' : `names ${listed(named)}`;
  const fix = 'Name exactly one of utility, command, script and wait.';
  yield error(
    'INVALID_MATERIA',
    `${path}.${named[1] ?? 'utility'}`,
    `A utility executes one thing and this one ${found}. ${fix}`,
  );
}

const WAITS_FOR = ['forMs', 'until', 'command', 'cast'];

function* checkWait(materia: JsonObject, path: string): Findings {
  const wait = given(materia, 'wait');
  if (!isObject(wait)) return;
  const named = WAITS_FOR.filter((field) => given(wait, field) !== undefined);
  if (named.length !== 1) {
    const found = named.length === 0 ? 'names nothing' : `names ${listed(named)}`;
    const message = `A wait is for one thing and this one ${found}. Name exactly one of ${listed(WAITS_FOR)}.`;
    yield error('INVALID_MATERIA', `${path}.wait`, message);
  }
  const until = given(wait, 'until');
  if (isText(until) && !until.includes('{{') && momentIn(until.trim()) === null) {
    const message = `"${truncate(until, 60)}" is no moment. Write one such as 2026-12-01T09:00:00Z.`;
    yield error('INVALID_MATERIA', `${path}.wait.until`, message);
  }
  const stray = ['everyMs', 'pending'].find((field) => given(wait, field) !== undefined);
  if (stray !== undefined && given(wait, 'command') === undefined)
    yield error('INVALID_MATERIA', `${path}.wait.${stray}`, `Only a wait for a command has ${stray}. Remove it.`);
  if (isGenerator(materia))
    yield error('INVALID_MATERIA', `${path}.generator`, 'A wait makes no work items. Remove generator.');
  if (given(materia, 'once') === true)
    yield error('INVALID_MATERIA', `${path}.once`, 'A wait may look again after a crash. Remove once.');
  if (namedContract(materia) !== null)
    yield error('INVALID_MATERIA', `${path}.contract`, 'A wait hands on satisfied and context. Remove contract.');
  if (namedParse(materia) === 'text')
    yield error('INVALID_MATERIA', `${path}.parse`, 'A wait hands on JSON. Remove parse.');
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

/** What a runner cannot do is found out before a cast, as far as the file tells. */
function* checkRunner(materia: JsonObject, path: string): Findings {
  const runner = given(materia, 'runner') ?? DEFAULT_RUNNER;
  if (lacksTools(runner, materia)) yield warning('INVALID_MATERIA', `${path}.tools`, toolless(runner));
  if (isModel(runner) && !isText(given(materia, 'model'))) {
    const fix = 'Name one in model.';
    yield error('INVALID_MATERIA', `${path}.model`, `The runner ${runner} has no model of its own. ${fix}`);
  }
  if (runsCommand(runner) && given(materia, 'tools') === 'readAndRun') {
    const fix = `Write readOnly or coding, or use ${WITH_TOOLS}.`;
    yield warning('INVALID_MATERIA', `${path}.tools`, `The tools of a command cannot be limited to readAndRun. ${fix}`);
  }
  yield* checkFallbacks(materia, runner, path);
  if (runsCommand(runner)) yield* checkSlots(listAt(materia, 'command'), path);
  for (const field of MEANINGLESS[String(runner)] ?? []) {
    if (given(materia, field) === undefined) continue;
    yield warning('INVALID_MATERIA', `${path}.${field}`, `The runner ${runner} makes nothing of ${field}. Remove it.`);
  }
}

function* checkFallbacks(materia: JsonObject, own: Json, path: string): Findings {
  const fallbacks = listAt(materia, 'fallbacks');
  if (fallbacks.some((one) => isObject(one) && (given(one, 'runner') ?? given(one, 'model')) === undefined)) {
    yield error('INVALID_MATERIA', `${path}.fallbacks`, 'A fallback names a runner or a model. Write at least one.');
  }
  for (const [index, fallback] of fallbacks.entries()) {
    if (!isObject(fallback)) continue;
    const runner = given(fallback, 'runner') ?? own;
    const at = `${path}.fallbacks[${index}]`;
    if (isModel(runner) && !isText(given(fallback, 'model'))) {
      const message = `The runner ${shown(runner)} has no model of its own. Name one in model.`;
      yield error('INVALID_MATERIA', `${at}.model`, message);
    }
    // A materia without tools is reported already.
    if (lacksTools(runner, materia) && !isModel(own)) {
      yield warning('INVALID_MATERIA', `${at}.runner`, `${toolless(runner)} It would refuse the turn.`);
    }
    if (runsCommand(runner) && !runsCommand(own)) {
      const fix = 'Give the turn to a materia of its own, or name another runner.';
      yield error('INVALID_MATERIA', `${at}.runner`, `A fallback has no command of its own. ${fix}`);
    }
    if (runnerCan(PRESENT, runner, 'playsScript')) {
      const message = 'A script replaces no runner. Name a runner that can be called, such as claude, or a person.';
      yield error('INVALID_MATERIA', `${at}.runner`, message);
    }
  }
}

/** A text that looks like a slot and is none reaches the program as it is. */
function* checkSlots(template: readonly Json[], path: string): Findings {
  const words = template.flat().filter(isString);
  const names = words.flatMap((word) =>
    Array.from(word.matchAll(/\{\{ ?([A-Za-z_]{1,40}) ?\}\}/g), ([, name = '']) => name),
  );
  for (const name of new Set(names)) {
    if (COMMAND_SLOTS.some((slot) => slot === name)) continue;
    const fix = `There are ${listed(COMMAND_SLOTS)}.`;
    yield warning('INVALID_MATERIA', `${path}.command`, `Nothing is filled in for {{${name}}}. ${fix}`);
  }
}

function lacksTools(runner: Json, materia: JsonObject): boolean {
  return isModel(runner) && given(materia, 'tools') !== 'none';
}

function toolless(runner: Json): string {
  return `The runner ${String(runner)} asks a model, which has no tools. Write tools: "none", or use ${WITH_TOOLS}.`;
}

/** Asked directly, without a program that would choose a model. */
function isModel(runner: Json | undefined): boolean {
  return runnerCan(PRESENT, runner, 'isModelApi');
}

function runsCommand(runner: Json): boolean {
  return runnerCan(PRESENT, runner, 'runsCommand');
}

const WITH_TOOLS = orList(runnersThat('callsTools'));

const MEANINGLESS: Readonly<Record<string, readonly string[]>> = {
  claude: ['wire', 'keyVariable'],
  codex: ['wire', 'keyVariable'],
  pi: ['baseUrl', 'wire', 'keyVariable'],
  command: ['baseUrl', 'wire', 'keyVariable'],
  openai: ['args', 'env', 'cwd'],
  anthropic: ['args', 'env', 'cwd', 'wire'],
  person: ['model', 'thinking', 'system', 'env', 'args', 'baseUrl', 'cwd', 'wire', 'keyVariable'],
};

/** Where a credential belongs instead. */
export const CREDENTIAL_BELONGS =
  'Take it out and put the credential into an environment variable: the one that keyVariable names for openai and anthropic, ANTHROPIC_AUTH_TOKEN for claude, OPENAI_API_KEY for codex.';

/** Whether an address holds a user or a password. */
export function holdsCredential(address: Json | undefined): boolean {
  return isString(address) && /^https?:\/\/[^/?#\\]*@/i.test(address);
}

/** The finding does not repeat the address, because it holds a password. */
export function* checkAddresses(materia: JsonObject, path: string): Findings {
  const places = [materia, ...listAt(materia, 'fallbacks')];
  for (const [index, place] of places.entries()) {
    if (!isObject(place) || !holdsCredential(given(place, 'baseUrl'))) continue;
    const at = index === 0 ? path : `${path}.fallbacks[${index - 1}]`;
    const message = `The address holds a user or a password, which is not sent on. ${CREDENTIAL_BELONGS}`;
    yield error('INVALID_MATERIA', `${at}.baseUrl`, message);
  }
}

/** What there is by name. The rules know no utility themselves. */
export type UtilityNames = {
  readonly aliases: readonly string[];
  readonly scripts: readonly string[];
  /** By name, the slots of the cast data that a utility sets. */
  readonly slots?: Readonly<Record<string, readonly string[]>>;
  /** By name, the fields at the top of what a utility returns. */
  readonly fields?: KnownFields;
  /** By name, the files that a utility is known to change. */
  readonly writes?: Readonly<Record<string, readonly string[]>>;
  /** Materia that a script speaks for: what they name is never run. */
  readonly scripted?: readonly string[];
};

export function* checkUtilityName(id: string, materia: Json, names: UtilityNames): Findings {
  const { aliases, scripts, scripted = [] } = names;
  if (!isObject(materia) || typeOfMateria(materia) !== 'utility' || scripted.includes(id)) return;
  // A fixed output is all such a utility ever says, whatever its name.
  if (given(objectAt(materia, 'params'), 'output') !== undefined) return;
  yield* checkName(stringAt(materia, 'utility'), aliases, `materia.${id}.utility`, 'built-in utility');
  yield* checkName(stringAt(objectAt(materia, 'script'), 'name'), scripts, `materia.${id}.script.name`, 'script');
}

function* checkName(name: string | null, known: readonly string[], path: string, what: string): Findings {
  // A blank name is refused where the shapes are.
  if (name === null || name.trim() === '' || known.includes(name)) return;
  const meant = nearestName(name, known);
  const fix = `${meant === null ? '' : `Did you mean ${meant}? `}There are ${listed(known)}; for a program of your own write command.`;
  yield error('INVALID_MATERIA', path, `There is no ${what} ${shown(name)}. ${fix}`);
}

/** Checks of `assign`: which part of an output goes to which slot of the cast data. */
export function* checkAssign(assign: Json | undefined, path: string, code: Code): Findings {
  if (assign === undefined) return;
  if (!isObject(assign)) {
    yield error(code, path, `assign is ${shown(assign)}. Write an object such as {"lastCheck": "$.context"}.`);
    return;
  }
  for (const [target, source] of Object.entries(assign)) {
    const problem = problemOfTarget(target) ?? problemOfSource(source);
    if (problem !== null) yield error(code, `${path}.${target}`, `This assignment cannot be made: ${problem}.`);
  }
}

/**
 * Warns about an agent whose commands need approval and whose runner cannot stop before one, or cannot run an approved one.
 */
export function* checkHeldBack(draft: Draft, config: JsonObject): Findings {
  const { hook } = policyOf(given(config, 'approvals'));
  if (hook === 'off') return;
  for (const [id, socket] of Object.entries(draft.sockets)) {
    const materia = isObject(socket) ? authoredMateria(draft, socket) : null;
    if (!isObject(socket) || !materia || typeOfMateria(materia) === 'utility') continue;
    const contract = namedContract(socket) ?? namedContract(materia);
    if (!dialectCan(PRESENT, contract, 'reportsStatus') && hook !== 'deny') continue;
    if ((given(materia, 'tools') ?? 'none') === 'none') continue;
    const why = unstoppable(materia);
    if (why !== null) yield warning('INVALID_MATERIA', `${draft.path}.sockets.${id}.materia`, why);
  }
}

/** Agents that only run checks work where people work too, unless another agent of the cast may change files. */
export function* checkReadersInPlace(draft: Draft): Findings {
  const turns = Object.entries(draft.sockets).flatMap(([id, socket]) => {
    const materia = isObject(socket) ? authoredMateria(draft, socket) : null;
    if (!isObject(socket) || !materia) return [];
    const scope = given(socket, 'lockScope') ?? given(materia, 'lockScope');
    return [{ id, tools: given(materia, 'tools') ?? 'none', mayWrite: Array.isArray(scope) && scope.length > 0 }];
  });
  if (turns.some(({ tools, mayWrite }) => mayWrite || tools === 'coding' || isObject(tools))) return;
  for (const { id, tools } of turns) {
    if (tools !== 'readAndRun') continue;
    const why =
      'No agent here may change files, so the cast works in the directory itself while you have uncommitted files. What a command of this one changes there is reported and not put back: it may be yours. Commit first, or write tools: "readOnly".';
    yield warning('INVALID_MATERIA', `${draft.path}.sockets.${id}.materia`, why);
  }
}

/** A path outside ends a cast at the turn that asks for it, when others are paid. What fills a slot is known only then. */
export function* checkLockScope(owner: JsonObject, path: string): Findings {
  for (const written of listAt(owner, 'lockScope').filter(isString)) {
    if (written.includes('{{') || written.trim() === '') continue;
    const normal = normalPath(written);
    const fault = normal.ok ? faultOf(normal.path) : PATH_FAULTS[normal.fault];
    if (fault !== null) yield error('INVALID_CONFIG', `${path}.lockScope`, `${shown(written)} ${fault}.`);
  }
}

function faultOf(path: string): string | null {
  if (path.startsWith('/')) return PATH_FAULTS.escapes;
  return isGoverning(pathKey(path, false)) ? 'governs the work, so no turn may change it; leave it out' : null;
}

function unstoppable(materia: JsonObject): string | null {
  const runner = given(materia, 'runner') ?? DEFAULT_RUNNER;
  if (runnerCan(PRESENT, runner, 'runsCommand')) {
    return 'The runner command does not ask before its agent changes state, and does not report what it ran. Give the work to claude, codex or pi, or write tools: "none".';
  }
  if (!runnerCan(PRESENT, runner, 'isProgram') || given(materia, 'sandbox') !== 'bwrap') return null;
  return 'In a sandbox a command that changes state is refused, and cannot be approved: nothing can be written down from there. Leave the sandbox out, give such commands a lower tier in approvals.tiers, or set approvals.hook to "off".';
}
