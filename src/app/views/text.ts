// A text in a view. A long one may be there by its digest: it is fetched when somebody opens it.
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
