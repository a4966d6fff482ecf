// The list of everything wrong with one payload. It is bounded, because a payload can hold more mistakes than anyone reads.
import type { JsonObject } from '../../kernel/json.ts';

export type Issue = { readonly path: string; readonly message: string; readonly expected?: string };

const LISTED_MAX = 200;
const KEY_SHOWN_MAX = 60;

export class Issues {
  readonly listed: Issue[] = [];
  count = 0;

  add(path: string, message: string, expected?: string): void {
    this.count += 1;
    if (this.listed.length === LISTED_MAX) return;
    this.listed.push(expected === undefined ? { path, message } : { path, message, expected });
  }

  has(path: string): boolean {
    return this.listed.some((issue) => issue.path === path);
  }

  /** The details of a refusal; `omitted` says how many issues are not listed. */
  details(): JsonObject {
    const omitted = this.count - this.listed.length;
    return omitted === 0 ? { issues: this.listed } : { issues: this.listed, omitted };
  }
}

/** A path one key deeper. Keys come from agents: they are escaped onto one line and cut. */
export function at(path: string, key: string | number): string {
  if (typeof key === 'number') return `${path}.${key}`;
  const escaped = JSON.stringify(key).slice(1, -1);
  return `${path}.${escaped.length > KEY_SHOWN_MAX ? `${escaped.slice(0, KEY_SHOWN_MAX)}…` : escaped}`;
}
