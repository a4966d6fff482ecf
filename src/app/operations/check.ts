// Checks before anything runs: the configuration, and this machine.
import { check } from '../../kernel/graph/check.ts';
import { activeLoadout } from '../../kernel/graph/check-config.ts';
import type { Issue } from '../../kernel/graph/config.ts';
import { type ConfigLayer, keyPathOf, layerOf } from '../../kernel/graph/layers.ts';
import { isObject, type JsonObject, objectAt } from '../../kernel/json.ts';
import { counted } from '../../kernel/text.ts';
import { allow, type Denied, deny } from '../../kernel/verdict.ts';
import { UTILITY_NAMES } from '../../utilities/utility.ts';
import { BUNDLED, fileNamed, inOwnWords, isOwnIssue, loadAll, loadFor } from '../../workspace/find-config.ts';
import { fromLayer } from '../../workspace/layers.ts';
import { BrokenJson, type Loaded } from '../../workspace/load-config.ts';
import { asCast, rulesIn } from '../../workspace/plan.ts';
import { nearestBoundaries } from '../../workspace/registry-boundaries.ts';
import { probed } from '../preflight/agents.ts';
import { findingsIn, needsOf } from '../preflight/checks.ts';
import { errorFinding, type MachineFinding } from '../preflight/machine.ts';
import type { Workspace } from '../workspace.ts';
import type { Operation } from './table.ts';

/** Every static issue of the configuration, at once: of config.json and of each loadout in the short form. */
export const checkLoadouts: Operation<'check'> = async (workspace, { file, strict = false }) => {
  const { cwd } = workspace;
  const read = readable(() =>
    file === undefined
      ? loadAll(workspace)
      : [loadFor({ file: fileNamed(file, { workspace, cwd }), workspace, cwd, loadout: undefined })],
  );
  if ('broken' in read) return read.broken;
  const all = read.loaded;
  const found: Issue[] = [];
  for (const loaded of all) found.push(...(await issuesIn(loaded, workspace, strict)));
  // config.json is in `all` if it has loadouts. If not, the loadouts in the short form show what is wrong with it.
  if (all.every(({ source }) => source)) found.push(...(await issuesAround(all, workspace, strict)));
  const errors = found.filter(({ level }) => level === 'error');
  const issues = [...errors, ...found.filter(({ level }) => level !== 'error')];
  const warnings = counted(issues.length - errors.length, 'warning');
  const machine = await lackingIn(all, workspace);
  const [first] = errors;
  const [one, another] = all.map((loaded) => loaded.file);
  const details = {
    file: one ?? '',
    ...(another === undefined ? {} : { files: all.map((loaded) => loaded.file) }),
    issues,
    ...(await inputsOfAll(all)),
    ...(file === undefined ? noneActive(workspace, errors) : {}),
    machine: machine.map((finding) => ({ ...finding })),
  };
  if (!first) return allow(issues.length === 0 ? 'no issues' : warnings, details);
  const counts = `${counted(errors.length, 'error')}, ${warnings}`;
  return deny(first.code, `${counts}; first: ${first.path}: ${first.message}`, details);
};

/** What casts are started with, by loadout. */
async function inputsOfAll(all: readonly Loaded[]): Promise<JsonObject> {
  const { inputsIn } = await import('../driving/cast-inputs.ts');
  const inputs = all.flatMap(({ config }) =>
    Object.entries(objectAt(isObject(config) ? config : {}, 'loadouts')).flatMap(([loadout, one]) =>
      (isObject(one) ? (inputsIn(one).inputs ?? []) : []).map((each) => ({ loadout, ...each })),
    ),
  );
  return inputs.length === 0 ? {} : { inputs };
}

/** The loadouts that a person chooses from, where a cast that names none would ask. */
function noneActive(workspace: Workspace, errors: readonly Issue[]): JsonObject {
  if (errors.length > 0) return {};
  const { config } = loadFor({ workspace, cwd: workspace.cwd, file: undefined, loadout: undefined });
  const names = isObject(config) ? Object.keys(objectAt(config, 'loadouts')) : [];
  return isObject(config) && names.length > 1 && activeLoadout(config) === null ? { noneActive: names } : {};
}

type Read = { readonly loaded: readonly Loaded[] } | { readonly broken: Denied };

/** A file that is no JSON is an issue like any other. One that cannot be read at all is wrong usage. */
function readable(load: () => readonly Loaded[]): Read {
  try {
    return { loaded: load() };
  } catch (error) {
    if (!(error instanceof BrokenJson)) throw error;
    const { message, file } = error;
    const issue: Issue = { code: 'INVALID_CONFIG', level: 'error', path: '', message };
    return {
      broken: deny(issue.code, `1 error, no warnings; first: ${message}`, { file, issues: [issue], machine: [] }),
    };
  }
}

