// What one socket's contract asks of a payload, worked out once for the reader and the brief: which fields must be there,
// which payload paths `assign` reads, and which extra fields that makes welcome.
import type { Contract } from '../../kernel/dialect.ts';
import { isObject, isString } from '../../kernel/json.ts';
import type { AnswerFields } from '../json-answer.ts';

export type Terms = {
  /** Fields that must be present, in a fixed order: control fields first. */
  readonly required: readonly string[];
  /** Payload paths that must exist, in the order of `assign`, without repetition. */
  readonly paths: readonly Path[];
  /** Fields beyond the contract that an assignment names, or that are required by name. */
  readonly named: ReadonlySet<string>;
  /** Whether extra fields are welcome: an assignment takes the whole payload, or a schema of the user's own judges it. */
  readonly takesAll: boolean;
  /** Whether work items must be exactly a title and a context. */
  readonly strictItems: boolean;
};
export type Path = { readonly source: string; readonly segments: readonly string[] };

const FIELD_ORDER = ['satisfied', 'workItems', 'context'];

export function termsOf(contract: Contract): Terms {
  const sources = [...new Set(Object.values(contract.assign))];
  const paths = sources
    .filter((source) => source.startsWith('$.'))
    .map((source) => ({ source, segments: source.slice(2).split('.') }));
  const wanted = new Set(contract.requires);
  if (contract.generator) wanted.add('workItems');
  const known = FIELD_ORDER.filter((field) => wanted.has(field));
  return {
    required: [...known, ...[...wanted].filter((field) => !FIELD_ORDER.includes(field))],
    paths,
    named: new Set([...wanted, ...paths.map((path) => path.segments[0] ?? '')]),
    takesAll: sources.includes('$') || contract.schema !== null,
    strictItems: contract.generator || !contract.utility,
  };
}

/** Whether a payload takes the field `text`: the socket must assign exactly that. */
export function takesText(terms: Terms): boolean {
  return terms.required.includes('text') || terms.paths.some((path) => path.source === '$.text');
}

/** The members by which an object in a longer text is known as an answer to this contract. */
export function fieldsOf(contract: Contract): AnswerFields {
  const terms = termsOf(contract);
  const { properties, required } = contract.schema ?? {};
  const ofSchema = [
    ...(isObject(properties) ? Object.keys(properties) : []),
    ...(Array.isArray(required) ? required.filter(isString) : []),
  ];
  const own = ['satisfied', 'workItems', 'context', 'event', ...(contract.utility ? ['state'] : [])];
  return {
    names: new Set([...own, ...terms.named, ...ofSchema]),
    any: terms.takesAll && ofSchema.length === 0,
  };
}
