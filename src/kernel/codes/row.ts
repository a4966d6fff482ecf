// One row of the code table: what a refusal means, what brings it about, who can mend it, and how.

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
