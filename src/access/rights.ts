// Who may do what: what the role of a token allows, and which decisions need proof that a person makes them. The operations say
// what only a person may do (`peopleOnly`). A refusal that belongs to the record is made by the log itself.
import { allow, type Denied, deny, type Verdict } from '../kernel/verdict.ts';

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
