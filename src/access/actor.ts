// Who acts. A skin makes this value once and passes it on. No operation remembers or guesses it. Here is also the token that a
// script shows in its environment.
import type { Attempt } from './attempt.ts';
import type { Role } from './rights.ts';
import { proofFor, STARTED_BY_AGENT } from './rights.ts';

export type Actor = {
  /** The name recorded in the log: `user:ann`, `agent:Socket-4@<attempt>`, `token:ci`. */
  readonly name: string;
  readonly kind: 'person' | 'agent' | 'service';
  /** The rights of a person or service. Null for an agent, which has the rights of its attempt. */
  readonly role: Role | null;
  /** The attempt that the environment names, or null outside a cast. */
  readonly attempt: Attempt | null;
  /** Looks for proof that a person decides. Without it, `kind` is enough. */
  readonly proof?: PersonProof;
  /** Variables for a process that acts for this actor. */
  readonly env?: Readonly<Record<string, string>>;
};

/** Returns why a decision does not count as a person's. `form` is the command or operation, `cast` the cast in question. */
export type PersonProof = (form: string, cast: string | null, program: string) => string | null;

/** The actor of a read-only command. It is not recorded, so its slow lookup is skipped. */
export function lookerWith(attempt: Attempt | null): Actor {
  return { name: 'reader', kind: 'person', role: null, attempt };
}

/** Why a decision does not count as a person's, or null if it does. */
export function whyNotPerson(actor: Actor, form: string, cast: string | null, program: string): string | null {
  // If the cast is not known yet, the proof is checked later.
  const isEarly = cast === null && proofFor(form)?.isAboutCast === true;
  if (actor.proof && !isEarly) return actor.proof(form, cast, program);
  return actor.kind === 'agent' ? STARTED_BY_AGENT : null;
}

/** The variable with a person's token. It is removed at once, so that no started program inherits it. */
export const TOKEN_VARIABLE = 'BATON_TOKEN';

/** The token removed from each environment. */
const taken = new WeakMap<NodeJS.ProcessEnv, string>();

/** The token, or null if there is none. */
export function shownToken(env: NodeJS.ProcessEnv = process.env): string | null {
  const shown = env[TOKEN_VARIABLE];
  delete env[TOKEN_VARIABLE];
  if (shown && !taken.has(env)) taken.set(env, shown);
  return taken.get(env) ?? null;
}
