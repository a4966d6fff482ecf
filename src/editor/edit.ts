// Everything a person can do to a document, as one closed union, and the one function that does it. It is pure and never throws: an
// edit that makes no sense is refused in words, and one that leaves something broken is done, because checks say what is broken.
import type { Condition } from '../kernel/graph/config.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import { type Denied, deny } from '../kernel/verdict.ts';
import { type Clip, copyOf, paste } from './clip.ts';
import type { EdgeRef, EditorDocument, ExitId, FieldOwner, Point, ValuePath, WayRef } from './document.ts';
import { addEdge, cycleEdge, moveEdge, removeEdge, setEdge } from './edit-edges.ts';
import { addExit, breakLoop, makeLoop, removeExit, setAdvance, setExit, setLoop } from './edit-loops.ts';
import { addMateria, moveMateria, removeMateria, renameMateria, setMateria, setPrompt } from './edit-materia.ts';
import { addSocket, emptySockets, removeSockets, renameSocket, setEntry, setField } from './edit-sockets.ts';
import { type Alignment, align, clearLayout, moveTo } from './layout.ts';
import { Sheet } from './sheet.ts';

export type Edit =
  /** `onto` inserts into an edge or exit; `after` follows a socket and takes over its `always` edge. */
  | {
      readonly edit: 'socket.add';
      readonly materia?: string;
      readonly at?: Point;
      readonly onto?: WayRef;
      readonly after?: string;
    }
  | { readonly edit: 'socket.remove'; readonly sockets: readonly string[] }
  /** Takes the materia out and keeps all links. */
  | { readonly edit: 'socket.empty'; readonly sockets: readonly string[] }
  | { readonly edit: 'socket.rename'; readonly socket: string; readonly label: string }
  | { readonly edit: 'entry.set'; readonly socket: string }
  | { readonly edit: 'materia.set'; readonly socket: string; readonly materia: string }
  /** Moves what is in one socket to another; two full ones swap. */
  | { readonly edit: 'materia.move'; readonly from: string; readonly to: string }
  | { readonly edit: 'materia.add'; readonly id: string; readonly definition: JsonObject }
  | { readonly edit: 'materia.rename'; readonly id: string; readonly to: string }
  | { readonly edit: 'materia.remove'; readonly id: string }
  | { readonly edit: 'prompt.set'; readonly materia: string; readonly text: string }
  /** Without `when` the first one that makes sense there. `to` may be `end`. */
  | { readonly edit: 'edge.add'; readonly from: string; readonly to: string; readonly when?: Condition | JsonObject }
  | { readonly edit: 'edge.remove'; readonly edge: EdgeRef }
  /** The next of always, satisfied, not_satisfied. An exit is cycled, too. */
  | { readonly edit: 'edge.cycle'; readonly edge: WayRef }
  /** `null` removes a count or what follows it. */
  | {
      readonly edit: 'edge.set';
      readonly edge: EdgeRef;
      readonly when?: Condition | JsonObject;
      readonly to?: string;
      readonly maxTraversals?: number | null;
      readonly then?: 'fail' | 'park' | 'ask' | null;
    }
  | { readonly edit: 'edge.move'; readonly edge: EdgeRef; readonly to: number }
  /** Without a generator the one whose edge leads into the selection. */
  | {
      readonly edit: 'loop.make';
      readonly sockets: readonly string[];
      readonly generator?: string;
      readonly id?: string;
    }
  | { readonly edit: 'loop.break'; readonly loop: string }
  | {
      readonly edit: 'loop.set';
      readonly loop: string;
      readonly generator?: string;
      readonly cursor?: string | null;
      readonly maxConcurrency?: number | null;
      readonly sockets?: readonly string[];
      readonly id?: string;
    }
  /** Where a loop goes on to the next item. `when: null` is after every answer. */
  | { readonly edit: 'advance.set'; readonly socket: string; readonly when: Condition | null }
  | { readonly edit: 'advance.remove'; readonly socket: string }
  | {
      readonly edit: 'exit.add';
      readonly loop: string;
      readonly from: string;
      readonly condition: Condition;
      readonly to: string;
    }
  | {
      readonly edit: 'exit.set';
      readonly exit: ExitId;
      readonly from?: string;
      readonly condition?: Condition;
      readonly to?: string;
    }
  | { readonly edit: 'exit.remove'; readonly exit: ExitId }
  /** Without a value the field is removed. */
  | { readonly edit: 'field.set'; readonly of: FieldOwner; readonly path: ValuePath; readonly value?: Json }
  /** Where sockets are on the canvas. */
  | { readonly edit: 'layout.move'; readonly to: Readonly<Record<string, Point>> }
  /** `at` says where sockets are that were never moved by hand. */
  | {
      readonly edit: 'layout.align';
      readonly sockets: readonly string[];
      readonly how: Alignment;
      readonly at?: Readonly<Record<string, Point>>;
    }
  | { readonly edit: 'layout.clear' }
  | { readonly edit: 'paste'; readonly clip: Clip; readonly at?: Point }
  | { readonly edit: 'duplicate'; readonly sockets: readonly string[] }
  /** What another face of the document became. */
  | { readonly edit: 'replace'; readonly document: EditorDocument }
  /** One step of undo for several edits; none is done if one is refused. */
  | { readonly edit: 'all'; readonly edits: readonly Edit[] };

