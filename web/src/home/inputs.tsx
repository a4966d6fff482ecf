// The values that a loadout declares as its inputs, each as the field that fits its schema. The server checks them; what it refuses is
// shown at the field.
import type { ReactNode } from 'react';
import type { Json, Refusal } from '../api.ts';
import { AreaField, Choice, TextField } from '../parts/fields.tsx';
import { sentence } from '../parts/verdict.tsx';

/** As `loadout.list` answers it. */
export type LoadoutInput = {
  readonly name: string;
  readonly isRequired: boolean;
  readonly default?: Json;
  readonly schema: { readonly [member: string]: Json };
};
/** What was typed, by the name of the input. */
export type Typed = Readonly<Record<string, string>>;

export function InputFields({
  inputs,
  typed,
  faults,
  onChange,
}: {
  inputs: readonly LoadoutInput[];
  typed: Typed;
  faults: ReadonlyMap<string, string>;
  onChange: (typed: Typed) => void;
}): ReactNode {
  if (inputs.length === 0) return null;
  return (
    <fieldset className="composer-inputs">
      <legend>Inputs of the team</legend>
      {inputs.map((input) => (
        <InputField
          key={input.name}
          input={input}
          value={typed[input.name] ?? ''}
          fault={faults.get(input.name)}
          onChange={(value) => onChange({ ...typed, [input.name]: value })}
        />
      ))}
    </fieldset>
  );
}

function InputField({
  input: { name, isRequired, default: usual, schema },
  value,
  fault,
  onChange,
}: {
  input: LoadoutInput;
  value: string;
  fault: string | undefined;
  onChange: (value: string) => void;
}): ReactNode {
  const means = typeof schema.description === 'string' ? sentence(schema.description) : '';
  const label = isRequired ? `${name}, required` : name;
  const shown = { label, value, onChange, isRequired, fault, ...(means === '' ? {} : { hint: means }) };
  const placeholder = isRequired ? '' : textOf(usual ?? null);
  const choices = choicesOf(schema);
  if (choices !== null) {
    const none = isRequired ? 'Choose one' : `${wordOf(usual ?? null)}, the default`;
    const others = choices.filter((each) => isRequired || textOf(each) !== textOf(usual ?? null));
    return <Choice {...shown} of={[['', none], ...others.map((each) => [textOf(each), wordOf(each)] as const)]} />;
  }
  if (schema.type === 'number' || schema.type === 'integer')
    return <TextField {...shown} type="number" isSigned placeholder={placeholder} />;
  if (schema.type === 'array' || schema.type === 'object')
    return (
      <AreaField
        {...shown}
        rows={3}
        isMono
        placeholder={placeholder || (schema.type === 'array' ? '["src", "docs"]' : '{ "name": "value" }')}
      />
    );
  return <TextField {...shown} placeholder={placeholder} />;
}

function choicesOf({ enum: choices, type }: LoadoutInput['schema']): readonly Json[] | null {
  if (Array.isArray(choices)) return choices;
  return type === 'boolean' ? [true, false] : null;
}

function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const WORDS = new Map<Json, string>([
  [true, 'yes'],
  [false, 'no'],
  [null, 'none'],
  ['', 'empty'],
]);
function wordOf(value: Json): string {
  return WORDS.get(value) ?? textOf(value);
}

/** `NAME=VALUE` each, as `cast.start` reads them; what was left empty has its default. */
export function givenInputs(inputs: readonly LoadoutInput[], typed: Typed): readonly string[] {
  return inputs.flatMap(({ name }) => {
    const value = typed[name] ?? '';
    return value.trim() === '' ? [] : [`${name}=${value}`];
  });
}

/** The first required input without a value. */
export function missingInput(inputs: readonly LoadoutInput[], typed: Typed): string | null {
  return inputs.find(({ name, isRequired }) => isRequired && (typed[name] ?? '').trim() === '')?.name ?? null;
}

/** What a refusal says of each input, by its name; empty where it is about something else. */
export function faultsIn(refusal: Refusal | null, inputs: readonly LoadoutInput[]): ReadonlyMap<string, string> {
  const faults = new Map<string, string>();
  const issues = Array.isArray(refusal?.details.issues) ? (refusal.details.issues as readonly unknown[]) : [];
  for (const issue of issues) {
    const { code, path, message } = issue as { code?: unknown; path?: unknown; message?: unknown };
    const name = String(path).replace(/^inputs\./, '');
    const isOurs = code === 'INPUT_INVALID' && inputs.some((input) => input.name === name);
    if (isOurs) faults.set(name, [faults.get(name), sentence(String(message))].filter(Boolean).join(' '));
  }
  return faults;
}
