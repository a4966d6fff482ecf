// Undo and redo of everything. Documents share what stayed between them, so a step costs what it changed.
import type { Denied } from '../kernel/verdict.ts';
import type { EditorDocument } from './document.ts';
import { applyEdit, type Edit, type Edited } from './edit.ts';

type Step = {
  readonly document: EditorDocument;
  readonly selected: readonly string[];
  /** The field that was typed in; null where the next edit is a step of its own. */
  readonly field: string | null;
};

export type EditHistory = {
  readonly past: readonly Step[];
  readonly present: Step;
  readonly future: readonly Step[];
  /** What is on disk. */
  readonly saved: EditorDocument;
};

/** Older steps are forgotten. */
const STEPS_MAX = 1_000;

export function openHistory(document: EditorDocument): EditHistory {
  return { past: [], present: { document, selected: [], field: null }, future: [], saved: document };
}

/** Edits of one field, one after the other, are one step until `settled`. */
export function edited(
  history: EditHistory,
  edit: Edit,
): { readonly history: EditHistory; readonly edited: Edited } | Denied {
  const { past, present, saved } = history;
  const result = applyEdit(present.document, edit);
  if (!result.allow) return result;
  if (result.document === present.document) return { history, edited: result };
  const field = fieldOf(edit);
  const selected = result.selected.length === 0 ? present.selected : result.selected;
  const isTyping = field !== null && field === present.field;
  const before = isTyping ? past : [...past, present].slice(-STEPS_MAX);
  return {
    history: { past: before, present: { document: result.document, selected, field }, future: [], saved },
    edited: result,
  };
}

/** The field was left: what is typed next is another step. */
export function settled(history: EditHistory): EditHistory {
  return history.present.field === null ? history : { ...history, present: { ...history.present, field: null } };
}

export function undo(history: EditHistory): EditHistory {
  const before = history.past.at(-1);
  if (!before) return history;
  const { past, present, future, saved } = history;
  return { past: past.slice(0, -1), present: { ...before, field: null }, future: [present, ...future], saved };
}

export function redo(history: EditHistory): EditHistory {
  const [next, ...future] = history.future;
  if (!next) return history;
  return { past: [...history.past, history.present], present: { ...next, field: null }, future, saved: history.saved };
}

/** What was saved is now the state without unsaved edits; undo goes on behind it. */
export function markSaved(history: EditHistory, document: EditorDocument = history.present.document): EditHistory {
  return { ...settled(history), saved: document };
}

export function hasUnsaved({ present, saved }: EditHistory): boolean {
  return present.document !== saved && JSON.stringify(present.document) !== JSON.stringify(saved);
}

/** The field that an edit types in. */
function fieldOf(edit: Edit): string | null {
  switch (edit.edit) {
    case 'prompt.set':
      return JSON.stringify(['prompt', edit.materia]);
    case 'socket.rename':
      return JSON.stringify(['label', edit.socket]);
    case 'field.set':
      return typeof edit.value === 'string' || typeof edit.value === 'number'
        ? JSON.stringify([edit.of, ...edit.path])
        : null;
    case 'replace':
      return 'text';
    default:
      return null;
  }
}
