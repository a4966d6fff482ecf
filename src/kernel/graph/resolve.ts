// Turns a checked loadout into the rules of a cast: every default is filled in, and old spellings are replaced.
import { DEFAULT_RUNNER, PRESENT, runnerCan } from '../capabilities.ts';
import {
  given,
  isObject,
  isPositiveInteger,
  isString,
  isText,
  type Json,
  type JsonObject,
  listAt,
  objectAt,
  stringAt,
} from '../json.ts';
import { knowledgeRulesOf } from '../knowledge/rules.ts';
import {
  type AgentMateria,
  type Budget,
  type Choice,
  type CommandTemplate,
  DEFAULTS,
  isToolScope,
  type Limits,
  type Materia,
  type Price,
  type Rules,
  type RunnerLimits,
  SETUP_TIMEOUT_MS,
  type Tools,
  type UtilityMateria,
  WIRES,
  type WorktreeRules,
} from './config.ts';
import { type Draft, draftOf, isGenerator, typeOfMateria, withDefaultRunner } from './issue.ts';
import { authoredScope, graphOf } from './resolve-graph.ts';

/** The files that utilities are known to change, by the name of the utility. */
type KnownWrites = Readonly<Record<string, readonly string[]>>;

/**
 * The rules for casting a loadout whose issues hold no error. Files that the configuration names (`promptFile`, a
 * `schema` given by name) have been read and put in place of their names before.
 */
export function resolve(written: JsonObject, loadoutName: string, known: KnownWrites = {}): Rules {
  const config = withDefaultRunner(written);
  const draft = draftOf(config, loadoutName);
  const graph = graphOf(draft);
  const used = new Set(Object.values(graph.sockets).map((socket) => socket.materia));
  for (const id of draft.socketIds) refuseFileName(given(objectAt(draft.sockets, id), 'schema'), id);
  return {
    graph,
    materia: Object.fromEntries([...used].map((id) => [id, materiaFor(draft, id, given(config, 'mcp'), known)])),
    budget: budgetOf(objectAt(config, 'budget')),
    limits: limitsOf(objectAt(config, 'limits')),
    checkers: objectAt(config, 'checkers'),
    ...runnersOf(objectAt(config, 'runners')),
    ...pricesOf(objectAt(config, 'prices')),
    ...knowledgeRulesOf(config),
    ...worktreeFor(config),
  };
}

function worktreeFor(config: JsonObject): Pick<Rules, 'worktree'> {
  const written = given(config, 'worktree');
  return written === undefined || written === true ? {} : { worktree: worktreeOf(config) };
}

function materiaFor(draft: Draft, id: string, mcp: Json | undefined, known: KnownWrites): Materia {
  const written = objectAt(draft.materia, id);
  refuseFileName(given(written, 'schema'), id);
  refuseFileName(given(written, 'promptFile'), id);
  const sandbox = given(written, 'sandbox') === 'bwrap' ? ({ sandbox: 'bwrap' } as const) : {};
  const common = {
    id,
    label: textAt(written, 'label') ?? id,
    generator: isGenerator(written),
    ...sandbox,
    ...cwdOf(written),
  };
  if (typeOfMateria(written) === 'utility') {
    return {
      type: 'utility',
      ...common,
      utility: stringAt(written, 'utility'),
      command: given(written, 'command') === undefined ? null : listAt(written, 'command').filter(isString),
      script: stringAt(objectAt(written, 'script'), 'name'),
      ...waitFor(written),
      params: objectAt(written, 'params'),
      once: given(written, 'once') === true,
      lockScope: authoredScope(written),
      ...writesOf(written, known),
      ...(given(written, 'env') === undefined ? {} : { env: listAt(written, 'env').filter(isString) }),
    };
  }
  return {
    type: 'agent',
    ...common,
    multiTurn: given(written, 'multiTurn') === true,
    prompt: stringAt(written, 'prompt') ?? '',
    tools: toolsOf(written),
    runner: stringAt(written, 'runner') ?? DEFAULT_RUNNER,
    model: textAt(written, 'model'),
    thinking: textAt(written, 'thinking'),
    identity: stringAt(written, 'identity'),
    onCrash: given(written, 'onCrash') === 'wait' ? 'wait' : 'rerun',
    lockScope: authoredScope(written),
    ...agentOptions(written),
    // What a materia says counts before what holds for the whole workspace.
    ...((given(written, 'mcp') ?? mcp) === false ? ({ mcp: false } as const) : {}),
  };
}

