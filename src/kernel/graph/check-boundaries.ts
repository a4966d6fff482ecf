// Checks of a loadout against a registry: an edge that joins two agents whose boundaries never let it pass, an identity that
// nobody has, and a pinned prompt with slots. Utilities are passed through: the agent before them hands to the agent after.
import { PRESENT, runnerCan } from '../capabilities.ts';
import { given, type JsonObject, listAt, objectAt, stringAt } from '../json.ts';
import { type Draft, draftOf, edgesOf, materiaOf, typeOfMateria } from './authored.ts';
import { END } from './config.ts';
import { error, type Findings, shown, warning } from './issue.ts';

/** What the checks ask of a registry. */
export type Boundaries = {
  knows(identity: string): boolean;
  /** Why no turn of this agent can start, whoever hands to it; null where it can. */
  unfit(identity: string): string | null;
  /** Why one agent can never hand to another, whatever the request; null where it can. */
  refusal(source: string, target: string): string | null;
  /** Why one agent can never hand on to another what `origin` has handed to it; null where it can. */
  mediated(origin: string, source: string, target: string): string | null;
  /** Agents whose boundary is not understood, and why. */
  readonly malformed?: readonly { readonly agent: string; readonly message: string }[];
  /** Whether it is the workspace's own: then every agent has to be in it. */
  readonly isInForce?: boolean;
  /** Why the registry cannot be used, so that nobody can be dispatched; null where it can. */
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
export function* checkIdentity(id: string, materia: JsonObject, boundaries: Boundaries): Findings {
  if (typeOfMateria(materia) !== 'agent') return;
  const identity = stringAt(materia, 'identity');
  const path = `materia.${id}`;
  const { unusable = null } = boundaries;
  const isPerson = identity === null && runnerCan(PRESENT, stringAt(materia, 'runner'), 'isPerson');
  if (unusable !== null && !isPerson) {
    const message = `No turn of it can start: the registry cannot be used, because ${unusable}.`;
    yield warning('BOUNDARY_REFUSED', path, message);
    // Nothing more can be said of whom the manifest does not list, or where it cannot be read.
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
export function* checkMalformed(config: JsonObject, { malformed = [] }: Boundaries): Findings {
  const materia = objectAt(config, 'materia');
  for (const { agent, message } of malformed) {
    const users = Object.keys(materia).filter((id) => stringAt(objectAt(materia, id), 'identity') === agent);
    const paths = users.length > 0 ? users.map((id) => `materia.${id}.identity`) : [`${REGISTRY}${agent}`];
    for (const path of paths) yield error('BOUNDARY_MALFORMED', path, `${agent}: ${message}.`);
  }
}

/** What the path of an issue begins with that concerns the registry, and no materia. */
export const REGISTRY = 'registry.';

export function* checkBoundaries(config: JsonObject, name: string, boundaries: Boundaries): Findings {
  const draft = draftOf(config, name);
  yield* checkAbsence(draft, boundaries);
  const hands = handsIn(draft, boundaries.knows);
  for (const { from, source, socket, target, path } of hands) {
    if (source === target) continue;
    const origins = hands.filter((before) => before.socket === from).map((before) => before.source);
    const why =
      boundaries.refusal(source, target) ??
      origins.map((origin) => boundaries.mediated(origin, source, target)).find((reason) => reason !== null);
    if (why === undefined) continue;
    const message = `${from} hands to ${socket}, which can never pass: ${why}.`;
    yield warning('BOUNDARY_REFUSED', `${draft.path}.${path}`, message);
  }
}

/** Agents that name an identity where no registry says who has it. */
function* checkAbsence(draft: Draft, { isBundled }: Boundaries): Findings {
  if (!isBundled) return;
  const team = draft.socketIds.flatMap((socket) => {
    const materia = materiaOf(draft, objectAt(draft.sockets, socket)) ?? {};
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
  const materiaAt = (socket: string) => materiaOf(draft, objectAt(draft.sockets, socket));
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
