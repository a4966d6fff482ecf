// Which attempt of a cast we were started by, as our environment says.
import { join } from 'node:path';

export type Attempt = {
  readonly cast: string;
  readonly turn: number;
  readonly attempt: number;
  readonly fence: number | null;
  /** The task of the ledger that it works on. */
  readonly task: string | null;
  /** The folder that its engine and its agent share. */
  readonly dir: string;
};

type Variables = Readonly<Record<string, string | undefined>>;

/** Null where the environment names no attempt, or something that is none. */
export function attemptIn(env: Variables, stateDir: string): Attempt | null {
  const { BATON_CAST: cast = '', BATON_ATTEMPT: number = '', BATON_FENCE: fence = '', BATON_TASK: task } = env;
  const [, turn, attempt] = /^([1-9][0-9]{0,8})\.([1-9][0-9]{0,8})$/.exec(number) ?? [];
  // The name becomes a part of a path.
  if (!/^[0-9A-Za-z][0-9A-Za-z_-]{0,99}$/.test(cast) || turn === undefined || attempt === undefined) return null;
  return {
    cast,
    turn: Number(turn),
    attempt: Number(attempt),
    fence: /^[0-9]{1,15}$/.test(fence) ? Number(fence) : null,
    task: task || null,
    dir: join(stateDir, 'attempts', `${cast}-${turn}.${attempt}`),
  };
}
