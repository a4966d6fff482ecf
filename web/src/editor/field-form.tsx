// Forms made from the field tables of the format: every field that the checks know has its control here, with what it means.

import { type ReactNode, useState } from 'react';
import type { ValuePath } from '../../../src/editor/document.ts';
import type { Field, ObjectField } from '../../../src/kernel/fields.ts';
import { isObject, type Json, type JsonObject } from '../../../src/kernel/json.ts';
import { Button } from '../parts/button.tsx';
import { Check } from '../parts/fields.tsx';
import { Foreign } from '../parts/text.tsx';
import { authoredFields } from './form-fields.ts';
import { type ControlProps, type FormContext, Hint, Labelled, labelOf, readJson, Typed } from './typed.tsx';

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
