// The static checks of a configuration: every issue of every loadout and materia, not only the first.
// One bad loadout leaves the others usable, so an issue says in its path whom it concerns.
import { given, isObject, isString, type Json, type JsonObject, listAt, objectAt, stringAt } from '../json.ts';
import { findSecrets, scrubJson } from '../secrets.ts';
import { type Draft, draftOf, materiaOf, withDefaultRunner } from './authored.ts';
import { type Boundaries, checkBoundaries, checkIdentity, checkMalformed, REGISTRY } from './check-boundaries.ts';
import { ACTIVE_FIELDS, checkConfig } from './check-config.ts';
import { checkFlow, checkParking, checkSlots } from './check-flow.ts';
import { checkLoops } from './check-loops.ts';
import {
  checkHeldBack,
  checkMateria,
  checkReadersInPlace,
  checkUtilityName,
  type UtilityNames,
} from './check-materia.ts';
import { checkEndpoint, checkSocketNames, checkSockets } from './check-sockets.ts';
import { checkerNames } from './checker.ts';
import type { Issue } from './config.ts';
import { checkFields, error, type Findings, listed, meant, shown, warning } from './issue.ts';
import { apart, LOADOUT } from './loadout-fields.ts';
import { graphOf } from './resolve-graph.ts';

type CheckOptions = {
  /** Warnings count as errors. */
  readonly strict?: boolean;
  /** Which utilities there are; without it their names are not looked at. */
  readonly utilities?: UtilityNames;
  /** Who may hand to whom; without it nobody's boundaries are looked at. */
  readonly boundaries?: Boundaries;
};

/** All issues, errors first, each kind in the order of the configuration. Never throws, whatever the value. */
export function check(config: Json, { strict = false, utilities, boundaries }: CheckOptions = {}): readonly Issue[] {
  const found = [...checkAll(config, utilities, boundaries)];
  const issues = found.map((issue) => (strict ? { ...issue, level: 'error' as const } : issue));
  const errors = issues.filter((issue) => issue.level === 'error');
  return [...errors, ...issues.filter((issue) => issue.level === 'warning')];
}

/**
 * The issues that matter for casting one loadout: its own, those of the materia it uses, and the configuration's. Which
 * loadout is active is no concern of one that was named.
 */
export function issuesOf(issues: readonly Issue[], loadoutName: string, config: Json): readonly Issue[] {
  const draft = draftOf(isObject(config) ? config : {}, loadoutName);
  const used = draft.socketIds.map((id) => stringAt(objectAt(draft.sockets, id), 'materia'));
  const owners = [draft.path, ...new Set(used.filter((id) => id !== null).map((id) => `materia.${id}`))];
  return issues.filter(({ path }) => {
    if (path.startsWith(REGISTRY)) return false;
    if (!path.startsWith('loadouts.') && !path.startsWith('materia.')) return !ACTIVE_FIELDS.includes(path);
    // A name may hold dots itself, and then a path may fit two names: it counts for both.
    return owners.some((owner) => path === owner || path.startsWith(`${owner}.`));
  });
}

function* checkAll(written: Json, utilities: UtilityNames | undefined, boundaries: Boundaries | undefined): Findings {
  if (!isObject(written)) {
    const message = `The configuration is ${shown(written)}. Write an object with loadouts and materia.`;
    yield error('INVALID_CONFIG', 'config', message);
    return;
  }
  const config = withDefaultRunner(written);
  yield* checkConfig(config);
  yield* checkSecrets(config);
  for (const [id, materia] of Object.entries(objectAt(config, 'materia'))) {
    yield* checkMateria(id, materia);
    if (utilities) yield* checkUtilityName(id, materia, utilities);
    if (boundaries && isObject(materia)) yield* checkIdentity(id, materia, boundaries);
  }
  if (boundaries) yield* checkMalformed(config, boundaries);
  for (const [name, loadout] of Object.entries(objectAt(config, 'loadouts'))) {
    yield* checkLoadout(config, name, loadout, utilities);
    yield* checkHeldBack(draftOf(config, name), config);
    yield* checkReadersInPlace(draftOf(config, name));
    if (boundaries) yield* checkBoundaries(config, name, boundaries);
  }
}

