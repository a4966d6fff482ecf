// Checks of the configuration itself: what is neither a loadout nor a materia. The shapes come from the field tables; what
// is here are relations between fields.
import { isObject, isText, type Json, type JsonObject } from '../json.ts';
import { checkKnowledgeRules } from '../knowledge/check-rules.ts';
import { normalPath, PATH_FAULTS } from '../ledger/path.ts';
import { checkActive } from './active-loadout.ts';
import { given, objectAt } from './authored.ts';
import { checkCompaction } from './check-compaction.ts';
import { checkFields } from './check-fields.ts';
import { isPath } from './checker.ts';
import { CHECKERS, CONFIG, PRICE, WORKTREE } from './config-fields.ts';
import { authored } from './graph-fields.ts';
import { error, type Findings, listed, shown } from './issue.ts';
import { checkDefaults } from './runner-choice.ts';

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

/** What is copied or linked is inside the workspace, and neither all of it nor part of `.git` or `.baton`. */
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