function waitFor(written: JsonObject): Pick<UtilityMateria, 'wait'> {
  if (given(written, 'wait') === undefined) return {};
  const wait = objectAt(written, 'wait');
  const cast = stringAt(wait, 'cast');
  if (cast !== null) return { wait: { kind: 'cast', cast } };
  const until = stringAt(wait, 'until');
  if (given(wait, 'command') === undefined) return { wait: { kind: 'time', forMs: numberAt(wait, 'forMs'), until } };
  const command = listAt(wait, 'command').filter(isString);
  const everyMs = numberAt(wait, 'everyMs') ?? DEFAULTS.waitEveryMs;
  const pending = listAt(wait, 'pending').filter((code) => typeof code === 'number');
  return { wait: { kind: 'command', command, everyMs, ...(pending.length === 0 ? {} : { pending }) } };
}

/** What the materia says, else what a utility of that name is known to change. */
function writesOf(written: JsonObject, known: KnownWrites): Pick<UtilityMateria, 'writes'> {
  if (given(written, 'writes') !== undefined) return { writes: listAt(written, 'writes').filter(isString) };
  const name = stringAt(objectAt(written, 'script'), 'name') ?? stringAt(written, 'utility') ?? '';
  const writes = known[name];
  if (writes === undefined) return {};
  const file = textAt(objectAt(written, 'params'), 'file');
  return { writes: file === null ? writes : [file] };
}

function cwdOf(written: JsonObject): Pick<Materia, 'cwd'> {
  const cwd = textAt(written, 'cwd');
  return cwd === null ? {} : { cwd };
}

type Options = Pick<AgentMateria, 'system' | 'env' | 'args' | 'command' | 'fallbacks'> & Where;

/** Only what is written: most agents need none of it, and every cast keeps its rules for ever. */
function agentOptions(written: JsonObject): Options {
  const texts = (key: 'env' | 'args') =>
    given(written, key) === undefined ? null : listAt(written, key).filter(isString);
  const [env, args] = [texts('env'), texts('args')];
  const system = textAt(written, 'system');
  const fallbacks = listAt(written, 'fallbacks').filter(isObject);
  const runner = stringAt(written, 'runner') ?? DEFAULT_RUNNER;
  return {
    ...(system === null ? {} : { system }),
    ...(env === null ? {} : { env }),
    ...(args === null ? {} : { args }),
    ...placeOf(written),
    ...(runnerCan(PRESENT, runner, 'runsCommand') ? { command: templateOf(listAt(written, 'command')) } : {}),
    ...(fallbacks.length === 0 ? {} : { fallbacks: fallbacks.map((one) => choiceOf(one, runner)) }),
  };
}

function choiceOf(written: JsonObject, own: string): Choice {
  return { runner: stringAt(written, 'runner') ?? own, model: textAt(written, 'model'), ...placeOf(written) };
}

type Where = Pick<AgentMateria, 'baseUrl' | 'wire' | 'keyVariable'>;

/** Where a model is, how it is spoken to and by which key. */
function placeOf(written: JsonObject): Where {
  const [baseUrl, keyVariable] = [textAt(written, 'baseUrl'), textAt(written, 'keyVariable')];
  const wire = WIRES.find((one) => one === given(written, 'wire'));
  return {
    ...(baseUrl === null ? {} : { baseUrl }),
    ...(wire === undefined ? {} : { wire }),
    ...(keyVariable === null ? {} : { keyVariable }),
  };
}

function templateOf(parts: readonly Json[]): CommandTemplate {
  return parts.flatMap((part): CommandTemplate => {
    if (isString(part)) return [part];
    return Array.isArray(part) ? [part.filter(isString)] : [];
  });
}

function runnersOf(runners: JsonObject): Pick<Rules, 'runners'> {
  const limit = (value: JsonObject, key: keyof RunnerLimits) => {
    const found = given(value, key);
    return isPositiveInteger(found) ? found : null;
  };
  const limits = Object.keys(runners).map((name): [string, RunnerLimits] => {
    const value = objectAt(runners, name);
    return [name, { maxConcurrent: limit(value, 'maxConcurrent'), perMinute: limit(value, 'perMinute') }];
  });
  return limits.length === 0 ? {} : { runners: Object.fromEntries(limits) };
}

