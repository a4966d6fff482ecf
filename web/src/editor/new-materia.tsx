// A new materia: its name, and what it does in a sentence or two, from which its prompt begins.
import { type ReactNode, useState } from 'react';
import { type EditorDocument, materiaOf } from '../../../src/editor/document.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { AreaField, Choice, TextField } from '../parts/fields.tsx';
import type { Draft } from './draft.ts';
import { DraftRole } from './drafting.tsx';

const KINDS = [
  ['agent', 'an agent'],
  ['generator', 'an agent that makes items'],
  ['person', 'a person'],
  ['utility', 'a program'],
] as const;
type Kind = (typeof KINDS)[number][0];

export function NewMateria({
  draft,
  document,
  onClose,
}: {
  draft: Draft;
  document: EditorDocument;
  onClose: () => void;
}): ReactNode {
  const [name, setName] = useState('');
  const [kind, setKind] = useState<Kind>('agent');
  const [words, setWords] = useState('');
  const id = name.trim();
  const isTaken = Object.hasOwn(materiaOf(document), id);
  const make = (): void => {
    const { sockets } = draft.read().selection;
    const [after] = sockets;
    const isDone = draft.edit({
      edit: 'all',
      edits: [
        { edit: 'materia.add', id, definition: definitionOf(kind, words) },
        { edit: 'socket.add', materia: id, ...(after !== undefined && sockets.length === 1 ? { after } : {}) },
      ],
    });
    if (isDone) onClose();
  };
  return (
    <Dialog
      title="New materia"
      onClose={onClose}
      acts={
        <>
          <Button
            kind="primary"
            refused={
              id === ''
                ? 'Write its name first.'
                : isTaken
                  ? `There is a materia ${id} already.`
                  : words.trim() === ''
                    ? 'Say what it does.'
                    : undefined
            }
            onPress={make}
          >
            Add it
          </Button>
          <Button onPress={onClose}>Cancel</Button>
        </>
      }
    >
      <TextField label="Name" value={name} onChange={setName} placeholder="such as security-review" />
      <Choice label="It is" value={kind} of={KINDS} onChange={(next) => setKind(next as Kind)} />
      {kind === 'utility' ? (
        <TextField
          label="Program and arguments"
          value={words}
          onChange={setWords}
          isMono
          placeholder="npm test"
          hint="Words are split at spaces. No shell reads them."
        />
      ) : (
        <>
          <AreaField label="What it is asked to do" value={words} onChange={setWords} rows={5} />
          {kind === 'person' ? null : <DraftRole sentence={words} onTake={setWords} />}
        </>
      )}
    </Dialog>
  );
}

function definitionOf(kind: Kind, words: string): JsonObject {
  const text = words.trim();
  if (kind === 'utility') return { type: 'utility', command: text.split(/\s+/) };
  if (kind === 'person') return { runner: 'person', tools: 'none', prompt: text };
  return { tools: 'readOnly', ...(kind === 'generator' ? { generator: true } : {}), prompt: text };
}
