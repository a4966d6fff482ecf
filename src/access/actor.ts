// Who acts. A skin makes the value once and passes it along; no operation remembers or guesses it.

import type { Attempt } from './attempt.ts';
import type { Role } from './role.ts';

export type Actor = {
  /** The name recorded in the log: `user:ann`, `agent:Socket-4@<attempt>`, `token:ci`. */
  readonly name: string;
  readonly kind: 'person' | 'agent' | 'service';
  /** What a person or service may do; null for an agent, which has the rights of its attempt. */
  readonly role: Role | null;
  /** The attempt that the actor's environment names; null outside of a cast. */
  readonly attempt: Attempt | null;
};

/** Who only looks. A look is not recorded, and finding out who looks takes longer than most looks. */
export function lookerWith(attempt: Attempt | null): Actor {
  return { name: 'reader', kind: 'person', role: null, attempt };
}