function pricesOf(prices: JsonObject): Pick<Rules, 'prices'> {
  const named = Object.keys(prices).map((model): [string, Price] => {
    const price = objectAt(prices, model);
    const cached = numberAt(price, 'cached');
    const given = { input: numberAt(price, 'input') ?? 0, output: numberAt(price, 'output') ?? 0 };
    return [model, cached === null ? given : { ...given, cached }];
  });
  return named.length === 0 ? {} : { prices: Object.fromEntries(named) };
}

function toolsOf(materia: JsonObject): Tools {
  const tools = given(materia, 'tools');
  if (isToolScope(tools)) return tools;
  const custom = objectAt(materia, 'tools');
  if (given(custom, 'type') !== 'custom') return 'none';
  return { type: 'custom', tools: [...new Set(listAt(custom, 'tools').filter(isString))] };
}

function budgetOf(budget: JsonObject): Budget {
  return {
    maxTokens: numberAt(budget, 'maxTokens'),
    maxCost: numberAt(budget, 'maxCost'),
    maxDurationMs: numberAt(budget, 'maxDurationMs'),
    warnAtPercent: numberAt(budget, 'warnAtPercent') ?? DEFAULTS.warnAtPercent,
    ...perDay(budget, 'maxTokensPerDay'),
    ...perDay(budget, 'maxCostPerDay'),
  };
}

function perDay(budget: JsonObject, key: 'maxTokensPerDay' | 'maxCostPerDay'): Partial<Budget> {
  const value = numberAt(budget, key);
  return value === null ? {} : { [key]: value };
}

function limitsOf(limits: JsonObject): Limits {
  const positive = (key: 'maxNoAdvanceCycles' | 'maxBriefBytes') => {
    const value = given(limits, key);
    return isPositiveInteger(value) ? value : DEFAULTS[key];
  };
  return {
    maxNoAdvanceCycles: positive('maxNoAdvanceCycles'),
    repairTurnsMax: numberAt(limits, 'repairTurnsMax') ?? DEFAULTS.repairTurnsMax,
    maxBriefBytes: positive('maxBriefBytes'),
    ...(isPositiveInteger(limits.modelSilenceMs) ? { modelSilenceMs: limits.modelSilenceMs } : {}),
  };
}

/** An agent without its prompt, or a socket without its schema, must not start as if nothing were missing. */
function refuseFileName(value: Json | undefined, id: string): void {
  if (isString(value)) throw new Error(`${id} names a file; its text must be in place before the loadout is resolved`);
}

function numberAt(object: JsonObject, key: string): number | null {
  const value = given(object, key);
  return typeof value === 'number' ? value : null;
}

function textAt(object: JsonObject, key: string): string | null {
  const value = given(object, key);
  return isText(value) ? value : null;
}

/** Null where casts work in the directory itself. */
export function worktreeOf(config: JsonObject): WorktreeRules | null {
  const written = given(config, 'worktree');
  if (written === false) return null;
  const rules = isObject(written) ? written : {};
  const [setup, copy, timeoutMs] = [given(rules, 'setup'), given(rules, 'copy'), given(rules, 'timeoutMs')];
  const [link, mainCheckout] = [given(rules, 'link'), given(rules, 'mainCheckout')];
  return {
    setup: stepsOf(setup) ?? [],
    copy: Array.isArray(copy) ? copy.filter(isText) : [],
    timeoutMs: isPositiveInteger(timeoutMs) ? timeoutMs : SETUP_TIMEOUT_MS,
    ...(Array.isArray(link) ? { link: link.filter(isText) } : {}),
    ...(mainCheckout === 'refuse' || mainCheckout === 'warn' ? { mainCheckout } : {}),
  };
}

/** One program, or several; null where it is neither. */
function stepsOf(setup: Json | undefined): readonly (readonly string[])[] | null {
  if (!Array.isArray(setup)) return null;
  if (setup.length === 0) return [];
  const steps = setup.every(Array.isArray) ? setup : [setup];
  const isStep = (step: Json): step is readonly string[] =>
    Array.isArray(step) && step.length > 0 && isText(step[0]) && step.every((word) => typeof word === 'string');
  return steps.every(isStep) ? steps : null;
}
