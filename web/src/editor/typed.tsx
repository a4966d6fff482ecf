// A control that keeps what is being typed, with its label, and with what its field means or what is wrong with it.

import { type ReactNode, useEffect, useId, useState } from 'react';
import type { ValuePath } from '../../../src/editor/document.ts';
import type { Field } from '../../../src/kernel/fields.ts';
import type { Json } from '../../../src/kernel/json.ts';
import { Foreign } from '../parts/text.tsx';

export type SetField = (path: ValuePath, value: Json | undefined) => void;

export type FormContext = {
  readonly set: SetField;
  /** The field was left: what is typed next is another step of undo. */
  readonly settle: () => void;
  readonly isReadOnly: boolean;
  /** Values to choose from, by the name of the field. They are offered; any other can be written. */
  readonly offers: Readonly<Record<string, readonly string[]>>;
  /** What the checks say of a field, by its path as text. */
  readonly faults: ReadonlyMap<string, string>;
};

/** `maxOutputBytes` as people read it. */
export function labelOf(name: string): string {
  const words = name
    .replace(/Ms$/, ', ms')
    .replace(/([a-z])([A-Z])/g, (_, a: string, b: string) => `${a} ${b.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export type ControlProps = {
  readonly name: string;
  readonly field: Field;
  readonly value: Json | undefined;
  readonly path: ValuePath;
  readonly context: FormContext;
  readonly label?: string;
};

export function Hint({ field, fault, id }: { field: Field; fault?: string | undefined; id?: string }): ReactNode {
  if (fault === undefined && field.means === undefined) return null;
  return (
    <p id={id} className={`field-hint${fault === undefined ? '' : ' field-fault'}`}>
      {fault === undefined ? field.means : <Foreign text={fault} />}
    </p>
  );
}

export function Labelled({
  label,
  field,
  path,
  context,
  children,
  right,
}: ControlProps & {
  label: string;
  right?: ReactNode;
  children: (id: string, described: string) => ReactNode;
}): ReactNode {
  const id = useId();
  const hint = `${id}-hint`;
  return (
    <div className="field" data-field={path.join('.')}>
      <div className="field-head">
        <label htmlFor={id}>{label}</label>
        {right}
      </div>
      {children(id, hint)}
      <Hint id={hint} field={field} fault={context.faults.get(path.join('.'))} />
    </div>
  );
}

/** A control that keeps what is being typed, and writes each version that can be read. */
export function Typed({
  id,
  described,
  context,
  value,
  read,
  put,
  type = 'text',
  rows,
  placeholder,
  list,
  isMono = false,
}: {
  id: string;
  described?: string;
  context: Pick<FormContext, 'settle' | 'isReadOnly'>;
  value: string;
  /** Throws where the text means nothing yet. */
  read: (text: string) => Json | undefined;
  put: (value: Json | undefined) => void;
  type?: 'text' | 'number';
  rows?: number;
  placeholder?: string;
  list?: readonly string[];
  isMono?: boolean;
}): ReactNode {
  const [typed, setTyped] = useState<string | null>(null);
  const [fault, setFault] = useState('');
  // What comes from elsewhere, for example from undo, is shown at once.
  useEffect(() => setTyped((now) => (now !== null && sameAs(now, value, read) ? now : null)), [value, read]);
  const change = (text: string): void => {
    setTyped(text);
    try {
      put(read(text));
      setFault('');
    } catch (error) {
      setFault(error instanceof Error ? error.message : 'This cannot be read.');
    }
  };
  const shared = {
    ...{ id, placeholder },
    value: typed ?? value,
    readOnly: context.isReadOnly,
    spellCheck: false,
    className: isMono ? 'mono' : undefined,
    'aria-describedby': described,
    'aria-invalid': fault !== '' || undefined,
    onBlur: () => {
      if (fault === '') setTyped(null);
      context.settle();
    },
  };
  return (
    <>
      {rows === undefined ? (
        <input
          {...shared}
          type={type}
          step={type === 'number' ? 'any' : undefined}
          autoComplete="off"
          list={list ? `${id}-list` : undefined}
          onChange={(event) => change(event.target.value)}
        />
      ) : (
        <textarea {...shared} rows={rows} onChange={(event) => change(event.target.value)} />
      )}
      {list ? (
        <datalist id={`${id}-list`}>
          {list.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
      ) : null}
      {fault === '' ? null : (
        <p className="field-hint field-fault" role="alert">
          {fault}
        </p>
      )}
    </>
  );
}

function sameAs(text: string, value: string, read: (text: string) => Json | undefined): boolean {
  if (text === value) return true;
  try {
    return JSON.stringify(read(text)) === JSON.stringify(read(value));
  } catch {
    return true;
  }
}

export function readJson(text: string): Json | undefined {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw new Error(`This is no JSON yet: ${error instanceof Error ? error.message : 'unreadable'}`);
  }
}
