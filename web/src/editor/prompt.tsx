// The prompt of a materia, with the variables that a brief fills in. They are offered as chips, and completed after `{{`.
import { type ReactNode, useId, useRef, useState } from 'react';
import type { EditorDocument } from '../../../src/editor/document.ts';
import { type JsonObject, stringAt } from '../../../src/kernel/json.ts';
import { Foreign } from '../parts/text.tsx';
import type { Draft } from './draft.ts';
import { slotsOf } from './returns.ts';

const USUAL = ['request', 'item.title', 'item.context', 'itemJson', 'stateJson', 'lastOutput', 'lastJson'];

export function variablesOf(document: EditorDocument): readonly string[] {
  return [...new Set([...USUAL, ...slotsOf(document).map((slot) => `state.${slot}`)])];
}

export function PromptEditor({
  draft,
  document,
  id,
  materia,
  own,
  isLocked,
  isReadOnly,
}: {
  draft: Draft;
  document: EditorDocument;
  id: string;
  materia: string;
  own: JsonObject;
  isLocked: boolean;
  isReadOnly: boolean;
}): ReactNode {
  const field = useId();
  const area = useRef<HTMLTextAreaElement>(null);
  const [open, setOpen] = useState<{ readonly from: number; readonly typed: string; readonly at: number } | null>(null);
  const file = stringAt(own, 'promptFile');
  const text = stringAt(own, 'prompt') ?? (file === null ? '' : (document.files[file] ?? ''));
  const variables = variablesOf(document);
  const fitting = open ? variables.filter((each) => each.startsWith(open.typed)) : [];
  const set = (next: string): void => void draft.edit({ edit: 'prompt.set', materia, text: next });
  const look = (): void => {
    const { value = '', selectionStart = 0 } = area.current ?? {};
    const found = /\{\{\s*([\w.]*)$/.exec(value.slice(0, selectionStart));
    setOpen(
      found && !isLocked ? { from: selectionStart - (found[1]?.length ?? 0), typed: found[1] ?? '', at: 0 } : null,
    );
  };
  const insert = (variable: string): void => {
    const element = area.current;
    if (!element) return;
    const { selectionStart, selectionEnd } = element;
    const [start, words] = open ? [open.from, `${variable}}}`] : [selectionStart, `{{${variable}}}`];
    const end = open ? selectionStart : selectionEnd;
    const rest = text.slice(end).replace(open ? /^\}\}/ : /^$/, '');
    set(text.slice(0, start) + words + rest);
    setOpen(null);
    requestAnimationFrame(() => {
      element.focus();
      element.setSelectionRange(start + words.length, start + words.length);
    });
  };
  return (
    <div className="field prompt-field" data-field="prompt">
      <div className="field-head">
        <label htmlFor={field}>Prompt</label>
        <span className="quiet">
          {file === null ? '' : <Foreign text={file} />}
          {isLocked ? `${file === null ? '' : ', '}locked` : ''}
        </span>
      </div>
      <textarea
        id={field}
        ref={area}
        className="prompt-area"
        rows={Math.min(14, Math.max(5, text.split('\n').length + 1))}
        value={text}
        readOnly={isReadOnly}
        spellCheck={false}
        aria-controls={`${field}-list`}
        aria-autocomplete="list"
        aria-activedescendant={fitting.length > 0 ? `${field}-${open?.at}` : undefined}
        placeholder={`What ${id} is asked to do`}
        onChange={(event) => {
          set(event.target.value);
          look();
        }}
        onBlur={() => {
          draft.settle();
          setTimeout(() => setOpen(null), 150);
        }}
        onKeyDown={(event) => {
          if (!open || fitting.length === 0) return;
          const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
          if (by !== undefined) {
            event.preventDefault();
            setOpen({ ...open, at: (open.at + by + fitting.length) % fitting.length });
          } else if (event.key === 'Enter' || event.key === 'Tab') {
            event.preventDefault();
            insert(fitting[open.at] ?? fitting[0] ?? '');
          } else if (event.key === 'Escape') {
            event.preventDefault();
            event.stopPropagation();
            setOpen(null);
          }
        }}
      />
      <div
        className="prompt-offers"
        id={`${field}-list`}
        role="listbox"
        aria-label="Variables"
        hidden={fitting.length === 0}
      >
        {fitting.map((each, at) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the text
          <div
            key={each}
            id={`${field}-${at}`}
            role="option"
            tabIndex={-1}
            aria-selected={at === open?.at}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => insert(each)}
          >
            {each}
          </div>
        ))}
      </div>
      {isLocked ? (
        <p className="field-hint">
          A changed prompt runs only after it is locked again, by “baton registry lock”. It takes no variables: the item
          and the results follow it as data.
        </p>
      ) : isReadOnly ? null : (
        <div className="prompt-chips" role="group" aria-label="Variables of the brief">
          {variables.map((each) => (
            <button key={each} type="button" className="prompt-chip" onClick={() => insert(each)}>
              {each}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