export type Edited = {
  readonly allow: true;
  readonly document: EditorDocument;
  /** What was done besides, each a sentence for people. */
  readonly notes: readonly string[];
  /** Ids to select now: of sockets, loops, exits, or of edges as `edgeId` makes them. Empty where the selection stays. */
  readonly selected: readonly string[];
};

/** How many edits may be within one, at any depth. */
const EDITS_MAX = 10_000;

export function applyEdit(document: EditorDocument, edit: Edit): Edited | Denied {
  const sheet = new Sheet(document);
  const refused = apply(sheet, edit, { left: EDITS_MAX });
  return refused ?? { allow: true, document: sheet.document, notes: sheet.notes, selected: sheet.selected };
}

function apply(sheet: Sheet, edit: Edit, budget: { left: number }): Denied | null {
  budget.left -= 1;
  if (budget.left < 0) return deny('BAD_USAGE', `One edit holds at most ${EDITS_MAX} others.`);
  switch (edit.edit) {
    case 'socket.add':
      return addSocket(sheet, edit);
    case 'socket.remove':
      return removeSockets(sheet, edit.sockets);
    case 'socket.empty':
      return emptySockets(sheet, edit.sockets);
    case 'socket.rename':
      return renameSocket(sheet, edit.socket, edit.label);
    case 'entry.set':
      return setEntry(sheet, edit.socket);
    case 'materia.set':
      return setMateria(sheet, edit.socket, edit.materia);
    case 'materia.move':
      return moveMateria(sheet, edit.from, edit.to);
    case 'materia.add':
      return addMateria(sheet, edit.id, edit.definition);
    case 'materia.rename':
      return renameMateria(sheet, edit.id, edit.to);
    case 'materia.remove':
      return removeMateria(sheet, edit.id);
    case 'prompt.set':
      return setPrompt(sheet, edit.materia, edit.text);
    case 'edge.add':
      return addEdge(sheet, edit.from, edit.to, edit.when);
    case 'edge.remove':
      return removeEdge(sheet, edit.edge);
    case 'edge.cycle':
      return 'exit' in edit.edge ? setExit(sheet, edit.edge.exit, 'cycle') : cycleEdge(sheet, edit.edge);
    case 'edge.set':
      return setEdge(sheet, edit);
    case 'edge.move':
      return moveEdge(sheet, edit.edge, edit.to);
    case 'loop.make':
      return makeLoop(sheet, edit);
    case 'loop.break':
      return breakLoop(sheet, edit.loop);
    case 'loop.set':
      return setLoop(sheet, edit);
    case 'advance.set':
      return setAdvance(sheet, edit.socket, { when: edit.when });
    case 'advance.remove':
      return setAdvance(sheet, edit.socket, null);
    case 'exit.add':
      return addExit(sheet, edit);
    case 'exit.set':
      return setExit(sheet, edit.exit, edit);
    case 'exit.remove':
      return removeExit(sheet, edit.exit);
    case 'field.set':
      return setField(sheet, edit);
    case 'layout.move':
      return moveTo(sheet, edit.to);
    case 'layout.align':
      return align(sheet, edit);
    case 'layout.clear':
      return clearLayout(sheet);
    case 'paste':
      return paste(sheet, edit.clip, edit.at);
    case 'duplicate':
      return paste(sheet, copyOf(sheet.document, edit.sockets), undefined);
    case 'replace':
      sheet.document = edit.document;
      return null;
    case 'all':
      for (const each of edit.edits) {
        const refused = apply(sheet, each, budget);
        if (refused) return refused;
      }
      return null;
    default:
      return deny('BAD_USAGE', 'There is no such edit.', { edit: String((edit as { edit?: unknown }).edit) });
  }
}
