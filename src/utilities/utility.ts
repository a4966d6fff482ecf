// A shipped utility: a function from its input to the text of its result, or to the reason why there is none.
import type { UtilityMessage } from '../agents/process/utility-protocol.ts';
import { isObject, isText, type JsonObject } from '../kernel/json.ts';

/** The part of a utility's standard input that shipped utilities read. */
export type ShippedInput = Pick<UtilityMessage, 'cwd' | 'castId' | 'params' | 'state' | 'item'>;

export type UtilityOutcome =
  | { readonly ok: true; readonly output: string }
  | { readonly ok: false; readonly reason: string };

export type Utility = (input: ShippedInput) => Promise<UtilityOutcome>;

export function utilityResult(result: JsonObject): UtilityOutcome {
  return { ok: true, output: JSON.stringify(result) };
}

export function utilityFault(reason: string): UtilityOutcome {
  return { ok: false, reason };
}

/** The title of the current work item on one line, or null. */
export function titleOf({ item }: ShippedInput): string | null {
  const title = isObject(item) ? item.title : null;
  return isText(title) ? title.replace(/[\s\p{Cc}]+/gu, ' ').trim() : null;
}