/** What this machine lacks for a cast. It is shown next to the issues and is none: files are checked on other machines, too. */
async function lackingIn(all: readonly Loaded[], workspace: Workspace): Promise<readonly MachineFinding[]> {
  const needs = needsOf(all.flatMap(rulesIn), null);
  const found = await findingsIn({ workspace, needs, now: Date.now(), isDoctor: false, proved: new Set() });
  return found.filter(({ level }) => level !== 'ok');
}

export async function issuesIn(loaded: Loaded, workspace: Workspace, strict: boolean): Promise<readonly Issue[]> {
  const all = await allIn(loaded, workspace, strict);
  if (!loaded.source) return all;
  const own = all.filter((issue) => isOwnIssue(issue, loaded)).map((issue) => inOwnWords(issue, loaded));
  // A default of the file is that of many agents, and its mistake is one.
  return [...new Map(own.toReversed().map((issue) => [issue.message, issue])).values()].toReversed();
}

/** The errors of the config.json below loadouts in the short form, each once. */
async function issuesAround(all: readonly Loaded[], workspace: Workspace, strict: boolean): Promise<readonly Issue[]> {
  const found = new Map<string, Issue>();
  for (const loaded of all) {
    for (const issue of await allIn(loaded, workspace, strict))
      if (issue.level === 'error' && !isOwnIssue(issue, loaded))
        found.set(`${issue.path} ${issue.message}`, inOwnWords(issue, loaded));
  }
  return [...found.values()];
}

async function allIn(loaded: Loaded, workspace: Workspace, strict: boolean): Promise<readonly Issue[]> {
  const { config } = loaded;
  if (config === null) return loaded.issues;
  const boundaries = await nearestBoundaries(workspace, loaded.baseDir, config);
  const options = { strict, utilities: UTILITY_NAMES, ...(boundaries ? { boundaries } : {}) };
  const checked = check(config, options).map((issue) => (boundaries?.isInForce ? asCast(issue, config) : issue));
  const found = [...loaded.issues, ...checked];
  const { layers = [] } = loaded;
  return found.filter((issue) => isAsked(issue, layers)).map((issue) => fromLayer(issue, layers, loaded.file));
}

/** Where a file is named, the loadouts and materia of the layers below it are not asked about. */
function isAsked({ path }: Issue, layers: readonly ConfigLayer[]): boolean {
  const isNamed = layers.some(({ name }) => name === 'file');
  if (!isNamed || !/^(?:loadouts|materia)\./.test(path)) return true;
  return layerOf(layers, keyPathOf(path, ...layers.map(({ config }) => config)))?.name === 'file';
}

/** Checks what a cast needs of this machine. Each finding says what was found and, where something is missing, how to repair it.
 * Nothing is changed. */
export const doctor: Operation<'doctor'> = async (workspace, { probe = false }, { signal, onEvent }) => {
  const { finding, loaded } = configuration(workspace);
  const needs = needsOf(loaded.flatMap(rulesIn), null);
  const answers = await probed(probe ? needs.agents : [], { signal, onEvent });
  const situation = { workspace, needs, now: Date.now(), isDoctor: true, proved: answers.proved };
  const findings = [finding, ...(await findingsIn(situation)), ...answers.findings];
  const errors = findings.filter(({ level }) => level === 'error').length;
  const reason = errors === 0 ? 'nothing is missing' : `${counted(errors, 'thing')} to repair before a cast`;
  return allow(reason, { ok: errors === 0, findings: findings.map((each) => ({ ...each })) });
};

type Configured = { readonly finding: MachineFinding; readonly loaded: readonly Loaded[] };

function configuration(workspace: Workspace): Configured {
  try {
    const loaded = loadAll(workspace);
    const errors = loaded
      .flatMap(({ config, issues }) => [
        ...issues,
        ...(config === null ? [] : check(config, { utilities: UTILITY_NAMES })),
      ])
      .filter(({ level }) => level === 'error');
    const [file = ''] = loaded.map((each) => each.file);
    const isOwn = file !== BUNDLED;
    const more = loaded.length > 1 ? ` and ${loaded.length - 1} more` : '';
    const where = isOwn ? `${file}${more}` : 'the one that comes with baton';
    const [first] = errors;
    if (first) {
      const found = `${counted(errors.length, 'error')} in ${where}; first: ${first.path}: ${first.message}`;
      return {
        finding: errorFinding('configuration', found, 'baton check lists them all, each with a way out'),
        loaded,
      };
    }
    const fix = isOwn ? null : 'baton init makes one of your own';
    return { finding: { name: 'configuration', level: 'ok', found: where, fix }, loaded };
  } catch (cause) {
    const fix = `correct ${workspace.configFile}, or replace it with baton init --force`;
    return { finding: errorFinding('configuration', (cause as Error).message, fix), loaded: [] };
  }
}
