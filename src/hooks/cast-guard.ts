// The hook of a cast: the commands of a turn that change state are held back where the configuration says so, or where it says
// nothing and the agent of the turn can ask for approvals.
import { readPolicy } from '../approvals/policy.ts';
import type { Packet } from '../kernel/cast/packet.ts';
import type { Workspace } from '../workspace/locate.ts';
import { type Brought, broughtTo } from './install/brought.ts';

type Turn = Pick<Packet, 'materia' | 'holdsCommands'>;

/** What cannot be understood holds everything back: the hook says what is wrong with it. */
export function isHeldBack({ materia, holdsCommands }: Turn, configFile: string): boolean {
  if (materia.type === 'utility' || materia.tools === 'none') return false;
  const policy = readPolicy(configFile);
  if ('allow' in policy || policy.hook === 'deny') return true;
  return policy.hook !== 'off' && holdsCommands;
}

/** Null where nothing is held back. `program` is how baton is started. */
export function guardFor(turn: Turn, { dir, configFile }: Workspace, program: string): Brought | null {
  const { materia } = turn;
  return materia.type === 'agent' && isHeldBack(turn, configFile) ? broughtTo(materia.runner, program, dir) : null;
}