// Checks of one loadout: its frame, then its sockets and loops, and, once those are sound, its flow.
function* checkLoadout(config: JsonObject, name: string, loadout: Json, utilities?: UtilityNames): Findings {
  const draft = draftOf(config, name);
  if (name.trim() === '' || name === '__proto__') {
    yield error('INVALID_CONFIG', draft.path, `${shown(name)} cannot be the name of a loadout. Choose another.`);
  }
  if (!isObject(loadout)) {
    const message = `A loadout is an object, not ${shown(loadout)}. Write {"entry", "sockets"}, or remove it.`;
    yield error('INVALID_CONFIG', draft.path, message);
    return;
  }
  const found = [
    ...checkFrame(loadout, draft.path),
    ...checkEndpoint(draft, given(loadout, 'entry'), `${draft.path}.entry`, 'socket'),
    ...checkSockets(draft, utilities?.fields),
    ...checkCheckerNames(draft, config),
    ...checkLoops(draft),
  ];
  const names = [...checkSocketNames(draft)];
  yield* names;
  // Where sockets have names of their own, other words for them follow from that.
  yield* names.length === 0 ? found : found.filter(({ code }) => code !== 'INVALID_SOCKET_ID');
  // In a broken graph the flow would be blamed for what the errors already say.
  if ([...names, ...found].some((issue) => issue.level === 'error')) return;
  const graph = graphOf(draft);
  yield* checkFlow(draft, graph, utilities?.fields);
  yield* checkParking(draft, graph, given(config, 'worktree') === false);
  yield* checkSlots(draft, graph, utilities);
}

/** The checkers that sockets ask for, and whether their turns change anything that could be checked. */
function* checkCheckerNames(draft: Draft, config: JsonObject): Findings {
  const known = checkerNames(config);
  for (const id of draft.socketIds) {
    const socket = objectAt(draft.sockets, id);
    const path = `${draft.path}.sockets.${id}.checkers`;
    const names = listAt(socket, 'checkers').filter(isString);
    for (const name of names.filter((each) => !known.includes(each))) {
      const fix =
        known.length === 0
          ? 'Declare it: "checkers": {"test": {"command": ["npm", "test"]}}.'
          : `There are: ${listed(known)}.`;
      yield error('INVALID_CONFIG', path, `There is no checker ${shown(name)}. ${meant(name, known)}${fix}`);
    }
    const materia = materiaOf(draft, socket);
    const mayWrite =
      given(socket, 'lockScope') ?? given(materia ?? {}, 'lockScope') ?? given(materia ?? {}, 'tools') === 'coding';
    if (names.length === 0 || materia === null || mayWrite) continue;
    const message =
      'Checkers run after turns that changed files, and this one may change none. Put them on the step that does.';
    yield warning('INVALID_CONFIG', path, message);
  }
}

const LOADOUT_FIELDS = apart(LOADOUT, 'sockets', 'loops');

function* checkFrame(loadout: JsonObject, path: string): Findings {
  yield* checkFields(loadout, LOADOUT_FIELDS, { path, code: 'INVALID_CONFIG', what: 'a loadout' });
  const sockets = given(loadout, 'sockets');
  if (isObject(sockets)) return;
  const message = `sockets is ${shown(sockets)}. Write an object from socket ids to sockets.`;
  yield error('INVALID_CONFIG', `${path}.sockets`, message);
}

// Commands are frozen with the cast that runs them, word for word, because a cast that is carried on must run the same ones.
// A credential among their words is kept beside the log instead, and is better not written there at all.
/** What of a materia becomes a command, or a message to one. */
const FIELDS = ['command', 'args', 'params', 'baseUrl'];

export function* checkSecrets(config: JsonObject): Findings {
  for (const [id, materia] of Object.entries(objectAt(config, 'materia'))) {
    if (!isObject(materia)) continue;
    for (const field of FIELDS) yield* checkValue(given(materia, field), `materia.${id}.${field}`);
  }
  for (const [name, checker] of Object.entries(objectAt(config, 'checkers'))) {
    yield* checkValue(isObject(checker) ? given(checker, 'command') : undefined, `checkers.${name}.command`);
  }
}

function* checkValue(value: Json | undefined, path: string): Findings {
  const kind = value === undefined ? null : kindIn(value);
  if (kind === null) return;
  const message = `It holds what looks like a credential (${kind}). It is kept out of the log, and still stands in this file: put it into an environment variable and let the program read it there; an agent's program gets the variables that its env names.`;
  yield warning('COMMAND_HOLDS_SECRET', path, message);
}

/** The kind of the first credential; an option and its value count as one also where they are two words. */
function kindIn(value: Json): string | null {
  const [found] = scrubJson(value).found;
  if (found) return found.kind;
  const words = Array.isArray(value) ? (value as readonly Json[]).flat().filter(isString) : [];
  for (const [index, word] of words.entries()) {
    const next = words[index + 1];
    if (next === undefined || !word.startsWith('-')) continue;
    const [secret] = findSecrets(`${word}=${next}`);
    if (secret) return secret.kind;
  }
  return null;
}
