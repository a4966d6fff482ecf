// Forms made from the field tables of the format: every field that the checks know has its control here, with what it means.
import { type ReactNode, useEffect, useId, useState } from 'react';
import type { ValuePath } from '../../../src/editor/write-in.ts';
import type { Field, ObjectField } from '../../../src/kernel/fields.ts';
import { isObject, type Json, type JsonObject } from '../../../src/kernel/json.ts';
import { Button } from '../parts/button.tsx';
import { Check } from '../parts/fields.tsx';
import { Foreign } from '../parts/text.tsx';
import { authoredFields } from './form-fields.ts';

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

export function FieldForm({
  table,
  names,
  value,
  path = [],
  context,
}: {
  table: ObjectField;
  names?: readonly string[];
  value: JsonObject;
  path?: ValuePath;
  context: FormContext;
}): ReactNode {
  const all = authoredFields(table).filter(([name]) => names === undefined || names.includes(name));
  const order = names ? all.toSorted(([one], [other]) => names.indexOf(one) - names.indexOf(other)) : all;
  return (
    <>
      {order.map(([name, field]) => (
        <FieldControl
          key={name}
          name={name}
          field={field}
          value={Object.hasOwn(value, name) ? value[name] : undefined}
          path={[...path, name]}
          context={context}
        />
      ))}
    </>
  );
}

const WORDS: Readonly<Record<string, string>> = {
  not_satisfied: 'not satisfied',
  readOnly: 'read only',
  readAndRun: 'read and run',
};

function wordOf(value: string): string {
  return WORDS[value] ?? value;
}

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

export function FieldControl(props: ControlProps): ReactNode {
  const { name, field, value, path, context } = props;
  const label = props.label ?? labelOf(name);
  const put = (next: Json | undefined): void => context.set(path, next);
  const choice = choiceOf(field);
  if (field.type === 'const') return null;
  if (field.type === 'flag')
    return (
      <div className="field" data-field={path.join('.')}>
        <Check
          label={label}
          isOn={value === undefined ? field.default === true : value === true}
          onChange={(isOn) => !context.isReadOnly && put(isOn === (field.default === true) ? undefined : isOn)}
        />
        <Hint field={field} fault={context.faults.get(path.join('.'))} />
      </div>
    );
  if (choice && (value === undefined || typeof value === 'string'))
    return (
      <Labelled {...props} label={label}>
        {(id, described) => (
          <select
            id={id}
            aria-describedby={described}
            disabled={context.isReadOnly}
            value={typeof value === 'string' ? value : ''}
            onChange={(event) => put(event.target.value === '' ? undefined : event.target.value)}
          >
            <option value="">
              {field.default === undefined ? 'as usual' : `as usual (${wordOf(String(field.default))})`}
            </option>
            {typeof value === 'string' && value !== '' && !choice.includes(value) ? (
              <option value={value}>{value} (not known here)</option>
            ) : null}
            {choice.map((each) => (
              <option key={each} value={each}>
                {wordOf(each)}
              </option>
            ))}
          </select>
        )}
      </Labelled>
    );
  if (field.type === 'text' || field.type === 'path' || isTextSchema(field))
    return <TextControl {...props} label={label} isLong={LONG.includes(name)} />;
  if (field.type === 'count' || field.type === 'number')
    return (
      <Labelled {...props} label={label}>
        {(id, described) => (
          <Typed
            {...{ id, described, context }}
            type="number"
            value={typeof value === 'number' ? String(value) : ''}
            placeholder={field.default === undefined ? 'as usual' : String(field.default)}
            read={(text) => (text === '' ? undefined : Number(text))}
            put={put}
          />
        )}
      </Labelled>
    );
  if (field.type === 'object') return <Part {...props} label={label} />;
  if (isTextList(field) && (value === undefined || isTexts(value)))
    return (
      <Labelled {...props} label={label}>
        {(id, described) => (
          <Typed
            {...{ id, described, context }}
            rows={Math.min(6, Math.max(2, linesOf(value).length + 1))}
            value={linesOf(value).join('\n')}
            placeholder="one on each line"
            read={(text) => {
              const lines = text.split('\n').filter((line) => line !== '');
              return lines.length === 0 ? undefined : lines;
            }}
            put={put}
          />
        )}
      </Labelled>
    );
  if (field.type === 'list' && field.of?.type === 'object' && (value === undefined || Array.isArray(value)))
    return <Rows {...props} label={label} of={field.of} />;
  if (field.type === 'map' && field.of.type === 'object' && (value === undefined || isObject(value)))
    return <Entries {...props} label={label} of={field.of} />;
  return <JsonControl {...props} label={label} />;
}

