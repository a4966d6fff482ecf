// Seals what the agent of a turn asks for in its report, as it stands when the report is read: in the folder of the turn and
// with the environment that its agent has.
import { join } from 'node:path';
import { only, USUAL, userVariables } from '../agents/environment.ts';
import type { SealedRequest } from '../kernel/approval/request.ts';
import type { JsonObject } from '../kernel/json.ts';
import { projectAreaAt } from '../shell/project-area.ts';
import { readPolicy } from './policy.ts';
import { logIdentity, openSealKey } from './seal-key.ts';
import { sealRequest } from './seal-request.ts';

type TurnAsks = {
  readonly request: JsonObject;
  readonly requester: string;
  /** The variables that its materia lets through to it. */
  readonly env: readonly string[];
};

/** Null where nothing can be sealed: the policy cannot be understood, or the key cannot be used. */
export function sealForTurn(
  asks: TurnAsks,
  { dir, stateDir }: { readonly dir: string; readonly stateDir: string },
  cwd: string,
  env: NodeJS.ProcessEnv,
): SealedRequest | null {
  const policy = readPolicy(join(dir, '.baton', 'config.json'));
  const key = openSealKey(env);
  if ('allow' in policy || 'allow' in key) return null;
  const agents = only([...USUAL, ...asks.env], userVariables(env));
  const area = projectAreaAt(cwd, cwd, env.HOME);
  return sealRequest(asks.request, {
    requester: asks.requester,
    cwd,
    env: agents,
    handed: asks.env,
    policy,
    key,
    now: Date.now(),
    area,
    log: logIdentity(stateDir),
  });
}
