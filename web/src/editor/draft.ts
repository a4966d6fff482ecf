// The draft that is open: its history, what is selected, and what the last edit said. Edits are the model's; nothing is decided here.
import { useSyncExternalStore } from 'react';
import { type Clip, copyOf } from '../../../src/editor/clip.ts';
import { type EditorDocument, loopAt, socketAt, socketsOf, type WayRef } from '../../../src/editor/document.ts';
import type { Edit } from '../../../src/editor/edit.ts';
import {
  type EditHistory,
  edited,
  hasUnsaved,
  markSaved,
  openHistory,
  redo,
  settled,
  undo,
} from '../../../src/editor/history.ts';
import { stringAt } from '../../../src/kernel/json.ts';

export type Selection = {
  readonly sockets: readonly string[];
  /** The id of an edge or an exit. */
  readonly way: string | null;
  readonly loop: string | null;
};
const NOTHING: Selection = { sockets: [], way: null, loop: null };

/** What the last edit did besides, or why it was refused. */
export type Said = { readonly n: number; readonly isRefused: boolean; readonly sentences: readonly string[] };

export type DraftState = {
  readonly history: EditHistory;
  readonly document: EditorDocument;
  readonly selection: Selection;
  readonly said: Said | null;
};

export class Draft {
  #state: DraftState;
  #n = 0;
  readonly #listeners = new Set<() => void>();

  constructor(document: EditorDocument) {
    this.#state = { history: openHistory(document), document, selection: NOTHING, said: null };
  }

  readonly read = (): DraftState => this.#state;

  readonly listen = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  #set(change: Partial<DraftState>): void {
    this.#state = { ...this.#state, ...change };
    for (const each of this.#listeners) each();
  }

  #past(history: EditHistory, change: Partial<DraftState> = {}): void {
    const { document, selected } = history.present;
    const selection = kept(document, selectionOf(document, selected));
    this.#set({
      history,
      document,
      selection: isNothing(selection) ? kept(document, this.#state.selection) : selection,
      ...change,
    });
  }

  readonly edit = (edit: Edit): boolean => {
    const result = edited(this.#state.history, edit);
    if (!('history' in result)) {
      this.say([result.reason], true);
      return false;
    }
    const { document, selected, notes } = result.edited;
    const selection = selected.length > 0 ? selectionOf(document, selected) : this.#state.selection;
    const said = notes.length > 0 ? { n: ++this.#n, isRefused: false, sentences: notes } : null;
    this.#set({ history: result.history, document, selection: kept(document, selection), said });
    return true;
  };

  say(sentences: readonly string[], isRefused = false): void {
    this.#set({ said: { n: ++this.#n, isRefused, sentences } });
  }

  readonly undo = (): void => this.#past(undo(this.#state.history), { said: null });
  readonly redo = (): void => this.#past(redo(this.#state.history), { said: null });
  readonly settle = (): void => {
    const history = settled(this.#state.history);
    if (history !== this.#state.history) this.#set({ history });
  };

  saved(document?: EditorDocument): void {
    const history = markSaved(this.#state.history, document);
    this.#set({ history });
  }

  /** What is on disk now; the draft goes on from it. */
  restart(document: EditorDocument): void {
    this.#set({
      history: openHistory(document),
      document,
      selection: kept(document, this.#state.selection),
      said: null,
    });
  }

  readonly select = (change: Partial<Selection>): void => {
    const selection = { ...NOTHING, ...change };
    if (JSON.stringify(selection) !== JSON.stringify(this.#state.selection)) this.#set({ selection });
  };

  get isChanged(): boolean {
    return hasUnsaved(this.#state.history);
  }

  /** How many steps undo can take back until what is on disk. */
  get steps(): number {
    const { past, saved } = this.#state.history;
    const at = past.findIndex(({ document }) => document === saved);
    return this.#state.document === saved ? 0 : at === -1 ? past.length : past.length - at;
  }
}

function isNothing({ sockets, way, loop }: Selection): boolean {
  return sockets.length === 0 && way === null && loop === null;
}

function selectionOf(document: EditorDocument, ids: readonly string[]): Selection {
  const sockets = ids.filter((id) => socketAt(document, id) !== null);
  if (sockets.length > 0) return { ...NOTHING, sockets };
  const [first] = ids;
  if (first === undefined) return NOTHING;
  if (first.includes(':')) return { ...NOTHING, way: first };
  return loopAt(document, first) ? { ...NOTHING, loop: first } : NOTHING;
}

/** What is selected and still there. */
function kept(document: EditorDocument, { sockets, way, loop }: Selection): Selection {
  return {
    sockets: sockets.filter((id) => socketAt(document, id) !== null),
    way,
    loop: loop !== null && loopAt(document, loop) === null ? null : loop,
  };
}

export function useDraft(draft: Draft): DraftState {
  return useSyncExternalStore(draft.listen, draft.read);
}

/** `edge:Socket-3:1` is an edge; everything else is the id of an exit. */
export function wayRef(id: string): WayRef {
  const [, from, index] = /^edge:(Socket-\d+):(\d+)$/.exec(id) ?? [];
  return from === undefined ? { exit: id } : { from, index: Number(index) };
}

/** Empties what is full; what is empty goes with its links. */
export function removeOrEmpty(draft: Draft, sockets: readonly string[]): void {
  const { document } = draft.read();
  const full = sockets.filter((id) => stringAt(socketAt(document, id) ?? {}, 'materia') !== null);
  draft.edit(full.length > 0 ? { edit: 'socket.empty', sockets: full } : { edit: 'socket.remove', sockets });
}

const CLIP = 'baton.editor.clip';

/** Copies to a place that other windows of the page read, too. */
export function copySockets(document: EditorDocument, sockets: readonly string[]): number {
  if (sockets.length === 0) return 0;
  localStorage.setItem(CLIP, JSON.stringify(copyOf(document, sockets)));
  return sockets.length;
}

export function readClip(): Clip | null {
  try {
    const text = localStorage.getItem(CLIP);
    return text === null ? null : (JSON.parse(text) as Clip);
  } catch {
    return null;
  }
}

export function allSockets(document: EditorDocument): readonly string[] {
  return Object.keys(socketsOf(document));
}
