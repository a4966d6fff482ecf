// The fields of an answer whose value an edge may ask for. Only a field that the socket's contract declares counts: one of its
// JSON Schema, one of a dialect with fields of its own, or one that a utility is known to return.
import { ANSWER_FIELDS } from '../capabilities.ts';
import { given, isObject, type Json, type JsonObject, listAt, objectAt, stringAt } from '../json.ts';
import { type EdgeCondition, type FieldCondition, isScalar, type Scalar } from './config.ts';
import { contractNameOf, isGenerator, typeOfMateria } from './issue.ts';

type AnswerField = {
  /** The object of the answer that holds it, where it is not at the top. */
  readonly section?: string;
  /** All values that it can have, where they are known. */
  readonly values?: readonly Scalar[];
  /** The JSON types that it can have, where they are known. */
  readonly types?: readonly string[];
  /** Whether every answer has it. */
  readonly required?: boolean;
};

/** By name; null where the schema is still the name of a file, so that nothing is known yet. */
export type AnswerFields = Readonly<Record<string, AnswerField>>;

/** What utilities return, by their names. */
export type KnownFields = Readonly<Record<string, AnswerFields>>;

export function answerFieldsOf(socket: JsonObject, materia: JsonObject, known: KnownFields = {}): AnswerFields | null {
  const schema = given(socket, 'schema') ?? given(materia, 'schema');
  const dialect = contractNameOf(socket, materia);
  // The list of a generator is another payload than a report.
  const own = isGenerator(materia) ? {} : (ANSWER_FIELDS[dialect] ?? {});
  if (schema !== undefined) return isObject(schema) ? { ...own, ...fieldsOfSchema(schema) } : null;
  return typeOfMateria(materia) === 'utility' ? { ...own, ...fieldsOfUtility(materia, known) } : own;
}

function fieldsOfSchema(schema: JsonObject): AnswerFields {
  const required = listAt(schema, 'required');
  const fields = Object.entries(objectAt(schema, 'properties')).map(([name, written]): [string, AnswerField] => {
    const field = isObject(written) ? written : {};
    const [one, some, type] = [given(field, 'const'), given(field, 'enum'), given(field, 'type')];
    const values = one === undefined ? some : [one];
    const types = typeof type === 'string' ? [type] : type;
    return [
      name,
      {
        ...(Array.isArray(values) ? { values: values.filter(isScalar) } : {}),
        ...(Array.isArray(types) ? { types: types.filter((each) => typeof each === 'string') } : {}),
        required: required.includes(name),
      },
    ];
  });
  return Object.fromEntries(fields);
}

function fieldsOfUtility(materia: JsonObject, known: KnownFields): AnswerFields {
  const params = objectAt(materia, 'params');
  const alias = stringAt(materia, 'utility');
  const fixed = ['output', ...(alias === 'echo' ? ['text', 'message'] : [])]
    .map((name) => given(params, name))
    .find((value) => value !== undefined);
  if (isObject(fixed)) {
    return Object.fromEntries(
      Object.entries(fixed).map(([name, value]) => [name, { values: isScalar(value) ? [value] : [], required: true }]),
    );
  }
  const name = alias ?? stringAt(objectAt(materia, 'script'), 'name') ?? '';
  return Object.hasOwn(known, name) ? (known[name] ?? {}) : {};
}

/** Whether a field can have another value than these. A boolean has only two. */
function canBe({ values, types }: AnswerField, value: Scalar): boolean {
  if (values) return values.includes(value);
  if (!types) return true;
  if (typeof value === 'number')
    return types.includes('number') || (types.includes('integer') && Number.isInteger(value));
  return types.includes(typeof value);
}

/** The condition with the place where a dialect keeps its field. */
export function placed(condition: FieldCondition, fields: AnswerFields | null): FieldCondition {
  const section = fields && Object.hasOwn(fields, condition.field) ? fields[condition.field]?.section : undefined;
  return section === undefined ? condition : { ...condition, section };
}

const PAYLOADS_MAX = 1_000;

/**
 * Payloads that lead every way the conditions can tell apart: each field in turn missing, with each value that is asked for, and
 * with another one. Null where there are too many to try.
 */
export function payloadsFor(conditions: readonly EdgeCondition[], fields: AnswerFields | null): JsonObject[] | null {
  let payloads: JsonObject[] = [{}];
  const asked = Map.groupBy(conditions.filter(isFieldCondition), ({ field }) => field);
  for (const [name, group] of asked) {
    const field = (fields && Object.hasOwn(fields, name) ? fields[name] : undefined) ?? {};
    const choices: (Scalar | undefined)[] = [...new Set([...(field.values ?? []), ...group.flatMap(valuesIn)])];
    const possible = choices.filter((value) => value !== undefined && canBe(field, value));
    if (!field.values && isOpen(field, possible)) possible.push(OTHER);
    if (field.required !== true) possible.push(undefined);
    if (payloads.length * possible.length > PAYLOADS_MAX) return null;
    const section = group[0]?.section;
    payloads = payloads.flatMap((payload) => possible.map((value) => withField(payload, name, section, value)));
  }
  return payloads;
}

/** A value that no real field has. It represents every value that no condition names. */
export const OTHER = '\u0000another value';

/** Whether a field can have a value besides these: a boolean has only two. */
function isOpen({ types }: AnswerField, values: readonly unknown[]): boolean {
  if (types?.length !== 1 || types[0] !== 'boolean') return true;
  return !(values.includes(true) && values.includes(false));
}

function withField(
  payload: JsonObject,
  name: string,
  section: string | undefined,
  value: Scalar | undefined,
): JsonObject {
  if (value === undefined) return payload;
  if (section === undefined) return { ...payload, [name]: value };
  return { ...payload, [section]: { ...objectAt(payload, section), [name]: value } };
}

export function isFieldCondition(condition: EdgeCondition): condition is FieldCondition {
  return typeof condition === 'object';
}

/** The values that a condition names. */
function valuesIn(condition: FieldCondition): readonly Scalar[] {
  if ('in' in condition) return condition.in;
  return ['is' in condition ? condition.is : condition.isNot];
}

const OPERATORS = ['is', 'isNot', 'in'] as const;

/** A condition as it is written, or what is wrong with it. */
export function readFieldCondition(
  written: JsonObject,
): FieldCondition | { readonly wrong: string; readonly at?: string } {
  const { field } = written;
  const extra = Object.keys(written).find((key) => key !== 'field' && !OPERATORS.some((name) => name === key));
  if (extra !== undefined)
    return { wrong: `${JSON.stringify(extra.slice(0, 60))} is no part of a condition`, at: extra };
  if (typeof field !== 'string' || field.trim() === '') return { wrong: 'it names no field', at: 'field' };
  if (/^\$|[.[\]]/.test(field))
    return { wrong: 'field is the name of one field at the top of the answer, never a path', at: 'field' };
  const named = OPERATORS.filter((name) => given(written, name) !== undefined);
  const [operator] = named;
  if (operator === undefined || named.length > 1) {
    return {
      wrong: `it has ${named.length === 0 ? 'none' : named.join(' and ')} of is, isNot and in, and needs exactly one`,
    };
  }
  const value: Json | undefined = written[operator];
  if (operator === 'in') {
    if (Array.isArray(value) && value.length > 0 && value.every(isScalar)) return { field, in: value };
    return { wrong: 'in is a list of at least one text, number or boolean', at: 'in' };
  }
  if (!isScalar(value)) return { wrong: `${operator} is a text, a number or a boolean`, at: operator };
  return operator === 'is' ? { field, is: value } : { field, isNot: value };
}
