// What the holder of a token may do. Every role may do what the ones before it may.
import type { Verdict } from '../kernel/verdict.ts';
import { allow, deny } from '../kernel/verdict.ts';

export const ROLES = ['viewer', 'operator', 'approver', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** The kinds of things that can be done, each with the least role that may. */
const NEEDS = {
  /** Look at casts, tasks, locks and the log. */
  look: 'viewer',
  /** Start casts and carry them on, and work on the ledger. */
  steer: 'operator',
  /** Decide what waits for a person. */
  decide: 'approver',
  /** Say who exists, who may do what, and what is kept. */
  govern: 'admin',
} as const satisfies Record<string, Role>;
export type Act = keyof typeof NEEDS;

export function isRole(word: unknown): word is Role {
  return (ROLES as readonly unknown[]).includes(word);
}

/** The least role that may. */
export function roleFor(act: Act): Role {
  return NEEDS[act];
}

/** What a form of a command does, by its first word. A form that nobody listed is for administrators only. */
export function actOfForm(acts: Act | Readonly<Record<string, Act>>, word = ''): Act {
  if (typeof acts === 'string') return acts;
  return (Object.hasOwn(acts, word) ? acts[word] : acts['']) ?? 'govern';
}

/** Whether a role is enough. `what` names what was asked for, for people. */
export function mayDo(role: Role, act: Act, what: string): Verdict {
  const needed = NEEDS[act];
  if (ROLES.indexOf(role) >= ROLES.indexOf(needed)) return allow();
  const reason = `${what} needs the role ${needed}, and this token has the role ${role}; use a token with that role`;
  return deny('ROLE_TOO_LOW', reason, { role, needed });
}