const LONG: readonly string[] = ['description', 'system', 'prompt', 'language'];

function choiceOf(field: Field): readonly string[] | null {
  if (field.type === 'choice') return field.of;
  if (field.type === 'json' && isObject(field.schema) && Array.isArray(field.schema.enum))
    return field.schema.enum as string[];
  if (field.type !== 'oneOf') return null;
  const [one, ...others] = field.of;
  const isBlank = others.every((each) => each.type === 'text' && each.form === '^\\s*$');
  return one?.type === 'choice' && isBlank ? one.of : null;
}

function isTextSchema(field: Field): boolean {
  return field.type === 'json' && isObject(field.schema) && field.schema.type === 'string';
}

function isTextList(field: Field): boolean {
  if (field.type === 'list') return field.of === undefined || field.of.type === 'text' || field.of.type === 'choice';
  if (field.type === 'json' && isObject(field.schema)) {
    const { type, items } = field.schema;
    return type === 'array' && isObject(items) && items.type === 'string';
  }
  return field.type === 'oneOf' && field.of.some(isTextList) && field.of.some(({ type }) => type === 'text');
}

function isTexts(value: Json): boolean {
  return typeof value === 'string' || (Array.isArray(value) && value.every((each) => typeof each === 'string'));
}

function linesOf(value: Json | undefined): readonly string[] {
  if (typeof value === 'string') return [value];
  return Array.isArray(value)
    ? (value as readonly Json[]).filter((each): each is string => typeof each === 'string')
    : [];
}

function Hint({ field, fault, id }: { field: Field; fault?: string | undefined; id?: string }): ReactNode {
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

function TextControl({ isLong, ...props }: ControlProps & { label: string; isLong: boolean }): ReactNode {
  const { name, field, value, path, context } = props;
  const offers = context.offers[name];
  const example = typeof field.example === 'string' ? field.example : undefined;
  return (
    <Labelled {...props}>
      {(id, described) => (
        <Typed
          {...{ id, described, context }}
          {...(isLong ? { rows: 3 } : {})}
          {...(offers ? { list: offers } : {})}
          {...(example === undefined ? {} : { placeholder: `such as ${example}` })}
          value={typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)}
          read={(text) => (text === '' ? undefined : text)}
          put={(next) => context.set(path, next)}
        />
      )}
    </Labelled>
  );
}

/** A value that has no control of its own. */
function JsonControl(props: ControlProps & { label: string }): ReactNode {
  const { field, value, path, context } = props;
  const text =
    value === undefined ? '' : typeof value === 'string' ? JSON.stringify(value) : JSON.stringify(value, null, 2);
  return (
    <Labelled {...props} right={<span className="quiet">JSON</span>}>
      {(id, described) => (
        <Typed
          {...{ id, described, context }}
          isMono
          rows={Math.min(10, Math.max(2, text.split('\n').length))}
          value={text}
          placeholder={field.example === undefined ? '{ }' : JSON.stringify(field.example)}
          read={readJson}
          put={(next) => context.set(path, next)}
        />
      )}
    </Labelled>
  );
}

export function readJson(text: string): Json | undefined {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw new Error(`This is no JSON yet: ${error instanceof Error ? error.message : 'unreadable'}`);
  }
}

function Part(props: ControlProps & { label: string }): ReactNode {
  const { field, value, path, context, label } = props;
  if (field.type !== 'object') return null;
  const written = isObject(value) ? value : {};
  return (
    <details className="form-part" open={Object.keys(written).length > 0} data-field={path.join('.')}>
      <summary>{label}</summary>
      <div className="form-part-fields">
        <Hint field={field} fault={context.faults.get(path.join('.'))} />
        <FieldForm table={field} value={written} path={path} context={context} />
      </div>
    </details>
  );
}

