// Checks of the configuration itself: what is neither a loadout nor a materia. Shapes come from the field tables. Relations
// between fields are here.
import { given, isObject, isText, type Json, type JsonObject, listAt, objectAt, stringAt } from '../json.ts';
import { ANY } from '../knowledge/rules.ts';
import { normalPath, PATH_FAULTS } from '../ledger/path.ts';
import { isPath } from './config.ts';
import { CONFIG, PRICE, TIER } from './config-fields.ts';
import { checkDefaults, checkFields, error, type Findings, listed, meant, shown } from './issue.ts';
import { authored } from './materia-fields.ts';
import { CHECKERS, WORKTREE } from './project-fields.ts';

export function* checkConfig(config: JsonObject): Findings {
  yield* checkFields(config, CONFIG, { path: '', code: 'INVALID_CONFIG', what: 'the configuration' });
  yield* checkCompaction(given(config, 'compaction'));
  yield* checkDefaults(given(config, 'defaults'));
  yield* checkPrices(objectAt(config, 'prices'));
  yield* checkCheckers(given(config, 'checkers'));
  yield* checkWorktree(given(config, 'worktree'));
  yield* checkKnowledgeRules(config);
  if (isObject(given(config, 'loadouts'))) yield* checkLoadouts(config);
}

/** The section `approvals` alone, for programs that read nothing else. */
export function* checkApprovals(section: Json | undefined): Findings {
  const { approvals } = CONFIG.fields;
  if (section === undefined || approvals === undefined) return;
  const table = authored({ approvals });
  yield* checkFields({ approvals: section }, table, { path: '', code: 'INVALID_CONFIG', what: 'the configuration' });
}

function* checkLoadouts(config: JsonObject): Findings {
  if (Object.keys(objectAt(config, 'loadouts')).length > 0) yield* checkActive(config);
  else yield error('INVALID_CONFIG', 'loadouts', 'There is no loadout. Define at least one.');
}

/** With half of a price, half of the tokens would be free. */
function* checkPrices(prices: JsonObject): Findings {
  for (const [model, price] of Object.entries(prices)) {
    const path = `prices.${model}`;
    if (!isObject(price) || given(price, 'input') === undefined || given(price, 'output') === undefined) {
      const fix = 'Write {"input": …, "output": …, "cached"?: …}, each for a million tokens.';
      yield error('INVALID_CONFIG', path, `The price of a model is ${shown(price)}. ${fix}`);
    } else yield* checkFields(price, PRICE, { path, code: 'INVALID_CONFIG', what: 'the price of a model' });
  }
}

export function* checkCheckers(checkers: Json | undefined): Findings {
  if (checkers === undefined) return;
  if (!isObject(checkers)) {
    const message = `checkers is ${shown(checkers)}. Write an object from names to checkers.`;
    yield error('INVALID_CONFIG', 'checkers', message);
    return;
  }
  for (const [name, definition] of Object.entries(checkers)) {
    if (definition !== null) yield* checkChecker(definition, `checkers.${name}`);
  }
}

function* checkChecker(definition: Json, path: string): Findings {
  const sorts = Object.keys(CHECKERS);
  if (!isObject(definition)) {
    const message = `A checker is an object, not ${shown(definition)}. Write one of ${listed(sorts)} into it.`;
    yield error('INVALID_CONFIG', path, message);
    return;
  }
  const [sort, another] = sorts.filter((name) => definition[name] !== undefined);
  const table = sort === undefined ? undefined : CHECKERS[sort];
  if (sort === undefined || table === undefined || another !== undefined) {
    const found = sort === undefined ? 'none' : `${sort} and ${another}`;
    yield error('INVALID_CONFIG', path, `A checker has exactly one of ${listed(sorts)}; this one has ${found}.`);
    return;
  }
  yield* checkFields(definition, table, { path, code: 'INVALID_CONFIG', what: `a ${sort} checker` });
  if (sort === 'command') yield* checkProgram(definition.command, path);
  else yield* checkPaths(definition[sort], sort, path);
  if (sort === 'json') yield* checkPlace(definition, path);
  if (definition.exists === false && definition.contains !== undefined) {
    const message = 'A file that must not exist cannot contain a text. Leave one of the two out.';
    yield error('INVALID_CONFIG', `${path}.contains`, message);
  }
}

