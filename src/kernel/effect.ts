// Work that is owed to a cast. Derived from its state, never stored: a restart owes exactly what a step owes.
export type Effect =
  | { readonly kind: 'prepare'; readonly cast: string; readonly turn: number; readonly attempt: number }
  | { readonly kind: 'dispatch'; readonly cast: string; readonly turn: number; readonly attempt: number }
  | { readonly kind: 'verify'; readonly cast: string; readonly turn: number; readonly attempt: number }
  | { readonly kind: 'merge'; readonly cast: string; readonly turn: number; readonly attempt: number }
  | { readonly kind: 'timer'; readonly cast: string; readonly at: number };

/** Names an effect, so that the same owed work is started once. */
export function keyOf(effect: Effect): string {
  return effect.kind === 'timer' ? `timer:${effect.at}` : `${effect.kind}:${effect.turn}.${effect.attempt}`;
}
