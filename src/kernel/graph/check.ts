// The static checks of a configuration. They find every issue of every loadout and materia, not only the first. With a
// registry, they also check who may hand to whom.
import { PRESENT, runnerCan } from '../capabilities.ts';
import { given, isObject, isString, type Json, type JsonObject, listAt, objectAt, stringAt } from '../json.ts';
import { findSecrets, scrubJson } from '../secrets.ts';
import { ACTIVE_FIELDS, checkConfig } from './check-config.ts';
import { checkFlow, checkParking, checkSlots } from './check-flow.ts';
import { checkLoops } from './check-loops.ts';
import {
  checkHeldBack,
  checkLockScope,
  checkMateria,
  checkReadersInPlace,
  checkUtilityName,
  type UtilityNames,
} from './check-materia.ts';
import { checkEndpoint, checkSocketNames, checkSockets } from './check-sockets.ts';
import { checkerNames, END, type Issue } from './config.ts';
import {
  authoredMateria,
  checkFields,
  type Draft,
  draftOf,
  edgesOf,
  error,
  type Findings,
  listed,
  meant,
  shown,
  typeOfMateria,
  warning,
  withDefaultRunner,
} from './issue.ts';
import { apart, LOADOUT } from './loadout-fields.ts';
import { graphOf } from './resolve-graph.ts';