function* checkProgram(command: Json | undefined, path: string): Findings {
  if (!Array.isArray(command) || command.length === 0 || typeof command[0] !== 'string' || isText(command[0])) return;
  yield error('INVALID_CONFIG', `${path}.command`, 'The first entry of command is the program. Name it.');
}

function* checkPaths(value: Json | undefined, sort: string, path: string): Findings {
  const isFine = sort === 'diff' ? Array.isArray(value) && value.length > 0 && value.every(isPath) : isPath(value);
  if (isFine) return;
  const wants = sort === 'diff' ? 'a list of paths inside the workspace, at least one' : 'a path inside the workspace';
  yield error('INVALID_CONFIG', `${path}.${sort}`, `${sort} is ${shown(value)}. Write ${wants}.`);
}

function* checkPlace(definition: JsonObject, path: string): Findings {
  if ((definition.pointer === undefined) === (definition.path === undefined)) {
    const message = 'A json checker says with pointer or with path, not both, which value it looks at.';
    yield error('INVALID_CONFIG', path, message);
  }
  if (definition.equals === undefined) {
    yield error('INVALID_CONFIG', `${path}.equals`, 'A json checker needs equals: the value that is expected there.');
  }
}

export function* checkWorktree(written: Json | undefined): Findings {
  if (written === undefined || typeof written === 'boolean') return;
  if (!isObject(written)) {
    const fix =
      'Write false to work in the directory itself, or an object with setup, copy, link, timeoutMs and mainCheckout.';
    yield error('INVALID_CONFIG', 'worktree', `worktree is ${shown(written)}. ${fix}`);
    return;
  }
  yield* checkFields(written, WORKTREE, { path: 'worktree', code: 'INVALID_CONFIG', what: 'worktree' });
  const setup = given(written, 'setup');
  const programs = Array.isArray(setup) ? (setup.every(Array.isArray) ? setup : [setup]) : [];
  if (programs.some(([program]) => typeof program === 'string' && !isText(program))) {
    yield error('INVALID_CONFIG', 'worktree.setup', 'The first entry of a step of setup is the program. Name it.');
  }
  yield* checkShared(written, 'copy', '.env');
  yield* checkShared(written, 'link', 'node_modules');
}

/** A copied or linked path is inside the workspace, and neither all of it nor part of `.git` or `.baton`. */
function* checkShared(written: JsonObject, field: 'copy' | 'link', example: string): Findings {
  const names = given(written, field);
  for (const [index, name] of (Array.isArray(names) ? names : []).entries()) {
    const normal = isText(name) ? normalPath(name) : null;
    const first = normal?.ok ? (normal.path.split('/')[0] ?? '') : '';
    if (normal?.ok && !normal.path.startsWith('/') && !['.', '.git', '.baton'].includes(first)) continue;
    const why = normal === null || normal.ok ? 'is not a file or folder that can be shared' : PATH_FAULTS[normal.fault];
    const fix = `Name a file or folder inside the workspace, such as "${example}".`;
    yield error('INVALID_CONFIG', `worktree.${field}[${index}]`, `${shown(name)} ${why}. ${fix}`);
  }
}

/**
 * When a conversation is shortened: at one percentage, or at several by the size of the model's window. The sizes start at 0
 * and leave no gap.
 */
const EXAMPLE =
  'Write a list such as [{"minContextWindow": 0, "maxContextWindow": 128000, "thresholdPercent": 70}, {"minContextWindow": 128000, "thresholdPercent": 60}]';

