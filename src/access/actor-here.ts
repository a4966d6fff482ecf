// Who acts in this process, as a value for the operations. It takes longer to find out than a short command takes, so it is
// found out when it is first asked for.
import type { Actor } from './actor.ts';
import { attemptIn } from './attempt.ts';
import { isAgent } from './is-agent.ts';
import { isServed } from './served-by.ts';
import { shownToken } from './shown-token.ts';
import { lookUp, NOBODY } from './who-acts.ts';

type Where = { readonly env: NodeJS.ProcessEnv; readonly stateDir: string };

/** `shown` is the token that the process was given, if any. */
export function actorHere({ env, stateDir }: Where, shown: string | null = shownToken()): Actor {
  let name: string | null = null;
  let kind: Actor['kind'] | null = null;
  const actor: Actor = {
    get name() {
      name ??= lookUp(env, process.pid, Date.now(), isServed, shown).by;
      return name;
    },
    get kind() {
      kind ??= kindOf(actor.name, env, stateDir);
      return kind;
    },
    // What the role of a shown token may do is asked where the token is shown.
    role: null,
    attempt: attemptIn(env, stateDir),
  };
  return actor;
}

/** The holder of a token is the person that the token was made for. */
function kindOf(name: string, env: NodeJS.ProcessEnv, stateDir: string): Actor['kind'] {
  if (name.startsWith('agent:')) return 'agent';
  if (name.startsWith('token:') && name !== NOBODY) return 'person';
  return isAgent(env, stateDir) ? 'agent' : 'person';
}
