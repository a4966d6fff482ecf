// Who calls a server of ours: what the token of a caller admits to, as which actor a call runs, and how a refused caller is
// named in the log.
import { hash, timingSafeEqual } from 'node:crypto';
import type { Denied, Verdict } from '../kernel/verdict.ts';
import type { Actor, PersonProof } from './actor.ts';
import { type Act, mayDo, type Role } from './role.ts';
import { admitToken } from './tokens.ts';
import { ACTS_FOR, NOBODY } from './who-acts.ts';

/** `token` is the name of the token that the caller showed; null for the server's own token and for a session of its page. */
export type ServerCaller = {
  readonly name: string;
  readonly token: string | null;
  readonly role: Role;
  /** Of a session: what shows that a person opened it. */
  readonly proof?: PersonProof;
};

/** Why a server cannot start with the token in its environment, or null. An agent has no role: its tools are limited. */
export function refusalOfStart(env: NodeJS.ProcessEnv, shown: string | null, here: Actor, act: Act): Denied | null {
  if (shown !== null && here.kind !== 'agent') {
    const admitted = admitToken(env, shown, Date.now());
    if (!admitted.ok) return admitted.verdict;
  }
  const may = here.role === null ? null : mayDo(here.role, act, '`mcp`');
  return may === null || may.allow ? null : may;
}

/** Whether the token of the server is good for a decision now. It may expire or be revoked at any time. */
export function mayDecideBy(env: NodeJS.ProcessEnv, shown: string): Verdict {
  const admitted = admitToken(env, shown, Date.now());
  return admitted.ok ? mayDo(admitted.value.role, 'decide', 'a decision') : admitted.verdict;
}

/** The caller that shows a token: the server's own one stands for the actor who started it. */
export function callerWith(env: NodeJS.ProcessEnv, here: Actor, own: string, shown: string): ServerCaller | Denied {
  const digest = (text: string) => hash('sha256', text, 'buffer');
  // Takes as long for a wrong token as for the right one.
  if (timingSafeEqual(digest(shown), digest(own))) return { name: here.name, token: null, role: 'admin' };
  const admitted = admitToken(env, shown, Date.now());
  if (!admitted.ok) return admitted.verdict;
  const { name: token, role } = admitted.value;
  return { name: `token:${token}`, token, role };
}

/** The caller acts under the name of its token. If an agent started the server, that agent acts. */
export function actorCalling({ name, token, role, proof }: ServerCaller, here: Actor): Actor {
  if (proof) return { name, kind: 'person', role, attempt: null, proof };
  if (here.kind === 'agent' || here.name === name) return here;
  // A process that is started for the caller acts for the same token.
  const env = token === null ? {} : { [ACTS_FOR]: token };
  return { name, kind: 'person', role, attempt: null, env };
}

/** Who was refused a tool; for an agent, also which tool. */
export function refusedCaller({ code, details }: Denied, { name: who, kind }: Actor) {
  if (code !== 'APPROVER_IS_AGENT') return { who };
  const what = typeof details.tool === 'string' ? { what: details.tool } : {};
  return { who: kind === 'agent' ? who : 'agent:unknown', ...what };
}

/** Who was refused a connection: named by the token that was shown, if it was a token once. */
export function refusedStranger({ code, details }: Denied): string {
  if (code === 'APPROVER_IS_AGENT') return 'agent:unknown';
  return typeof details.token === 'string' ? `token:${details.token}` : NOBODY;
}
