// One row of the code table: what a code means, what causes it, and how to fix it.

/** When trying again can help: after a repair of the payload, later as it is, after a person acted, or never. */
export type Retry = 'repaired' | 'later' | 'person' | 'never';

export type CodeRow = {
  readonly http: number;
  readonly retry: Retry;
  readonly means: string;
  /** What the sender did, or what state of things, produces it. */
  readonly cause: string;
  readonly fix: string;
};

/** A row written as a line of a table. */
export function row(http: number, retry: Retry, means: string, cause: string, fix: string): CodeRow {
  return { http, retry, means, cause, fix };
}

/** The one code of an answer that allows. */
export const ALLOWED_CODES = {
  OK: {
    http: 200,
    retry: 'never',
    means: 'the answer is yes: what was asked about keeps its contract, or may be done',
    cause: 'every check that applies was made and none of them refused',
    fix: 'nothing: go on; details.warnings may still hold remarks worth reading',
  },
} as const satisfies Record<string, CodeRow>;
