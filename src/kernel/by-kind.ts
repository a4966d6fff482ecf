// A table with one function for each kind of fact or input. A new kind does not compile before it has a row.

type Kinded = { readonly kind: string };

/** `Before` and `After` are the arguments around the fact or input. */
export type ByKind<T extends Kinded, Before extends unknown[], After extends unknown[] = [], Answer = void> = {
  readonly [K in T['kind']]: (...args: [...Before, Extract<T, { readonly kind: K }>, ...After]) => Answer;
};

/** The row for one fact or input. A fact of a newer version has none, and changes nothing. */
export function rowFor<T extends Kinded, Before extends unknown[], After extends unknown[], Answer>(
  table: ByKind<T, Before, After, Answer>,
  { kind }: T,
): ((...args: [...Before, T, ...After]) => Answer) | undefined {
  if (!Object.hasOwn(table, kind)) return undefined;
  return table[kind as T['kind']] as (...args: [...Before, T, ...After]) => Answer;
}
