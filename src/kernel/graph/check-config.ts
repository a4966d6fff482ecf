// Checks of the configuration itself: what is neither a loadout nor a materia.
import { checkApprovals } from '../approval/policy.ts';
import { isObject, isText, type Json, type JsonObject } from '../json.ts';
import { checkKnowledgeRules } from '../knowledge/check-rules.ts';
import { checkActive } from './active-loadout.ts';
import { given, objectAt } from './authored.ts';
import { checkCompaction } from './check-compaction.ts';
import { checkCheckers } from './checker.ts';
import { CONTRACTS, RUNNERS } from './config.ts';
import { HOOK_RULES_SHAPE } from './hook-rules.ts';
import { error, type Findings, listed, shown } from './issue.ts';
import { checkDefaults } from './runner-choice.ts';
import {
  AMOUNT,
  BOOLEAN,
  COUNT,
  checkObsolete,
  checkShapes,
  checkUnknown,
  OBJECT,
  oneOf,
  PERCENT,
  POSITIVE_INTEGER,
  type Shapes,
  STRING,
} from './shape.ts';
import { checkWorktree } from './worktree.ts';

const CONFIG: Shapes = {
  artifactDir: STRING,
  activeLoadoutId: STRING,
  budget: OBJECT,
  limits: OBJECT,
  parallelism: OBJECT,
  locks: OBJECT,
  checkpointEvery: OBJECT,
  compaction: OBJECT,
  finalization: OBJECT,
  eventing: OBJECT,
  defaults: OBJECT,
  runners: OBJECT,
  surfaces: OBJECT,
  reconnaissanceAgent: STRING,
  context: OBJECT,
  prices: OBJECT,
  mcp: BOOLEAN,
  hooks: OBJECT,
};
const SECTIONS: Readonly<Record<string, Shapes>> = {
  budget: {
    maxTokens: COUNT,
    maxCost: AMOUNT,
    maxDurationMs: POSITIVE_INTEGER,
    warnAtPercent: PERCENT,
    maxTokensPerDay: COUNT,
    maxCostPerDay: AMOUNT,
  },
  limits: {
    maxNoAdvanceCycles: POSITIVE_INTEGER,
    repairTurnsMax: COUNT,
    maxBriefBytes: POSITIVE_INTEGER,
    modelSilenceMs: POSITIVE_INTEGER,
  },
  parallelism: { maxConcurrency: POSITIVE_INTEGER },
  locks: { caseInsensitive: BOOLEAN },
  checkpointEvery: { minutes: POSITIVE_INTEGER, facts: POSITIVE_INTEGER },
  compaction: { proactiveThresholdPercent: PERCENT },
  finalization: { agentJson: OBJECT },
  eventing: { enabled: BOOLEAN, sinks: OBJECT, heartbeatIntervalMs: POSITIVE_INTEGER },
  hooks: {
    contract: oneOf([...CONTRACTS]),
    contractAt: {
      accepts: (value) => Array.isArray(value) && value.every((stop) => stop === 'Stop' || stop === 'SubagentStop'),
      wants: 'a list of Stop and SubagentStop',
    },
    worklog: BOOLEAN,
    rules: HOOK_RULES_SHAPE,
  },
};
/** Fields without a shape of their own here: others look at them. */
const ALSO_READ = ['$schema', 'activeLoadout', 'approvals', 'checkers', 'loadouts', 'materia', 'worktree'];
/** Fields of older files, which mean nothing any more and harm nobody. */
const IGNORED: Readonly<Record<string, readonly string[]>> = {
  budget: ['maxCostUsd', 'stopAtLimit'],
  limits: ['maxSocketVisits', 'maxEdgeTraversals'],
  checkpointEvery: [],
  hooks: [],
};
const OBSOLETE = {
  roles: 'Define each role as a materia.',
  materiaDefinitions: 'Rename it to materia.',
};

export function* checkConfig(config: JsonObject): Findings {
  yield* checkObsolete(config, OBSOLETE, '', 'INVALID_CONFIG');
  yield* checkTopLevel(config);
  for (const [section, shapes] of Object.entries(SECTIONS)) {
    const value = given(config, section);
    if (isObject(value)) yield* checkShapes(value, shapes, section, 'INVALID_CONFIG');
  }
  yield* checkCompaction(given(config, 'compaction'));
  yield* checkStrategy(given(config, 'finalization'));
  yield* checkSinks(given(config, 'eventing'));
  yield* checkDefaults(given(config, 'defaults'));
  yield* checkRunners(given(config, 'runners'));
  yield* checkPrices(given(config, 'prices'));
  yield* checkCheckers(given(config, 'checkers'));
  yield* checkWorktree(given(config, 'worktree'));
  yield* checkApprovals(given(config, 'approvals'));
  yield* checkKnowledgeRules(config);
  if (isObject(given(config, 'loadouts'))) yield* checkLoadouts(config);
  yield* checkNames(config);
}

