// What a shipped utility is: a function from its input to the text of its result, or to the reason why there is none.
import type { UtilityMessage } from '../agents/process/utility-protocol.ts';
import { isObject, isText, type JsonObject } from '../kernel/json.ts';

/** The part of a utility's standard input that the shipped ones look at. */
export type ShippedInput = Pick<UtilityMessage, 'cwd' | 'castId' | 'params' | 'state' | 'item'>;

export type UtilityOutcome =
  | { readonly ok: true; readonly output: string }
  | { readonly ok: false; readonly reason: string };

export type Utility = (input: ShippedInput) => Promise<UtilityOutcome>;

export function give(result: JsonObject): UtilityOutcome {
  return { ok: true, output: JSON.stringify(result) };
}

export function refuse(reason: string): UtilityOutcome {
  return { ok: false, reason };
}

/** The title of the current work item on one line, or null when there is none. */
export function titleOf({ item }: ShippedInput): string | null {
  const title = isObject(item) ? item.title : null;
  return isText(title) ? title.replace(/[\s\p{Cc}]+/gu, ' ').trim() : null;
}
