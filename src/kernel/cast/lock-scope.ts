// Which paths a turn may change: what its socket says, else its materia, else everything for an agent that writes code and
// nothing for one that only reads. A person's own command is bound only where its scope is written down.
import type { Materia, Rules, Socket } from '../graph/config.ts';
import { render } from '../graph/path.ts';
import { PATH_CHARS_MAX } from '../ledger/create.ts';
import { normalPath, PATH_FAULTS } from '../ledger/path.ts';
import { coverOf } from '../ledger/path-key.ts';
import { refusalOfGoverning } from '../ledger/scope.ts';
import type { Cast, Item } from '../state.ts';
import { type Denied, deny } from '../verdict.ts';
import { scopeOf } from './item.ts';
import { materiaOf, socketOf } from './pen.ts';

/** What governs the agents is never theirs to change. */
export const FORBIDDEN: readonly string[] = ['.baton'];
const EVERYTHING: readonly string[] = ['.'];

export type ScopeReading =
  | { readonly ok: true; readonly paths: readonly string[] }
  | { readonly ok: false; readonly refusal: Denied };

/** The paths of all these sockets together, for one item; none that lies inside another. */
export function lockScopeOf(cast: Cast, sockets: readonly string[], item: Item | null): ScopeReading {
  const paths = new Set<string>();
  for (const id of sockets) {
    for (const template of templatesOf(cast, id)) {
      const written = render(template, scopeOf(cast, item), { maxSlotBytes: PATH_CHARS_MAX });
      const normal = normalPath(written);
      if (!normal.ok || normal.path.startsWith('/')) {
        const fault = normal.ok ? PATH_FAULTS.escapes : PATH_FAULTS[normal.fault];
        const reason = `the lockScope of ${id}, ${JSON.stringify(written)}, ${fault}`;
        return { ok: false, refusal: deny('SCOPE_VIOLATION', reason, { socket: id, template, written }) };
      }
      const governing = refusalOfGoverning(id, [normal.path], false);
      if (governing) return { ok: false, refusal: governing };
      paths.add(normal.path);
    }
  }
  return { ok: true, paths: apart([...paths]) };
}

/** Whether what a turn of this socket changes is compared with its scope. */
export function isBound(cast: Cast, socket: string): boolean {
  return templatesOf(cast, socket).length > 0;
}

/** Whether any turn of a cast by these rules may change files and is held to its scope. */
export function mayWrite({ graph, materia }: Rules): boolean {
  return Object.values(graph.sockets).some((socket) => {
    const its = materia[socket.materia];
    return its !== undefined && templatesIn(socket, its).length > 0;
  });
}

/** Whether a scope depends on the item. */
export function isTemplated(cast: Cast, sockets: readonly string[]): boolean {
  return sockets.some((id) => templatesOf(cast, id).some((path) => path.includes('{{')));
}

function templatesOf(cast: Cast, socket: string): readonly string[] {
  return templatesIn(socketOf(cast, socket), materiaOf(cast, socket));
}

function templatesIn({ lockScope }: Socket, materia: Materia): readonly string[] {
  return lockScope ?? materia.lockScope ?? byTools(materia);
}

function byTools(materia: Materia): readonly string[] {
  if (materia.type === 'utility' || materia.tools === 'none' || materia.tools === 'readOnly') return [];
  return EVERYTHING;
}

function apart(paths: readonly string[]): readonly string[] {
  return paths.filter((path, index) => !coverOf(paths.filter((_, other) => other !== index))(path));
}