function* checkLoadouts(config: JsonObject): Findings {
  if (Object.keys(objectAt(config, 'loadouts')).length > 0) yield* checkActive(config);
  else yield error('INVALID_CONFIG', 'loadouts', 'There is no loadout. Define at least one.');
}

/** A limit under a wrong name would be no limit. */
function* checkNames(config: JsonObject): Findings {
  const read = [...ALSO_READ, ...Object.keys(CONFIG)];
  yield* checkUnknown(withoutFields(config, Object.keys(OBSOLETE)), read, '', 'the configuration');
  for (const [section, ignored] of Object.entries(IGNORED)) {
    const value = given(config, section);
    if (!isObject(value)) continue;
    yield* checkUnknown(withoutFields(value, ignored), Object.keys(SECTIONS[section] ?? {}), section, section);
  }
}

function withoutFields(object: JsonObject, fields: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([field]) => !fields.includes(field)));
}

function* checkTopLevel(config: JsonObject): Findings {
  for (const [field, shape] of Object.entries(CONFIG)) {
    const value = given(config, field);
    if (value === undefined || shape.accepts(value)) continue;
    yield error('INVALID_CONFIG', field, `${field} is ${shown(value)}. Write ${shape.wants}, or leave it out.`);
  }
  for (const field of ['materia', 'loadouts']) {
    const value = given(config, field);
    if (isObject(value)) continue;
    yield error('INVALID_CONFIG', field, `${field} is ${shown(value)}. Write an object from names to definitions.`);
  }
}

const STRATEGY: Shapes = {
  strategy: oneOf(['direct_json', 'tool_backed']),
  qualifiedModels: {
    accepts: (value) => Array.isArray(value) && value.every((each) => isObject(each) && isText(each.model)),
    wants: 'a list of objects with a model each, or "*" for any',
  },
};

function* checkStrategy(finalization: Json | undefined): Findings {
  const agentJson = isObject(finalization) ? given(finalization, 'agentJson') : undefined;
  if (!isObject(agentJson)) return;
  yield* checkShapes(agentJson, STRATEGY, 'finalization.agentJson', 'INVALID_CONFIG');
}

function* checkSinks(eventing: Json | undefined): Findings {
  const sinks = isObject(eventing) ? given(eventing, 'sinks') : undefined;
  if (!isObject(sinks)) return;
  for (const [name, sink] of Object.entries(sinks)) {
    if (isObject(sink)) continue;
    const message = `A sink is an object, not ${shown(sink)}. Write {"url": …}, or remove it.`;
    yield error('INVALID_CONFIG', `eventing.sinks.${name}`, message);
  }
}

const RUNNER_LIMITS: Shapes = { maxConcurrent: POSITIVE_INTEGER, perMinute: POSITIVE_INTEGER };

/** A limit for a runner that does not exist limits nobody. */
function* checkRunners(runners: Json | undefined): Findings {
  if (!isObject(runners)) return;
  for (const [name, limits] of Object.entries(runners)) {
    const path = `runners.${name}`;
    if (!RUNNERS.some((known) => known === name)) {
      yield error('INVALID_CONFIG', path, `There is no runner ${shown(name)}. Name one of: ${listed([...RUNNERS])}.`);
    }
    if (!isObject(limits)) {
      yield error('INVALID_CONFIG', path, `The limits of a runner are an object, not ${shown(limits)}.`);
      continue;
    }
    yield* checkShapes(limits, RUNNER_LIMITS, path, 'INVALID_CONFIG');
    yield* checkUnknown(limits, Object.keys(RUNNER_LIMITS), path, 'the limits of a runner');
  }
}

const PRICE: Shapes = { input: AMOUNT, output: AMOUNT, cached: AMOUNT };

/** A price that is half said would make half of the tokens free. */
function* checkPrices(prices: Json | undefined): Findings {
  if (!isObject(prices)) return;
  for (const [model, price] of Object.entries(prices)) {
    const path = `prices.${model}`;
    if (!isObject(price) || given(price, 'input') === undefined || given(price, 'output') === undefined) {
      const fix = 'Write {"input": …, "output": …, "cached"?: …}, each for a million tokens.';
      yield error('INVALID_CONFIG', path, `The price of a model is ${shown(price)}. ${fix}`);
      continue;
    }
    yield* checkShapes(price, PRICE, path, 'INVALID_CONFIG');
    yield* checkUnknown(price, Object.keys(PRICE), path, 'the price of a model');
  }
}
