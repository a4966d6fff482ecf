// Who acts. A skin makes the value once and passes it along; no operation remembers or guesses it.
import type { Attempt } from './attempt.ts';
import { proofFor, STARTED_BY_AGENT } from './people-only.ts';
import type { Role } from './role.ts';

export type Actor = {
  /** The name recorded in the log: `user:ann`, `agent:Socket-4@<attempt>`, `token:ci`. */
  readonly name: string;
  readonly kind: 'person' | 'agent' | 'service';
  /** What a person or service may do; null for an agent, which has the rights of its attempt. */
  readonly role: Role | null;
  /** The attempt that the actor's environment names; null outside of a cast. */
  readonly attempt: Attempt | null;
  /** Looks for what shows that a person decides. Without it, the kind of the actor is enough. */
  readonly proof?: PersonProof;
  /** By these variables a process that acts for the actor says so. */
  readonly env?: Readonly<Record<string, string>>;
};

/** `form` is the command or operation, `cast` the one that is decided about. Answers why it does not count as a person's. */
export type PersonProof = (form: string, cast: string | null, program: string) => string | null;

/** Who only looks. A look is not recorded, and finding out who looks takes longer than most looks. */
export function lookerWith(attempt: Attempt | null): Actor {
  return { name: 'reader', kind: 'person', role: null, attempt };
}

/** Why a decision does not count as a person's, in words; null where it does. */
export function whyNotPerson(actor: Actor, form: string, cast: string | null, program: string): string | null {
  // Which cast it is about is known later, and the proof is looked for then.
  const isEarly = cast === null && proofFor(form)?.isAboutCast === true;
  if (actor.proof && !isEarly) return actor.proof(form, cast, program);
  return actor.kind === 'agent' ? STARTED_BY_AGENT : null;
}
