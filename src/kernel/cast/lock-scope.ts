// Which paths a turn may change, and whether a change during the turn counts against it. A utility is bound only by a
// written scope. In the directory itself people write too, so a turn without paths of its own is not blamed there.
import type { Materia, Rules, Socket } from '../graph/config.ts';
import { render } from '../graph/path.ts';
import { type Bystander, bystanderAt, scopeIn } from '../graph/route.ts';
import { coverOf, normalPath, PATH_FAULTS, pathKey } from '../ledger/path.ts';
import { PATH_CHARS_MAX } from '../ledger/plan.ts';
import { configuredBy, isNamed, refusalOfGoverning } from '../ledger/scope.ts';
import { type Denied, deny } from '../verdict.ts';
import { scopeOf } from './data.ts';
import { materiaOf, runsOnce, socketOf } from './rules.ts';
import { type Cast, type Item, type Turn, walkOf } from './state.ts';

/** What governs the agents is never theirs to change. */
export const FORBIDDEN: readonly string[] = ['.baton'];

type ScopeReading =
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
      const refusal =
        refusalOfGoverning(id, [normal.path], (path) => pathKey(path, false)) ??
        (hasSlot(template) ? refusalOfChosenConfig(cast, id, [normal.path]) : null);
      if (refusal) return { ok: false, refusal };
      paths.add(normal.path);
    }
  }
  return { ok: true, paths: apart([...paths]) };
}

/** Whether a turn of this socket has paths of its own, and what it changes is compared with them. */
export function isBound(cast: Cast, socket: string): boolean {
  return templatesOf(cast, socket).length > 0;
}

/**
 * Why a turn of this socket may change no file, in words; null where it may change some. Where items of a list are worked on
 * by several sockets, the paths of the item's task are those of the others: they make no writer of who only reads.
 */
export function readsOnly(cast: Cast, socket: string): string | null {
  const [its, materia] = [socketOf(cast, socket), materiaOf(cast, socket)];
  if (scopeIn(its, materia)?.length !== 0) return null;
  const isWritten = (its.lockScope ?? materia.lockScope) !== null;
  return isWritten || materia.type === 'utility' ? 'its lockScope is empty' : `its tools are ${String(materia.tools)}`;
}

/** Whether files that the turn changes in its worktree are put back: it has a shell to run checks with and no paths. */
export function isPutBack(cast: Cast, turn: Turn): boolean {
  const materia = materiaOf(cast, turn.socket);
  const runs = materia.type === 'agent' && materia.tools === 'readAndRun';
  return runs && readsOnly(cast, turn.socket) !== null && !worksInPlace(cast, turn);
}

/**
 * An attempt that ended with an answer or a fault leaves its brief; one that was cut off leaves none. A repair needs what
 * was done before it, and so does what must not be repeated unasked. A turn that may change nothing needs nothing of it.
 */
export function beginsOver(cast: Cast, turn: Turn): boolean {
  if (isPutBack(cast, turn)) return true;
  return turn.brief === null && turn.refusal === null && !runsOnce(cast, turn);
}

/** Whether the turn works in the directory itself, where people write as well. */
export function worksInPlace(cast: Cast, turn: Turn): boolean {
  return cast.root === undefined && walkOf(cast, turn)?.place === undefined;
}

/** Whether the turn works in a worktree and must change nothing outside of it: an agent, or a utility with a written scope. */
export function isBoundToFolder(cast: Cast, turn: Turn): boolean {
  return !worksInPlace(cast, turn) && scopeIn(socketOf(cast, turn.socket), materiaOf(cast, turn.socket)) !== null;
}

/** The kind of bystander where the author of a change cannot be known; null where changes count against the turn. */
export function bystanderIn(cast: Cast, turn: Turn): Bystander | null {
  return worksInPlace(cast, turn) ? bystanderAt(cast.rules, cast.root, turn.socket) : null;
}

/** Whether any turn of a cast by these rules may change files and is held to its scope. */
export function hasWriters({ graph, materia }: Rules): boolean {
  return Object.values(graph.sockets).some((socket) => {
    const its = materia[socket.materia];
    return its !== undefined && templatesIn(socket, its).length > 0;
  });
}

/** Whether no turn of a cast by these rules may change files, and an agent has a shell to run checks with. */
export function onlyRunsChecks(rules: Rules): boolean {
  const { graph, materia } = rules;
  const runs = Object.values(graph.sockets).some(({ materia: id }) => {
    const its = materia[id];
    return its?.type === 'agent' && its.tools === 'readAndRun';
  });
  return runs && !hasWriters(rules);
}

/** Whether a scope depends on the item. */
export function isTemplated(cast: Cast, sockets: readonly string[]): boolean {
  return sockets.some((id) => templatesOf(cast, id).some(hasSlot));
}

function hasSlot(template: string): boolean {
  return template.includes('{{');
}

/**
 * Paths that an agent chose, in a plan or in the value of a slot, do not reach the files that configure agent programs. Only a
 * lockScope that a person wrote without a slot does.
 */
export function refusalOfChosenConfig(cast: Cast, who: string, paths: readonly string[]): Denied | null {
  const written = Object.keys(cast.rules.graph.sockets).flatMap((id) => templatesOf(cast, id));
  const byPerson = written.filter((template) => !hasSlot(template));
  const path = paths.find((one) => configuredBy(one) !== null && !isNamed(one, byPerson));
  if (path === undefined) return null;
  const reason = `${who} wants ${JSON.stringify(path)}, which configures agent programs, and no agent chooses that; name it in the lockScope of the socket, without a slot, if its turns are meant to change it.`;
  return deny('SCOPE_VIOLATION', reason, { resource: path });
}

function templatesOf(cast: Cast, socket: string): readonly string[] {
  return templatesIn(socketOf(cast, socket), materiaOf(cast, socket));
}

function templatesIn(socket: Socket, materia: Materia): readonly string[] {
  return scopeIn(socket, materia) ?? [];
}

/** A path that names a file of agent configuration stays, also inside another path. */
function apart(paths: readonly string[]): readonly string[] {
  const isInside = (path: string, index: number) => coverOf(paths.filter((_, other) => other !== index))(path);
  return paths.filter((path, index) => configuredBy(path) !== null || !isInside(path, index));
}