function* checkCompaction(compaction: Json | undefined): Findings {
  const tiers = isObject(compaction) ? given(compaction, 'proactiveThresholdTiers') : undefined;
  if (tiers === undefined) return;
  const path = 'compaction.proactiveThresholdTiers';
  if (!Array.isArray(tiers) || tiers.length === 0) {
    const found = Array.isArray(tiers) ? 'empty' : shown(tiers);
    yield error('INVALID_CONFIG', path, `proactiveThresholdTiers is ${found}. ${EXAMPLE}, or leave it out.`);
    return;
  }
  let sound = true;
  for (const [index, tier] of tiers.entries()) {
    const issues = [...checkTier(tier, `${path}[${index}]`)];
    yield* issues;
    sound = sound && isObject(tier) && issues.every(({ level }) => level !== 'error');
  }
  // Malformed tiers are reported already, so gaps between them are not.
  if (sound) yield* checkCover(tiers.filter(isObject), path);
}

function* checkTier(tier: Json, path: string): Findings {
  if (!isObject(tier)) {
    yield error('INVALID_CONFIG', path, `A tier is an object, not ${shown(tier)}. ${EXAMPLE}.`);
    return;
  }
  yield* checkFields(tier, TIER, { path, code: 'INVALID_CONFIG', what: 'a tier' });
}

/** A tier begins where the one before it ends; the first at 0, and the last has no end. */
function* checkCover(tiers: readonly JsonObject[], path: string): Findings {
  let from = 0;
  for (const [index, tier] of tiers.entries()) {
    const min = numberAt(tier, 'minContextWindow') ?? 0;
    const max = numberAt(tier, 'maxContextWindow');
    const isLast = index === tiers.length - 1;
    if (min !== from) {
      const what = min > from ? `No tier covers windows from ${from} to ${min}` : 'Two tiers are for the same windows';
      const message = `${what}. Let this tier begin at ${from}, where the one before it ends.`;
      yield error('INVALID_CONFIG', `${path}[${index}].minContextWindow`, index === 0 ? STARTS : message);
    }
    if (isLast && max !== null) {
      const message = `No tier covers windows from ${max} on. Leave maxContextWindow of the last tier out.`;
      yield error('INVALID_CONFIG', `${path}[${index}].maxContextWindow`, message);
    }
    if (!isLast && (max === null || max <= min)) {
      const message = `A tier that others follow ends above its beginning, ${min}. Write maxContextWindow.`;
      yield error('INVALID_CONFIG', `${path}[${index}].maxContextWindow`, message);
      return;
    }
    from = max ?? from;
  }
}

const STARTS = 'The first tier begins at 0. Write 0, or leave minContextWindow out.';

function numberAt(tier: JsonObject, field: string): number | null {
  const value = given(tier, field);
  return typeof value === 'number' ? value : null;
}

/** Its name, or null where the configuration does not tell. */
export function activeLoadout(config: JsonObject): string | null {
  const loadouts = objectAt(config, 'loadouts');
  const names = Object.keys(loadouts);
  const byId = given(config, 'activeLoadoutId') === undefined ? undefined : namedById(config);
  if (given(config, 'activeLoadout') !== undefined) {
    const active = stringAt(config, 'activeLoadout') ?? '';
    const isOne = Object.hasOwn(loadouts, active) && (byId === undefined || byId === active);
    return isOne ? active : null;
  }
  if (byId !== undefined) return byId;
  return names.length === 1 ? (names[0] ?? null) : null;
}

function namedById(config: JsonObject): string | null {
  const loadouts = objectAt(config, 'loadouts');
  const id = stringAt(config, 'activeLoadoutId');
  if (id === null) return null; // Else it would name a loadout that has no id.
  return Object.keys(loadouts).find((name) => stringAt(objectAt(loadouts, name), 'id') === id) ?? null;
}

/** The fields that name the active loadout. Their faults do not matter where a loadout is named. */
export const ACTIVE_FIELDS: readonly string[] = ['activeLoadout', 'activeLoadoutId'];

function isFound(config: JsonObject, field: string): boolean {
  if (field === 'activeLoadoutId') return namedById(config) !== null;
  return Object.hasOwn(objectAt(config, 'loadouts'), stringAt(config, 'activeLoadout') ?? '');
}

