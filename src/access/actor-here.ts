// Who acts in this process, as a value for the operations. It takes longer to find out than a short command takes, so it is
// found out when it is first asked for.
import { isInsideAttempt } from '../agents/inside-attempt.ts';
import type { Actor, PersonProof } from './actor.ts';
import { attemptIn } from './attempt.ts';
import { isAgent } from './is-agent.ts';
import { isForTimers, proofFor, STARTED_BY_AGENT } from './people-only.ts';
import { howPeopleDecide, isFromPerson } from './person-proof.ts';
import type { Role } from './role.ts';
import { shownToken } from './shown-token.ts';
import { userFolder } from './user-folder.ts';
import { type Identity, isServed, lookUp, serverAbove } from './who-acts.ts';

type Where = { readonly env: NodeJS.ProcessEnv; readonly stateDir: string };

type How = {
  /** The token that the process was given, if any. */
  readonly shown?: string | null;
  /** This process is a server: its clients have no terminal, and its own age counts. */
  readonly isServer?: true;
};

export function actorHere({ env, stateDir }: Where, { shown = shownToken(), isServer }: How = {}): Actor {
  let identity: Identity | null = null;
  let kind: Actor['kind'] | null = null;
  const known = () => {
    identity ??= lookUp(env, process.pid, Date.now(), isServed, shown);
    return identity;
  };
  const proof: PersonProof = (form, cast, program) => {
    if (isForTimers(form)) return isInsideAttempt(env) ? STARTED_BY_AGENT : null;
    if (actor.kind === 'agent') return STARTED_BY_AGENT;
    const needed = proofFor(form);
    if (needed === null || known().by === 'token') return null;
    const user = form.startsWith('token ') ? userFolder(env) : null;
    // The client of a server of ours has no terminal there. It counts as a person where the server is older than the agents.
    const server = isServer ? process.pid : serverAbove();
    const decision = { stateDir, cast, user, needsTerminal: needed.needsTerminal && server === null };
    if (isFromPerson(decision, server ?? process.pid)) return null;
    return `nothing shows that a person does it here; ${howPeopleDecide(program)}`;
  };
  const actor: Actor = {
    get name(): string {
      return known().name;
    },
    get kind(): Actor['kind'] {
      kind ??= kindOf(known(), env, stateDir);
      return kind;
    },
    get role(): Role | null {
      return known().role;
    },
    attempt: attemptIn(env, stateDir),
    proof,
  };
  return actor;
}

/** The holder of a token is the person that the token was made for. */
function kindOf({ by }: Identity, env: NodeJS.ProcessEnv, stateDir: string): Actor['kind'] {
  if (by === 'attempt') return 'agent';
  if (by === 'token') return 'person';
  return isAgent(env, stateDir) ? 'agent' : 'person';
}
