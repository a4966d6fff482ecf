// From a person's wish to what a cast is started with: the configuration is found, checked and resolved, the script read.
import { join, resolve as resolvePath } from 'node:path';
import { faultOfRunner, type RunnerChoice, withChosenRunner } from '../kernel/graph/authored.ts';
import { check, issuesOf } from '../kernel/graph/check.ts';
import { ACTIVE_FIELDS, activeLoadout } from '../kernel/graph/check-config.ts';
import type { UtilityNames } from '../kernel/graph/check-materia.ts';
import type { AgentMateria, Issue, Rules, Script } from '../kernel/graph/config.ts';
import { resolve } from '../kernel/graph/resolve.ts';
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';
import { loadFor, type Wanted } from './find-config.ts';
import { readScript } from './read-script.ts';
import { nearestBoundaries } from './registry-nearest.ts';
import { inOwnWords } from './team-files.ts';
import { uncastable } from './uncastable.ts';
import { UsageError } from './usage-error.ts';

export type Plan = {
  readonly loadout: string;
  readonly rules: Rules;
  readonly script: Script | null;
  /** Names in the script that no socket and no materia has: most of them are misspelt. */
  readonly strangers: readonly string[];
  readonly warnings: readonly Issue[];
};

export type Wish = Wanted & {
  /** Counts before what agents and the configuration name. */
  readonly chosen?: RunnerChoice;
  readonly agents: string | undefined;
  /** Which utilities there are; without it an unknown one is found out when it is to run. */
  readonly utilities?: UtilityNames;
};

export async function locateCast(
  wish: Wish,
): Promise<{ ok: true; plan: Plan } | { ok: false; issues: readonly Issue[] }> {
  const loaded = loadFor(wish);
  const script = wish.agents === undefined ? null : readScript(resolvePath(wish.cwd, wish.agents));
  if (loaded.config === null) return { ok: false, issues: loaded.issues };
  const config = chosenIn(loaded.config, wish.chosen);
  const name = isObject(config) ? nameOf(config, wish.loadout) : null;
  const scripted = script === null ? [] : standIns(script, config, name);
  const utilities = wish.utilities && { utilities: { ...wish.utilities, scripted } };
  const boundaries = await nearestBoundaries(wish.workspace, loaded.baseDir, config);
  const all = [...loaded.issues, ...check(config, { ...utilities, ...(boundaries && { boundaries }) })];
  if (name === null || !isObject(config)) {
    const names = namesIn(config, 'loadouts');
    if (wish.loadout === undefined || names.length === 0) return { ok: false, issues: whyNameless(all) };
    throw new UsageError(`there is no loadout ${wish.loadout}; use one of: ${names.join(', ')}`);
  }
  const mine = issuesOf(all, name, config).map((issue) => inOwnWords(issue, loaded));
  if (mine.some(({ level }) => level === 'error')) return { ok: false, issues: mine };
  const rules = absoluteCommands(resolve(config, name), loaded.baseDir);
  const unready = uncastable(config, name);
  if (unready.length > 0) return { ok: false, issues: unready };
  const strangers = script === null ? [] : unknownKeys(script, config);
  return { ok: true, plan: { loadout: name, rules, script, strangers, warnings: mine } };
}

function chosenIn(config: Json, chosen: RunnerChoice = {}): Json {
  const fault = chosen.runner === undefined ? null : faultOfRunner(chosen.runner);
  if (fault !== null) throw new UsageError(fault);
  return isObject(config) ? withChosenRunner(config, chosen) : config;
}

function namesIn(value: Json | undefined, section: string): readonly string[] {
  return isObject(value) && isObject(value[section]) ? Object.keys(value[section]) : [];
}

/** The materia of a loadout that never run themselves, because the script speaks for them or for each of their sockets. */
function standIns(script: Script, config: Json, loadout: string | null): readonly string[] {
  const loadouts = isObject(config) && isObject(config.loadouts) ? config.loadouts : {};
  const cast = loadout !== null && isObject(loadouts[loadout]) ? loadouts[loadout] : {};
  const sockets = Object.entries(isObject(cast.sockets) ? cast.sockets : {});
  const plays = (id: string) => {
    const places = sockets.filter(([, socket]) => isObject(socket) && socket.materia === id);
    return places.length > 0 && places.every(([socket]) => Object.hasOwn(script, socket));
  };
  return namesIn(config, 'materia').filter((id) => Object.hasOwn(script, id) || plays(id));
}

function unknownKeys(script: Script, config: JsonObject): readonly string[] {
  const loadouts = isObject(config.loadouts) ? Object.values(config.loadouts) : [];
  const known = new Set([...namesIn(config, 'materia'), ...loadouts.flatMap((loadout) => namesIn(loadout, 'sockets'))]);
  return Object.keys(script).filter((key) => !known.has(key));
}

function nameOf(config: JsonObject, wanted: string | undefined): string | null {
  if (wanted === undefined) return activeLoadout(config);
  return namesIn(config, 'loadouts').includes(wanted) ? wanted : null;
}

/** Which loadout is meant is the first question; what is wrong with each of them is not an answer to it. */
function whyNameless(all: readonly Issue[]): readonly Issue[] {
  const own = all.filter(isAboutActive);
  return own.length > 0 ? own : all;
}

function isAboutActive({ path }: Issue): boolean {
  return ACTIVE_FIELDS.includes(path);
}

/** A command's relative script belongs to the file that declares it, wherever the cast runs. */
function absoluteCommands(rules: Rules, baseDir: string): Rules {
  const materia = Object.fromEntries(
    Object.entries(rules.materia).map(([id, value]) =>
      value.type === 'utility' && value.command
        ? [id, { ...value, command: resolveScript(value.command, baseDir) }]
        : [id, value.type === 'agent' ? withProgram(value, baseDir) : value],
    ),
  );
  return { ...rules, materia };
}

function withProgram(materia: AgentMateria, baseDir: string): AgentMateria {
  const [program, ...rest] = materia.command ?? [];
  if (typeof program !== 'string' || !program.startsWith('./')) return materia;
  const own = resolveScript([program], baseDir);
  return { ...materia, command: [...(own[0] === program ? [join(baseDir, program)] : own), ...rest] };
}

function resolveScript(command: readonly string[], baseDir: string): readonly string[] {
  const isScript = (word: string | undefined) => word !== undefined && /^\.\/.*\.[mc]?js$/.test(word);
  const [program = '', first = '', ...rest] = command;
  if (isScript(program)) return ['node', join(baseDir, program), ...command.slice(1)];
  return program === 'node' && isScript(first) ? [program, join(baseDir, first), ...rest] : command;
}