function Rows({ of, ...props }: ControlProps & { label: string; of: ObjectField }): ReactNode {
  const { field, value, path, context, label } = props;
  const rows = Array.isArray(value) ? (value as readonly Json[]) : [];
  const first = Array.isArray(field.example) ? ((field.example as readonly Json[])[0] ?? {}) : {};
  return (
    <fieldset className="form-rows" data-field={path.join('.')}>
      <legend>{label}</legend>
      <Hint field={field} fault={context.faults.get(path.join('.'))} />
      {rows.map((row, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place
        <div key={at} className="form-row">
          <FieldForm table={of} value={isObject(row) ? row : {}} path={[...path, at]} context={context} />
          {context.isReadOnly ? null : (
            <Button kind="quiet" onPress={() => context.set([...path, at], undefined)}>
              Remove
            </Button>
          )}
        </div>
      ))}
      {context.isReadOnly ? null : (
        <Button icon="plus" onPress={() => context.set(path, [...rows, first])}>
          Add
        </Button>
      )}
    </fieldset>
  );
}

function Entries({ of, ...props }: ControlProps & { label: string; of: ObjectField }): ReactNode {
  const { field, value, path, context, label } = props;
  const [name, setName] = useState('');
  const entries = Object.entries(isObject(value) ? value : {});
  const isTaken = entries.some(([each]) => each === name);
  return (
    <fieldset className="form-rows" data-field={path.join('.')}>
      <legend>{label}</legend>
      <Hint field={field} fault={context.faults.get(path.join('.'))} />
      {entries.map(([key, entry]) => (
        <details key={key} className="form-part" open={entries.length === 1}>
          <summary>
            <Foreign text={key} />
          </summary>
          <div className="form-part-fields">
            <FieldForm table={of} value={isObject(entry) ? entry : {}} path={[...path, key]} context={context} />
            {context.isReadOnly ? null : (
              <Button kind="quiet" onPress={() => context.set([...path, key], undefined)}>
                Remove
              </Button>
            )}
          </div>
        </details>
      ))}
      {context.isReadOnly ? null : (
        <div className="form-new">
          <input
            aria-label={`${label}: name of a new one`}
            placeholder="name"
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
          <Button
            icon="plus"
            refused={name.trim() === '' ? 'Write a name first.' : isTaken ? 'There is one of this name.' : undefined}
            onPress={() => {
              context.set([...path, name.trim()], {});
              setName('');
            }}
          >
            Add
          </Button>
        </div>
      )}
    </fieldset>
  );
}

/** Pairs of a target and a source, as `assign` has them. */
export function PairsControl(
  props: ControlProps & { targets: readonly string[]; sources: readonly string[] },
): ReactNode {
  const { value, path, context, field, targets, sources } = props;
  const [target, setTarget] = useState('');
  const pairs = Object.entries(isObject(value) ? value : {});
  const id = useId();
  return (
    <fieldset className="form-rows" data-field={path.join('.')}>
      <legend>{labelOf(props.name)}</legend>
      <Hint field={field} fault={context.faults.get(path.join('.'))} />
      {pairs.map(([key, source]) => (
        <div key={key} className="form-pair">
          <label htmlFor={`${id}-${key}`}>
            <Foreign text={key} />
          </label>
          <span aria-hidden="true">←</span>
          <Typed
            id={`${id}-${key}`}
            context={context}
            isMono
            list={sources}
            value={typeof source === 'string' ? source : JSON.stringify(source)}
            read={(text) => text}
            put={(next) => context.set([...path, key], next)}
          />
          {context.isReadOnly ? null : (
            <Button
              kind="quiet"
              icon="close"
              label={`Remove ${key}`}
              onPress={() => {
                const rest = Object.fromEntries(pairs.filter(([each]) => each !== key));
                context.set(path, Object.keys(rest).length === 0 ? undefined : rest);
              }}
            />
          )}
        </div>
      ))}
      {context.isReadOnly ? null : (
        <div className="form-new">
          <input
            className="mono"
            aria-label="Slot of the cast data that is written"
            placeholder="slot, such as lastCheck"
            list={`${id}-targets`}
            value={target}
            onChange={(event) => setTarget(event.target.value)}
          />
          <datalist id={`${id}-targets`}>
            {targets.map((each) => (
              <option key={each} value={each} />
            ))}
          </datalist>
          <Button
            icon="plus"
            refused={target.trim() === '' ? 'Write the slot first.' : undefined}
            onPress={() => {
              context.set(path, { ...(isObject(value) ? value : {}), [target.trim()]: '$.context' });
              setTarget('');
            }}
          >
            Add
          </Button>
        </div>
      )}
    </fieldset>
  );
}
