// What a person fills in. Every field has its label, and says what it needs.
import { type ReactNode, type Ref, useId } from 'react';
import './fields.css';

type Common = { readonly label: string; readonly hint?: ReactNode; readonly isHidden?: boolean };

export function TextField({
  label,
  hint,
  value,
  onChange,
  placeholder,
  type = 'text',
  ref,
  isMono = false,
  list,
}: Common & {
  value: string;
  onChange: (value: string) => void;
  placeholder?: string;
  type?: 'text' | 'number' | 'password' | 'search';
  ref?: Ref<HTMLInputElement>;
  isMono?: boolean;
  list?: readonly string[];
}): ReactNode {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        {...{ id, ref, type, value, placeholder }}
        className={isMono ? 'mono' : undefined}
        autoComplete="off"
        spellCheck={false}
        min={type === 'number' ? 0 : undefined}
        step={type === 'number' ? 'any' : undefined}
        list={list ? `${id}-list` : undefined}
        aria-describedby={hint ? `${id}-hint` : undefined}
        onChange={(event) => onChange(event.target.value)}
      />
      {list ? (
        <datalist id={`${id}-list`}>
          {list.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
      ) : null}
      {hint ? (
        <p id={`${id}-hint`} className="field-hint">
          {hint}
        </p>
      ) : null}
    </div>
  );
}

export function AreaField({
  label,
  hint,
  value,
  onChange,
  placeholder,
  rows = 4,
  ref,
  isMono = false,
}: Common & {
  value: string;
  onChange: (value: string) => void;
  placeholder?: string;
  rows?: number;
  ref?: Ref<HTMLTextAreaElement>;
  isMono?: boolean;
}): ReactNode {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <textarea
        {...{ id, ref, value, placeholder, rows }}
        className={isMono ? 'mono' : undefined}
        aria-describedby={hint ? `${id}-hint` : undefined}
        onChange={(event) => onChange(event.target.value)}
      />
      {hint ? (
        <p id={`${id}-hint`} className="field-hint">
          {hint}
        </p>
      ) : null}
    </div>
  );
}

export function Choice({
  label,
  hint,
  value,
  of,
  onChange,
}: Common & {
  value: string;
  of: readonly (readonly [value: string, says: string])[];
  onChange: (value: string) => void;
}): ReactNode {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        value={value}
        aria-describedby={hint ? `${id}-hint` : undefined}
        onChange={(event) => onChange(event.target.value)}
      >
        {of.map(([each, says]) => (
          <option key={each} value={each}>
            {says}
          </option>
        ))}
      </select>
      {hint ? (
        <p id={`${id}-hint`} className="field-hint">
          {hint}
        </p>
      ) : null}
    </div>
  );
}

export function Check({
  label,
  isOn,
  onChange,
}: {
  label: ReactNode;
  isOn: boolean;
  onChange: (isOn: boolean) => void;
}): ReactNode {
  return (
    <label className="check">
      <input type="checkbox" checked={isOn} onChange={(event) => onChange(event.target.checked)} />
      <span>{label}</span>
    </label>
  );
}
