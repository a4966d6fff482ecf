// What a socket asks of its output. The place in the graph decides, not the prompt of the materia.
import type { Contract } from '../dialect.ts';
import { DEFAULTS, isToolScope, type Materia, OUTPUT_BYTES_MAX, type Rules, type Socket } from './config.ts';

export function contractOf(rules: Rules, socketId: string): Contract {
  const socket = rules.graph.sockets[socketId];
  const materia = socket && rules.materia[socket.materia];
  if (!socket || !materia) throw new Error(`these rules have no socket ${socketId} with a materia`);
  const assign = Object.fromEntries(socket.assign);
  const requires = [];
  if (readsSatisfied(socket)) requires.push('satisfied');
  if (materia.generator || assign.workItems === '$.workItems') requires.push('workItems');
  return {
    dialect: socket.contract,
    generator: materia.generator,
    utility: materia.type === 'utility',
    requires,
    assign,
    schema: socket.schema,
    ...sizeOf(socket),
    ...(socket.strict ? { strict: true } : {}),
  };
}

/** The limit of a socket is the limit of its reader. */
function sizeOf({ limits }: Socket): Pick<Contract, 'maxBytes'> {
  const { maxOutputBytes } = limits;
  if (maxOutputBytes === DEFAULTS.maxOutputBytes) return {};
  return { maxBytes: Math.min(maxOutputBytes, OUTPUT_BYTES_MAX) };
}

/** Edges and `advance` need the boolean. Exit routes do not: without it the `always` route is taken. */
export function readsSatisfied(socket: Socket): boolean {
  const conditions = [...socket.edges.map((edge) => edge.when), socket.advance?.when ?? 'always'];
  return conditions.some((condition) => condition === 'satisfied' || condition === 'not_satisfied');
}

// What a socket may change by its rules alone: what it says itself, else its materia, else everything for an agent that writes
// code and nothing for one that only reads and runs. A person's own command, a utility, has no tools that could say so.
const EVERYTHING: readonly string[] = ['.'];

/** The paths as they are written; null where nothing says what may be changed. */
export function scopeIn({ lockScope }: Socket, materia: Materia): readonly string[] | null {
  return lockScope ?? materia.lockScope ?? byTools(materia);
}

/** Whether turns of the socket may change files, so that what changes meanwhile is looked at and is theirs. */
export function hasOwnPaths({ graph, materia }: Rules, id: string): boolean {
  const socket = graph.sockets[id];
  const its = socket && materia[socket.materia];
  return socket !== undefined && its !== undefined && (scopeIn(socket, its) ?? []).length > 0;
}

/**
 * Who runs in a folder where people write too and has no paths of its own: one that may change nothing, or a utility of which
 * nothing is said. What changes there meanwhile may be anybody's, so that it is told and held against nobody.
 */
export type Bystander = 'reader' | 'utility';

/** `root` is the folder in which the cast works, undefined for the directory itself. */
export function bystanderAt({ graph, materia }: Rules, root: string | undefined, id: string): Bystander | null {
  const socket = graph.sockets[id];
  const its = socket && materia[socket.materia];
  if (root !== undefined || !socket || !its) return null;
  const scope = scopeIn(socket, its);
  if (scope === null) return 'utility';
  return scope.length === 0 ? 'reader' : null;
}

/**
 * What people are told of the files that changed beside a turn of the socket, in one line; null where none did, or where they
 * are the turn's own.
 */
export function toldOfChanges(
  { rules, root }: { readonly rules: Rules; readonly root?: string },
  socket: string,
  touched: Readonly<Record<string, unknown>> = {},
): string | null {
  const [first, ...more] = Object.keys(touched).filter((path) => !isKnownToWrite(rules, socket, path));
  const who = bystanderAt(rules, root, socket);
  if (first === undefined || who === null) return null;
  return `${first}${more.length > 0 ? ` (and ${more.length} more)` : ''} ${remarkOn(who, socket)}`;
}

/** Whether the socket holds a utility that is known to change this file, so that the change is its own. */
export function isKnownToWrite({ graph, materia }: Rules, socket: string, path: string): boolean {
  const its = materia[graph.sockets[socket]?.materia ?? ''];
  return its?.type === 'utility' && (its.writes ?? []).includes(path);
}

export function remarkOn(who: Bystander, socket: string): string {
  const may = who === 'reader' ? ', which may change nothing' : '';
  return `changed while ${socket} ran${may}; whose it is cannot be told`;
}

function byTools(materia: Materia): readonly string[] | null {
  if (materia.type === 'utility') return null;
  return isToolScope(materia.tools) && materia.tools !== 'coding' ? [] : EVERYTHING;
}
