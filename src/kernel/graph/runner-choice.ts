// Which runner and model the agents of a configuration use where their own materia does not say it. The order: what the caller
// of a cast chooses, then the materia itself, then `defaults` of the configuration, then claude.
import { DEFAULT_RUNNER, runnersThat } from '../capabilities.ts';
import { isObject, isString, isText, type Json, type JsonObject } from '../json.ts';
import { nearestName } from '../nearest-name.ts';
import { given, objectAt, typeOfMateria } from './authored.ts';
import { RUNNERS } from './config.ts';
import { error, type Findings, listed, shown } from './issue.ts';

/** Runners that can take the place of one another: each asks a model with the same brief. */
export const MODEL_RUNNERS: readonly string[] = runnersThat('asksProvider');

export type RunnerChoice = { readonly runner?: string | undefined; readonly model?: string | undefined };

/** Why a runner cannot be chosen, with the nearest name; null where it can. */
export function faultOfRunner(name: string): string | null {
  if (MODEL_RUNNERS.includes(name)) return null;
  const near = nearestName(name, MODEL_RUNNERS);
  const hint = near === null ? `Name one of: ${listed(MODEL_RUNNERS)}.` : `Did you mean ${near}?`;
  const isKnown = RUNNERS.some((runner) => runner === name);
  const why = isKnown ? `The runner ${name} cannot take the place of others.` : `There is no runner ${shown(name)}.`;
  return `${why} ${hint}`;
}

/** The configuration with `defaults` written into each agent that names no runner, or names the same one and no model. */
export function withDefaultRunner(config: JsonObject): JsonObject {
  const { runner, model } = objectAt(config, 'defaults');
  // A runner that cannot be chosen is an issue of `defaults`, and not one of each agent.
  if (isText(runner) ? faultOfRunner(runner) !== null : !isText(model)) return config;
  const usual = isText(runner) ? runner : DEFAULT_RUNNER;
  return withAgents(config, (agent) => {
    const own = given(agent, 'runner');
    if (own !== undefined && own !== usual) return agent;
    const isOwnModel = given(agent, 'model') !== undefined || !isText(model);
    return { ...agent, runner: usual, ...(isOwnModel ? {} : { model }) };
  });
}

/** The configuration with the runner and model of the caller in each agent that asks a model. */
export function withChosenRunner(config: JsonObject, { runner, model }: RunnerChoice): JsonObject {
  if (runner === undefined && model === undefined) return config;
  return withAgents(config, (agent) => {
    const own = given(agent, 'runner') ?? DEFAULT_RUNNER;
    if (!MODEL_RUNNERS.includes(String(own))) return agent;
    const isSame = runner === undefined || runner === own;
    return {
      ...(isSame ? agent : withoutOwn(agent)),
      ...(runner === undefined ? {} : { runner }),
      ...(model === undefined ? {} : { model }),
    };
  });
}

/** What is meant for one runner means nothing to another one. */
const OF_ONE_RUNNER = ['runner', 'model', 'baseUrl', 'wire', 'keyVariable', 'args', 'fallbacks'];

function withoutOwn(agent: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(agent).filter(([field]) => !OF_ONE_RUNNER.includes(field)));
}

function withAgents(config: JsonObject, change: (agent: JsonObject) => JsonObject): JsonObject {
  const written = given(config, 'materia');
  if (!isObject(written)) return config;
  const materia = Object.entries(written).map(([id, one]): [string, Json] => {
    return [id, isObject(one) && typeOfMateria(one) === 'agent' ? change(one) : one];
  });
  return { ...config, materia: Object.fromEntries(materia) };
}

export function* checkDefaults(defaults: Json | undefined): Findings {
  if (!isObject(defaults)) return;
  const runner = given(defaults, 'runner');
  if (runner === undefined || (isString(runner) && !isText(runner))) return;
  const other = `runner is ${shown(runner)}. Name one of: ${listed(MODEL_RUNNERS)}.`;
  const fault = isText(runner) ? faultOfRunner(runner) : other;
  if (fault !== null) yield error('INVALID_CONFIG', 'defaults.runner', fault);
}
