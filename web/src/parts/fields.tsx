// What a person fills in. Every field has its label, and says what it needs.
import { type ReactNode, type Ref, useId } from 'react';
import { Foreign } from './text.tsx';
import './fields.css';

type Common = {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly isHidden?: boolean;
  readonly isRequired?: boolean;
  /** Why its value was refused; it takes the place of the hint. */
  readonly fault?: string | undefined;
};

/** What a screen reader is told of a field besides its label. */
function described(id: string, { hint, fault, isRequired }: Omit<Common, 'label'>) {
  return {
    'aria-describedby': hint || fault ? `${id}-hint` : undefined,
    'aria-invalid': fault ? true : undefined,
    'aria-required': isRequired ? true : undefined,
  } as const;
}

function Below({ id, hint, fault }: Omit<Common, 'label'> & { id: string }): ReactNode {
  if (!hint && !fault) return null;
  return (
    <p id={`${id}-hint`} className={`field-hint${fault ? ' field-fault' : ''}`} role={fault ? 'alert' : undefined}>
      {fault ? <Foreign text={fault} /> : hint}
    </p>
  );
}

export function TextField({
  label,
  hint,
  fault,
  isRequired = false,
  value,
  onChange,
  placeholder,
  type = 'text',
  ref,
  isMono = false,
  isSigned = false,
  list,
}: Common & {
  value: string;
  onChange: (value: string) => void;
  placeholder?: string;
  type?: 'text' | 'number' | 'password' | 'search';
  ref?: Ref<HTMLInputElement>;
  isMono?: boolean;
  /** A number below zero is one, too. */
  isSigned?: boolean;
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
        min={type === 'number' && !isSigned ? 0 : undefined}
        step={type === 'number' ? 'any' : undefined}
        list={list ? `${id}-list` : undefined}
        {...described(id, { hint, fault, isRequired })}
        onChange={(event) => onChange(event.target.value)}
      />
      {list ? (
        <datalist id={`${id}-list`}>
          {list.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
      ) : null}
      <Below {...{ id, hint, fault }} />
    </div>
  );
}

export function AreaField({
  label,
  hint,
  fault,
  isRequired = false,
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
        {...described(id, { hint, fault, isRequired })}
        onChange={(event) => onChange(event.target.value)}
      />
      <Below {...{ id, hint, fault }} />
    </div>
  );
}

export function Choice({
  label,
  hint,
  fault,
  isRequired = false,
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
        {...described(id, { hint, fault, isRequired })}
        onChange={(event) => onChange(event.target.value)}
      >
        {of.map(([each, says]) => (
          <option key={each} value={each}>
            {says}
          </option>
        ))}
      </select>
      <Below {...{ id, hint, fault }} />
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
