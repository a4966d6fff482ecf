// Agents that others name as the best to go on, held against the graph: whether a way leads there from where the agent
// that names them stands.
import type { Graph, Materia, Rules } from '../graph/config.ts';
import type { ReportNote } from '../state.ts';

/** An agent that another one names as the best to go on, and whether the graph and the boundaries would let it. */
export type Proposal = {
  readonly agent: string;
  readonly by: string;
  /** Where that agent stands in the graph; null where nowhere. Of several places one that can be reached comes first. */
  readonly socket: string | null;
  /** Whether neither the graph nor the boundaries stand in the way. */
  readonly allowed: boolean;
  /** Why the graph does not lead there; null where it does. */
  readonly noWay: string | null;
  /** What the boundaries of the registry have against that handoff; null where nothing, or where there are none. */
  readonly refusal: string | null;
  /** Whether that agent has reported in this cast itself. */
  readonly reported: boolean;
};

/** Why one registry identity may never hand to another; null where it may. */
export type BoundaryRefusal = (source: string, target: string) => string | null;

/** What agents propose, once from each. That an agent names itself is no proposal. */
export function proposalsOf(reports: readonly ReportNote[], rules: Rules, refusalOf: BoundaryRefusal): Proposal[] {
  const proposals = reports.flatMap((note) =>
    agentsNamedIn(note).flatMap((agent) => proposalOf(agent, note, reports, rules, refusalOf) ?? []),
  );
  return proposals.filter(
    ({ agent, by }, index) => index === proposals.findIndex((one) => one.agent === agent && one.by === by),
  );
}

function agentsNamedIn({ nextBestAgent, alsoBestAgents = [] }: ReportNote): readonly string[] {
  return nextBestAgent === null ? [] : [nextBestAgent, ...alsoBestAgents];
}

function proposalOf(
  agent: string,
  { agent: by, socket: from }: ReportNote,
  reports: readonly ReportNote[],
  rules: Rules,
  refusalOf: BoundaryRefusal,
): Proposal | null {
  if (agent === by) return null;
  const places = placesOf(rules, agent);
  if (places.includes(from)) return null;
  const reached = agentsAfter(rules, from);
  const way = places.find((place) => reached.has(place));
  const socket = way ?? places[0] ?? null;
  const [source, target] = [identityAt(rules, from), socket === null ? agent : identityAt(rules, socket)];
  const refusal = source === null || target === null ? null : refusalOf(source, target);
  const noWay = way !== undefined ? null : socket === null ? NOWHERE : `no edge leads there from ${from}`;
  const materia = socket === null ? agent : rules.graph.sockets[socket]?.materia;
  const reported = reports.some((note) => note.agent === materia);
  return { agent, by, socket, allowed: noWay === null && refusal === null, noWay, refusal, reported };
}

const NOWHERE = 'it has no socket in this loadout';

/** Agents name each other as they know each other: by materia, by label, by registry id, or by the socket itself. */
function placesOf({ graph, materia }: Rules, agent: string): readonly string[] {
  const wanted = agent.trim().toLowerCase();
  const found = Object.values(graph.sockets).filter((socket) => {
    const its = materia[socket.materia];
    return [socket.materia, identityOf(its), socket.id, its?.label].some((name) => name?.toLowerCase() === wanted);
  });
  return found.map(({ id }) => id);
}

/** The sockets of the agents that come next after a socket, directly or through utilities. */
function agentsAfter({ graph, materia }: Rules, from: string): ReadonlySet<string> {
  const found = new Set<string>();
  const passed = new Set<string>();
  const ahead = [...waysFrom(graph, from)];
  for (let socket = ahead.pop(); socket !== undefined; socket = ahead.pop()) {
    const its = graph.sockets[socket];
    if (!its || passed.has(socket)) continue;
    passed.add(socket);
    if (materia[its.materia]?.type === 'utility') ahead.push(...waysFrom(graph, socket));
    else found.add(socket);
  }
  return found;
}

/** Where the edges of a socket lead, and the exits of loops that leave from it. */
function waysFrom({ sockets, loops }: Graph, from: string): readonly string[] {
  const exits = loops.flatMap((loop) => loop.exits.filter((exit) => exit.from === from));
  return [...(sockets[from]?.edges ?? []).map(({ to }) => to), ...exits.map(({ targetSocketId }) => targetSocketId)];
}

function identityAt({ graph, materia }: Rules, socket: string): string | null {
  return identityOf(materia[graph.sockets[socket]?.materia ?? '']);
}

function identityOf(materia: Materia | undefined): string | null {
  return materia?.type === 'agent' ? materia.identity : null;
}