/** For a configuration with at least one loadout. */
export function* checkActive(config: JsonObject): Findings {
  const names = Object.keys(objectAt(config, 'loadouts'));
  if (activeLoadout(config) !== null) return;
  const fix = `one of: ${listed(names)}; a cast can name one with -l`;
  const field = ACTIVE_FIELDS.find((each) => given(config, each) !== undefined && !isFound(config, each));
  if (field === undefined && ACTIVE_FIELDS.every((each) => given(config, each) !== undefined)) {
    const message = `activeLoadout is ${shown(given(config, 'activeLoadout'))}, and activeLoadoutId is the id of ${shown(namedById(config))}. Let both name the same one, ${fix}.`;
    yield error('INVALID_CONFIG', 'activeLoadoutId', message);
    return;
  }
  if (field === undefined) {
    const message = `There are several loadouts and none is active, so a cast that names none does not know which to run. Set activeLoadout to ${fix}.`;
    yield error('INVALID_CONFIG', 'activeLoadout', message);
    return;
  }
  const what = field === 'activeLoadoutId' ? 'no loadout with the id' : 'no loadout';
  yield error('INVALID_CONFIG', field, `There is ${what} ${shown(given(config, field))}. Set activeLoadout to ${fix}.`);
}

/**
 * Checks the surfaces and the permissions of the configuration. An unknown name would route work to no agent or let no agent
 * write.
 */
function* checkKnowledgeRules(config: JsonObject): Findings {
  const agents = agentsIn(config);
  yield* checkSurfaces(config, agents);
  const scout = given(config, 'reconnaissanceAgent');
  if (isText(scout)) yield* checkAgent(scout, agents, 'reconnaissanceAgent');
  yield* checkContext(config, agents);
}

function* checkSurfaces(config: JsonObject, agents: readonly string[]): Findings {
  const surfaces = objectAt(config, 'surfaces');
  const sections = sectionsIn(config);
  for (const name of Object.keys(surfaces)) {
    const path = `surfaces.${name}`;
    const surface = objectAt(surfaces, name);
    const agent = stringAt(surface, 'agent');
    if (agent !== null) yield* checkAgent(agent, agents, `${path}.agent`);
    yield* checkNames(surface, 'neighbours', Object.keys(surfaces), path, 'surface');
    if (sections !== null) yield* checkNames(surface, 'sections', sections, path, 'section');
  }
}

function* checkContext(config: JsonObject, agents: readonly string[]): Findings {
  const names = sectionsIn(config) ?? [];
  const context = objectAt(config, 'context');
  yield* checkTable(objectAt(context, 'read'), [...names, ANY], agents, 'context.read');
  yield* checkTable(objectAt(context, 'write'), names, agents, 'context.write');
}

/** By agent, the sections it may read or write. */
function* checkTable(table: JsonObject, names: readonly string[], agents: readonly string[], path: string): Findings {
  for (const agent of Object.keys(table)) {
    if (agent !== ANY) yield* checkAgent(agent, agents, `${path}.${agent}`);
    yield* checkNames(table, agent, names, path, 'section');
  }
}

function* checkAgent(agent: string, agents: readonly string[], path: string): Findings {
  if (agents.includes(agent)) return;
  const message = `There is no agent ${shown(agent)}. ${meant(agent, agents)}Name the id or the identity of a materia: ${listed(agents)}.`;
  yield error('INVALID_CONFIG', path, message);
}

function* checkNames(object: JsonObject, key: string, names: readonly string[], path: string, what: string): Findings {
  for (const name of listAt(object, key)) {
    if (!isText(name) || names.includes(name)) continue;
    const message = `There is no ${what} ${shown(name)}. ${meant(name, names)}Name one of: ${listed(names)}.`;
    yield error('INVALID_CONFIG', `${path}.${key}`, message);
  }
}

/** Ids and identities of all agents. */
function agentsIn(config: JsonObject): readonly string[] {
  const materia = objectAt(config, 'materia');
  const names = Object.keys(materia).flatMap((id) => {
    const identity = stringAt(objectAt(materia, id), 'identity');
    return identity === null ? [id] : [id, identity];
  });
  return [...new Set(names)];
}

/** The declared sections; null where none are declared. */
function sectionsIn(config: JsonObject): readonly string[] | null {
  const context = objectAt(config, 'context');
  return given(context, 'sections') === undefined ? null : Object.keys(objectAt(context, 'sections'));
}
