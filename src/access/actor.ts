// Who acts, and what it may do. A skin makes the `Actor` once and passes it on; no operation remembers or guesses it. What the role of
// a token allows and which decisions need proof of a person is here as well. The operations say what only a person may do
// (`peopleOnly`). The log itself refuses what belongs to the record.

import { allow, type Denied, deny, type Verdict } from '../kernel/verdict.ts';
import type { Attempt } from './attempt.ts';

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

/** Starting agents decides nothing about them, and timers do it. A process is not suspected only because an agent runs too. */
const FOR_TIMERS: readonly string[] = ['cast', 'demo', 'serve', 'agents test'];

/**
 * Decisions about agents, by command. They need proof of a person: a token, or a terminal older than the agents. With `terminal`,
 * an older session without a terminal is not enough. With `cast`, only the attempts of that cast count; the command asks once
 * it knows the cast.
 */
const DECISIONS: Readonly<Record<string, { readonly terminal?: true; readonly cast?: true }>> = {
  approve: { terminal: true, cast: true },
  reject: { terminal: true, cast: true },
  answer: { terminal: true, cast: true },
  decide: { terminal: true, cast: true },
  retry: { terminal: true, cast: true },
  drop: { terminal: true, cast: true },
  'registry release': { terminal: true },
  'registry accept': { terminal: true },
  budget: { cast: true },
  revive: { cast: true },
  unhold: {},
  'token create': {},
  'token list': {},
  'token revoke': {},
  'registry lock': {},
  'registry import': {},
  'context set': {},
  'context revert': {},
  'memory accept': {},
  'memory drop': {},
};

/** The proof that a command needs, or null if it decides nothing about agents. */
export function proofFor(form: string): { readonly needsTerminal: boolean; readonly isAboutCast: boolean } | null {
  const row = Object.hasOwn(DECISIONS, form) ? DECISIONS[form] : undefined;
  return row ? { needsTerminal: row.terminal === true, isAboutCast: row.cast === true } : null;
}

/** Whether a timer of the system may use a form. */
export function isForTimers(form: string): boolean {
  return FOR_TIMERS.includes(form);
}

export const STARTED_BY_AGENT =
  'this process was started by an agent of a cast, or by a checker or set-up step of another baton command';

/** The refusal for an agent. */
export function refusalToAgent(may: string, details: Denied['details'], why = STARTED_BY_AGENT): Denied {
  return deny('APPROVER_IS_AGENT', `only a person may ${may}; ${why}`, details);
}

// Roles. Each role includes the rights of the roles before it.

export const ROLES = ['viewer', 'operator', 'approver', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** Each kind of act, with the lowest role that may do it. */
const NEEDS = {
  /** Look at casts, tasks, locks and the log. */
  look: 'viewer',
  /** Start and continue casts, and work on the ledger. */
  steer: 'operator',
  /** Decide what waits for a person. */
  decide: 'approver',
  /** Manage agents, tokens and retention. */
  govern: 'admin',
} as const satisfies Record<string, Role>;
export type Act = keyof typeof NEEDS;

export function isRole(word: unknown): word is Role {
  return (ROLES as readonly unknown[]).includes(word);
}

/** The lowest role that may do it. */
export function roleFor(act: Act): Role {
  return NEEDS[act];
}

/** The act of a command, by its first word. An unlisted form is for administrators only. */
export function actOfForm(acts: Act | Readonly<Record<string, Act>>, word = ''): Act {
  if (typeof acts === 'string') return acts;
  return (Object.hasOwn(acts, word) ? acts[word] : acts['']) ?? 'govern';
}

/** Whether a role is enough. `what` names the act for people. */
export function mayDo(role: Role, act: Act, what: string): Verdict {
  const needed = NEEDS[act];
  if (ROLES.indexOf(role) >= ROLES.indexOf(needed)) return allow();
  const reason = `${what} needs the role ${needed}, and this token has the role ${role}; use a token with that role`;
  return deny('ROLE_TOO_LOW', reason, { role, needed });
}
