// What a socket asks of its output. The place in the graph decides, not the prompt of the materia.
import type { Contract } from '../dialect.ts';
import { DEFAULTS, OUTPUT_BYTES_MAX, type Rules, type Socket } from './config.ts';

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
  return conditions.some((condition) => condition !== 'always');
}
