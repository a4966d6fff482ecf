// Parts of every view: an entry with the members of its fact next to its own, and a text that may be a digest to fetch.
import type { Entry, Fact } from '../../kernel/fact.ts';

export type LoggedFact = Omit<Entry, 'fact'> & Fact & { readonly leaf?: string };

export function flat({ v, seq, at, clock, ranMs, prev, by, fact }: Entry, leaf?: string): LoggedFact {
  const time = { at, ...(clock === undefined ? {} : { clock }), ...(ranMs === undefined ? {} : { ranMs }) };
  return { seq, ...time, by, v, prev, ...(leaf === undefined ? {} : { leaf }), ...fact };
}

export type Text =
  | string
  | {
      readonly digest: string;
      /** The entry that it belongs to. */
      readonly seq: number;
      readonly bytes: number;
      /** How it begins. */
      readonly preview: string;
    };

/** All that is here of a text. */
export function textHere(text: Text): string {
  return typeof text === 'string' ? text : `${text.preview}…`;
}
