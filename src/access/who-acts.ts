// Who acts, as the log names him: `agent:<socket>@<attempt>` for whatever an attempt started, `token:<name>` for what the
// server does for the holder of a token, else the user of the operating system. Whoever stands below an attempt is that
// attempt, whatever else he shows.

import { userInfo } from 'node:os';
import { isInsideAttempt } from '../agents/inside-attempt.ts';
import { isObject, type Json } from '../kernel/json.ts';
import { castLines } from '../log/sqlite/cast-lines.ts';
import { logFileIn } from '../log/sqlite/log.ts';
import type { Actor } from './actor.ts';
import { type AttemptAbove, attemptAbove } from './attempt-above.ts';
import { isAgent } from './is-agent.ts';
import { isServed } from './served-by.ts';
import { admitToken, type Token, tokenNamed, whyUnusable } from './tokens.ts';

/** Names the token for which the server started this process. Only its name: what a token proves was proved to the server. */
export const ACTS_FOR = 'BATON_ACTS_FOR';

/** Whoever says that he acts for a token and has shown none. */
export const NOBODY = 'token:unknown';

export type Identity = Pick<Actor, 'name' | 'role'>;

export function lookUp(
  env: NodeJS.ProcessEnv,
  pid: number,
  now: number,
  served = isServed,
  shown: string | null = null,
): Identity {
  const attempt = attemptAbove(pid);
  if (attempt) return { name: `agent:${socketOf(attempt) ?? 'unknown'}@${nameOf(attempt)}`, role: null };
  const name = env[ACTS_FOR];
  const isNamed = name !== undefined && name !== '';
  // Something says that an agent is behind it, and which one cannot be established. What a server does for whoever showed
  // it a token is not held against that server's age.
  if (isNamed || shown !== null ? isInsideAttempt(env, pid) : isAgent(env, null, pid))
    return { name: 'agent:unknown', role: null };
  if (!isNamed && shown !== null) {
    const admitted = admitToken(env, shown, now);
    return admitted.ok ? holder(admitted.value) : { name: NOBODY, role: 'viewer' };
  }
  if (!isNamed) return { name: osUser(), role: 'admin' };
  // Whoever says it and was not started by a server has shown no token.
  const token = served(pid) ? tokenNamed(env, name) : null;
  // Nobody acts for a token that does not exist; what it was started for is then the least that anybody may do.
  if (!token || whyUnusable(token, now)) return { name: NOBODY, role: 'viewer' };
  return holder(token);
}

function holder({ name, role }: Token): Identity {
  return { name: `token:${name}`, role };
}

/** The user as the operating system knows him; by number where it knows no name. */
function osUser(): string {
  try {
    return `user:${userInfo().username}`;
  } catch {
    return `user:${process.getuid?.() ?? 'unknown'}`;
  }
}

function nameOf({ cast, turn, attempt }: AttemptAbove): string {
  return `${cast}-${turn}.${attempt}`;
}

/** The socket of the attempt's turn, as the log of its workspace has it. */
function socketOf({ cast, turn, stateDir }: AttemptAbove): string | null {
  try {
    for (const line of castLines(logFileIn(stateDir), cast)) {
      if (!line.includes('"kind":"turn.started"')) continue;
      const { kind, body } = JSON.parse(line) as { kind?: Json; body?: Json };
      if (kind === 'turn.started' && isObject(body) && body.turn === turn && typeof body.socket === 'string')
        return body.socket;
    }
    return null;
  } catch {
    return null; // The log cannot be read now; whoever writes to it learns why.
  }
}
