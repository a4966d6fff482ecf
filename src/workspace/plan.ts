// Turns a person's request into what a cast is started with: the configuration is found, checked and resolved, the script read.
import { join, resolve as resolvePath } from 'node:path';
import { check, issuesOf } from '../kernel/graph/check.ts';
import { ACTIVE_FIELDS, activeLoadout } from '../kernel/graph/check-config.ts';
import type { UtilityNames } from '../kernel/graph/check-materia.ts';
import type { AgentMateria, Issue, Rules, Script } from '../kernel/graph/config.ts';
import { faultOfRunner, type RunnerChoice, withChosenRunner } from '../kernel/graph/issue.ts';
import { resolve } from '../kernel/graph/resolve.ts';
import { inputsOf } from '../kernel/graph/resolve-graph.ts';
import { isObject, isString, type Json, type JsonObject, nameOfType, objectAt } from '../kernel/json.ts';
import { nearestName } from '../kernel/text.ts';
import { type ConfigRequest, inOwnWords, loadFor } from './find-config.ts';
import { linkFor } from './link.ts';
import { type Loaded, readJsonFile, resolveScript } from './load-config.ts';
import { UsageError } from './locate.ts';
import { nearestBoundaries } from './registry-boundaries.ts';

export type Plan = {
  readonly loadout: string;
  readonly rules: Rules;
  readonly script: Script | null;
  /** Names in the script that no socket and no materia has: most of them are misspelt. */
  readonly strangers: readonly string[];
  readonly warnings: readonly Issue[];
  /** The schemas of the values that a cast of it is started with. */
  readonly inputs: Readonly<Record<string, JsonObject>>;
  /** The file it was found in. */
  readonly file: string;
};

type PlanRequest = ConfigRequest & {
  /** Counts before what agents and the configuration name. */
  readonly chosen?: RunnerChoice;
  readonly agents: string | undefined;
  /** Which utilities there are; without it an unknown one is found out when it is to run. */
  readonly utilities?: UtilityNames;
  /** It is only drawn: its prompts need not be written yet. */
  readonly isDrawn?: true;
  /** Loadouts and materia that run one after the other, in the place of one loadout. */
  readonly targets?: readonly string[] | undefined;
};

/** `names` are the loadouts to choose from, where none was named and none is active. */
export type Unplanned = {
  readonly ok: false;
  readonly issues: readonly Issue[];
  readonly names?: readonly string[];
};

export async function locateCast(request: PlanRequest): Promise<{ ok: true; plan: Plan } | Unplanned> {
  const linked = request.targets === undefined ? null : linkFor(request, request.targets);
  const loaded: Loaded = linked ?? loadFor(request);
  const script = request.agents === undefined ? null : readScript(resolvePath(request.cwd, request.agents));
  if (loaded.config === null) return { ok: false, issues: loaded.issues };
  const config = chosenIn(loaded.config, request.chosen);
  const name = linked?.name ?? (isObject(config) ? nameOf(config, request.loadout) : null);
  const scripted = script === null ? [] : standIns(script, config, name);
  const utilities = request.utilities && { utilities: { ...request.utilities, scripted } };
  const boundaries = await nearestBoundaries(request.workspace, loaded.baseDir, config);
  const checked = check(config, { ...utilities, ...(boundaries && { boundaries }) });
  // A script costs nothing, and its cast has in its log what the gates say.
  const isRefused = boundaries?.isInForce === true && script === null;
  const all = [
    ...(request.isDrawn ? [] : loaded.issues),
    ...(isRefused ? checked.map((issue) => asCast(issue, config)) : checked),
  ];
  if (name === null || !isObject(config)) {
    const names = namesIn(config, 'loadouts');
    if (request.loadout === undefined || names.length === 0) return { ok: false, issues: whyNameless(all), names };
    throw noLoadout(request.loadout, names);
  }
  const mine = issuesOf(all, name, config).map((issue) => inOwnWords(issue, loaded));
  if (mine.some(({ level }) => level === 'error')) return { ok: false, issues: mine };
  const rules = absoluteCommands(resolve(config, name, request.utilities?.writes), loaded.baseDir);
  const strangers = script === null ? [] : unknownKeys(script, config);
  const inputs = inputsOf(objectAt(objectAt(config, 'loadouts'), name));
  return { ok: true, plan: { loadout: name, rules, script, strangers, warnings: mine, inputs, file: loaded.file } };
}

/** Says that none has this name, with the nearest one and all there are. */
export function noLoadout(name: string, names: readonly string[]): UsageError {
  const near = nearestName(name, names);
  const guess = near === null ? '' : `did you mean ${near}? There are: `;
  return new UsageError(`there is no loadout ${name}; ${guess || 'use one of: '}${names.join(', ')}`);
}