type CheckOptions = {
  /** Warnings count as errors. */
  readonly strict?: boolean;
  /** Which utilities there are; without it their names are not looked at. */
  readonly utilities?: UtilityNames;
  /** The registry of who may hand to whom; without it boundaries are not checked. */
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
    if (path.startsWith(REGISTRY_PATH)) return false;
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
    if (isObject(materia)) yield* checkLockScope(materia, `materia.${id}`);
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

/** Checks one loadout: its frame, then sockets and loops, then, where those are sound, its flow. */
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
    ...draft.socketIds.flatMap((id) => [...checkLockScope(objectAt(draft.sockets, id), `${draft.path}.sockets.${id}`)]),
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
    const materia = authoredMateria(draft, socket);
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
  const message = `It holds what looks like a credential (${kind}). It stays out of the log, but this file still holds it: put it into an environment variable and let the program read it there; an agent's program gets the variables that its env names.`;
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

/** What the checks ask of a registry. */
export type Boundaries = {
  knows(identity: string): boolean;
  /** Why no turn of this agent can start, from any source; null where it can. */
  unfit(identity: string): string | null;
  /** Why one agent can never hand a request of these types to another, or of any type; null where it can. */
  refusal(source: string, target: string, types?: readonly string[]): string | null;
  /** Why one agent can never hand on to another what `origin` has handed to it; null where it can. */
  mediated(origin: string, source: string, target: string): string | null;
  /** Agents whose boundary is not understood, and why. */
  readonly malformed?: readonly { readonly agent: string; readonly message: string }[];
  /** Whether it is the workspace's own: then every agent has to be in it. */
  readonly isInForce?: boolean;
  /** Why the registry cannot be used, so that no agent can be dispatched; null where it can. */
  readonly unusable?: string | null;
  /**
   * Set where the workspace has no registry: whether an agent is one that comes with the product, word for word. A loadout
   * all of whose agents are needs no registry of its own.
   */
  isBundled?(identity: string | null, prompt: string): boolean;
  /** Whether a text is another one than an agent is pinned to. */
  otherPrompt?(identity: string, prompt: string): boolean;
};

/** Materia that cannot be dispatched under the registry. */
function* checkIdentity(id: string, materia: JsonObject, boundaries: Boundaries): Findings {
  if (typeOfMateria(materia) !== 'agent') return;
  const identity = stringAt(materia, 'identity');
  const path = `materia.${id}`;
  const { unusable = null } = boundaries;
  const isPerson = identity === null && runnerCan(PRESENT, stringAt(materia, 'runner'), 'isPerson');
  if (unusable !== null && !isPerson) {
    const message = `No turn of it can start: the registry cannot be used, because ${unusable}.`;
    yield warning('BOUNDARY_REFUSED', path, message);
    // An agent that the manifest does not list cannot be checked further.
    if (identity === null || !boundaries.knows(identity)) return;
  }
  if (identity === null) {
    if (!boundaries.isInForce || isPerson) return;
    const message = 'There is a registry, and this agent has no identity in it; no turn of it can start.';
    yield warning('BOUNDARY_REFUSED', path, `${message} Give it the canonical id of an agent in the manifest.`);
    return;
  }
  // Without a registry that is all there is to say, and the loadout says it.
  if (boundaries.isBundled && !boundaries.knows(identity)) return;
  const unfit = boundaries.unfit(identity);
  const prompt = stringAt(materia, 'prompt');
  if (prompt !== null && boundaries.otherPrompt?.(identity, prompt)) {
    const message = `No turn of it can start: its prompt is not the one that ${shown(identity)} is pinned to.`;
    const fix = `\`baton registry accept ${identity}\` accepts the edit; else restore the prompt.`;
    yield warning('PROMPT_BYTES_MISMATCH', `${path}.prompt`, `${message} ${fix}`);
  } else if (unfit !== null) {
    yield warning('BOUNDARY_REFUSED', `${path}.identity`, `No turn of it can start: ${unfit}.`);
  }
  if (!boundaries.knows(identity)) {
    yield warning(
      'BOUNDARY_REFUSED',
      `${path}.identity`,
      `The registry has no agent ${shown(identity)}; no turn of it can start.`,
    );
  }
  if (prompt?.includes('{{')) {
    const message =
      'A pinned prompt goes out as it is, and its {{slots}} would stay unfilled. Take them out: the brief brings request, item and results by itself.';
    yield error('INVALID_MATERIA', `${path}.prompt`, message);
  }
}

/**
 * A boundary that is not understood, reported at each materia that has it. Where none has it, it is reported at the
 * registry and keeps no loadout from casting.
 */
function* checkMalformed(config: JsonObject, { malformed = [] }: Boundaries): Findings {
  const materia = objectAt(config, 'materia');
  for (const { agent, message } of malformed) {
    const users = Object.keys(materia).filter((id) => stringAt(objectAt(materia, id), 'identity') === agent);
    const paths = users.length > 0 ? users.map((id) => `materia.${id}.identity`) : [`${REGISTRY_PATH}${agent}`];
    for (const path of paths) yield error('BOUNDARY_MALFORMED', path, `${agent}: ${message}.`);
  }
}

/** What the path of an issue begins with that concerns the registry, and no materia. */
const REGISTRY_PATH = 'registry.';

function* checkBoundaries(config: JsonObject, name: string, boundaries: Boundaries): Findings {
  const draft = draftOf(config, name);
  yield* checkAbsence(draft, boundaries);
  const hands = handsIn(draft, boundaries.knows);
  for (const { from, source, socket, target, path } of hands) {
    if (source === target) continue;
    const origins = hands.filter((before) => before.socket === from).map((before) => before.source);
    const why =
      boundaries.refusal(source, target, typesAskedOf(draft, socket)) ??
      origins.map((origin) => boundaries.mediated(origin, source, target)).find((reason) => reason !== null);
    if (why === undefined) continue;
    const message = `${from} hands to ${socket}, which can never pass: ${why}.`;
    yield warning('BOUNDARY_REFUSED', `${draft.path}.${path}`, message);
  }
}

/** The type of a request to this socket: a cast asks for a decision where `satisfied` is required. */
function typesAskedOf({ sockets }: Draft, id: string): readonly string[] {
  const socket = objectAt(sockets, id);
  const conditions = [...edgesOf(socket), objectAt(socket, 'advance')].map((each) => given(each, 'when'));
  const decides = conditions.some((when) => when === 'satisfied' || when === 'not_satisfied');
  return decides ? ['decision'] : ['task', 'analysis'];
}

/** Agents that name an identity where no registry says who has it. */
function* checkAbsence(draft: Draft, { isBundled }: Boundaries): Findings {
  if (!isBundled) return;
  const team = draft.socketIds.flatMap((socket) => {
    const materia = authoredMateria(draft, objectAt(draft.sockets, socket)) ?? {};
    const [identity, prompt] = [stringAt(materia, 'identity'), stringAt(materia, 'prompt') ?? ''];
    const isPerson = identity === null && runnerCan(PRESENT, stringAt(materia, 'runner'), 'isPerson');
    return typeOfMateria(materia) === 'agent' && !isPerson ? [{ socket, identity, prompt }] : [];
  });
  if (team.every(({ identity, prompt }) => isBundled(identity, prompt))) return;
  for (const { socket, identity } of team) {
    if (identity === null) continue;
    const message = `No turn of it can start: it has the identity ${shown(identity)}, and there is no registry.`;
    const path = `${draft.path}.sockets.${socket}.materia`;
    yield error('REGISTRY_UNUSABLE', path, `${message} Restore .baton/versions, or take the identity out.`);
  }
}

/** An agent that hands to another, perhaps through utilities, and the edge by which it does. */
export type Hand = {
  readonly from: string;
  readonly source: string;
  readonly socket: string;
  readonly target: string;
  readonly path: string;
};

/** Which agents of a loadout hand to which, through utilities. `knows` says whose identity counts. */
export function handsIn(draft: Draft, knows: (identity: string) => boolean): readonly Hand[] {
  const materiaAt = (socket: string) => authoredMateria(draft, objectAt(draft.sockets, socket));
  const isUtility = (socket: string) => {
    const materia = materiaAt(socket);
    return materia !== null && typeOfMateria(materia) === 'utility';
  };
  const known = (socket: string) => {
    const materia = materiaAt(socket);
    const identity = materia && typeOfMateria(materia) === 'agent' ? stringAt(materia, 'identity') : null;
    return identity !== null && knows(identity) ? identity : null;
  };
  return draft.socketIds.flatMap((from): Hand[] => {
    const source = known(from);
    if (source === null) return [];
    return waysFrom(draft.sockets, draft.loops, from).flatMap(({ to, path }) =>
      agentsBehind(to, draft, isUtility).flatMap((socket): Hand[] => {
        const target = known(socket);
        return target === null ? [] : [{ from, source, socket, target, path }];
      }),
    );
  });
}

type Way = { readonly to: string; readonly path: string };

/** The edges of a socket, and the exits of loops that leave from it. */
function waysFrom(sockets: JsonObject, loops: JsonObject, from: string): readonly Way[] {
  const edges = edgesOf(objectAt(sockets, from)).map((edge, index) => ({
    to: stringAt(edge, 'to') ?? END,
    path: `sockets.${from}.edges[${index}]`,
  }));
  const exits = Object.keys(loops).flatMap((loop) =>
    listAt(objectAt(loops, loop), 'exits').flatMap((exit, index): Way[] => {
      const route = typeof exit === 'object' && exit !== null && !Array.isArray(exit) ? (exit as JsonObject) : {};
      const to = stringAt(route, 'targetSocketId');
      return given(route, 'from') === from && to !== null ? [{ to, path: `loops.${loop}.exits[${index}]` }] : [];
    }),
  );
  return [...edges, ...exits];
}

/** The first agents that are met from a socket on, through utilities. */
function agentsBehind(
  first: string,
  { sockets, loops }: { readonly sockets: JsonObject; readonly loops: JsonObject },
  isUtility: (socket: string) => boolean,
): readonly string[] {
  const found: string[] = [];
  const seen = new Set<string>();
  const ahead = [first];
  for (let socket = ahead.pop(); socket !== undefined; socket = ahead.pop()) {
    if (socket === END || seen.has(socket)) continue;
    seen.add(socket);
    if (isUtility(socket)) ahead.push(...waysFrom(sockets, loops, socket).map(({ to }) => to));
    else found.push(socket);
  }
  return found.sort();
}
