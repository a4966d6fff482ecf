// The operations as typed functions, made from the fields of the table: for the library in this process, and for the client of a
// server. Types only.
import type { InputOf } from '../app/operation.ts';
import type { FieldsOf, OperationName } from '../app/operations/table.ts';
import type { CastView } from '../app/views/shown-cast.ts';
import type { Why } from '../app/views/why/why.ts';
import type { CastSummary } from '../kernel/cast/summary.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { Denied } from '../kernel/verdict.ts';

/** A verdict whose details have a known shape when it allows. */
export type OperationAnswer<Details> =
  | { readonly allow: true; readonly code: 'OK'; readonly reason: string; readonly details: Details }
  | Denied;

/** A cast, and whether it has stopped: it is over, paused, or waits for a person. */
export type ShownCast = CastView & { readonly stands: boolean };

/** Keep the fence: later calls about the task need it. */
export type ClaimedTask = {
  readonly task: string;
  readonly owner: string;
  readonly fence: number;
  readonly run: string;
};

/** The details of answers that have a type of their own. Those of any other operation are an object of JSON. */
type Details = {
  'cast.start': ShownCast;
  'cast.show': ShownCast;
  'cast.wait': ShownCast;
  'cast.watch': ShownCast;
  'cast.answer': ShownCast;
  'cast.continue': ShownCast;
  'cast.list': { readonly casts: readonly CastSummary[]; readonly count: number };
  'cast.why': Why;
  'cast.abort': { readonly casts: readonly string[] };
  'task.list': { readonly tasks: readonly JsonObject[] };
  'task.claim': JsonObject & ClaimedTask;
  'task.next': JsonObject & ClaimedTask;
};
export type DetailsOf<N extends OperationName> = N extends keyof Details ? Details[N] : JsonObject;

export type OperationInput<N extends OperationName> = InputOf<FieldsOf<N>>;
/** The input may be left out where no field is required. */
export type Arguments<N extends OperationName, Options> =
  Record<string, never> extends OperationInput<N>
    ? [input?: OperationInput<N>, options?: Options]
    : [input: OperationInput<N>, options?: Options];
type Method<N extends OperationName, Options> = (
  ...given: Arguments<N, Options>
) => Promise<OperationAnswer<DetailsOf<N>>>;

type Group = OperationName extends infer N ? (N extends `${infer G}.${string}` ? G : never) : never;
type InGroup<G extends string, Options> = {
  readonly [N in OperationName as N extends `${G}.${infer Verb}` ? Verb : never]: Method<N, Options>;
};
/** One method for each operation; the dots of its name are the dots of the method. */
export type Methods<Options> = {
  readonly [N in OperationName as N extends `${string}.${string}` ? never : N]: Method<N, Options>;
} & {
  readonly [G in Group]: InGroup<G, Options>;
};