const STOPS = ['BOUNDARY_REFUSED', 'PROMPT_BYTES_MISMATCH'];

/** Where the registry of the workspace keeps an agent of a loadout from starting, every cast of it would fail. */
export function asCast(issue: Issue, config: Json): Issue {
  if (!STOPS.includes(issue.code)) return issue;
  const loadouts = Object.values(objectAt(isObject(config) ? config : {}, 'loadouts')).filter(isObject);
  const sockets = loadouts.flatMap((loadout) => Object.values(objectAt(loadout, 'sockets')));
  const isUsed = sockets.some(
    (socket) => isObject(socket) && `${issue.path}.`.startsWith(`materia.${socket.materia}.`),
  );
  return isUsed ? { ...issue, level: 'error' } : issue;
}

/** The rules of every loadout in it that could be cast, for a look at what they need. */
export function rulesIn({ config, issues, baseDir }: Loaded): readonly Rules[] {
  if (!isObject(config)) return [];
  const all = [...issues, ...check(config)];
  return namesIn(config, 'loadouts').flatMap((name) => {
    const isBroken = issuesOf(all, name, config).some(({ level }) => level === 'error');
    return isBroken ? [] : [absoluteCommands(resolve(config, name), baseDir)];
  });
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

// Reads a script of agents' turns. What it says is played much later, so what it gets wrong is found here.
const REPEAT = '$repeat';
const FAULTS = ['crash', 'timeout', 'transport'];

type Member = { readonly accepts: (value: Json) => boolean; readonly wants: string };

const isAmount = (value: Json): boolean => typeof value === 'number' && Number.isFinite(value) && value >= 0;

const isTexts = (value: Json): boolean => Array.isArray(value) && value.every(isString);

const USAGE: Readonly<Record<string, Member>> = {
  input: { accepts: isAmount, wants: 'a number, 0 or above' },
  output: { accepts: isAmount, wants: 'a number, 0 or above' },
  cost: { accepts: isAmount, wants: 'a number, 0 or above' },
};

const TURN: Readonly<Record<string, Member>> = {
  output: { accepts: () => true, wants: 'any value' },
  delayMs: { accepts: isAmount, wants: 'a number of milliseconds, 0 or above' },
  usage: { accepts: isObject, wants: 'an object {"input", "output", "cost"}' },
  fail: {
    accepts: (value) => typeof value === 'string' && FAULTS.includes(value),
    wants: `one of ${FAULTS.join(', ')}`,
  },
  write: { accepts: isObject, wants: 'an object from paths to texts' },
  exec: { accepts: isTexts, wants: 'the words of a command that a person approved' },
  commands: { accepts: isTexts, wants: 'a list of commands that it ran, as the script says' },
};

export function readScript(file: string): Script {
  const script = readJsonFile(file);
  const fault = faultOfScript(script);
  if (fault !== null) throw new UsageError(`${file}: ${fault}`);
  return script as Script;
}

/** What is wrong with a script, or null. */
export function faultOfScript(script: Json): string | null {
  if (!isObject(script)) return 'a script is an object of lists of turns';
  for (const [key, turns] of Object.entries(script)) {
    const fault = faultOfList(key, turns);
    if (fault !== null) return fault;
  }
  return null;
}

function faultOfList(key: string, turns: Json): string | null {
  if (!Array.isArray(turns)) return `the turns of ${key} must be a list, not ${nameOfType(turns)}`;
  const repeat = turns.indexOf(REPEAT);
  if (repeat !== -1 && (repeat !== turns.length - 1 || repeat === 0)) {
    return `"${REPEAT}" under ${key} must be the last of at least two elements`;
  }
  for (const [index, turn] of turns.entries()) {
    const fault = isObject(turn) && turn.$turn !== undefined ? faultOfTurn(turn) : null;
    if (fault) return `turn ${index + 1} of ${key}: ${fault}`;
  }
  return null;
}

function faultOfTurn(turn: JsonObject): string | null {
  const { $turn, ...beside } = turn;
  const [extra] = Object.keys(beside);
  if (extra !== undefined) return `${extra} is next to $turn; put it inside, or leave $turn out`;
  if (!isObject($turn)) return `$turn is ${nameOfType($turn)}; it must be an object`;
  return (
    faultOfMembers('$turn', $turn, TURN) ?? (isObject($turn.usage) ? faultOfMembers('usage', $turn.usage, USAGE) : null)
  );
}

function faultOfMembers(what: string, object: JsonObject, members: Readonly<Record<string, Member>>): string | null {
  for (const [name, value] of Object.entries(object)) {
    const member = Object.hasOwn(members, name) ? members[name] : undefined;
    if (!member) return `${what} has no ${name}; it has ${Object.keys(members).join(', ')}`;
    if (!member.accepts(value)) return `${name} must be ${member.wants}`;
  }
  return null;
}
