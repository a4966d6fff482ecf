// Whether the commands of a turn wait for an approval by themselves: where its agent can ask for one and be answered.
import type { Cast } from '../state.ts';

export function holdsCommands({ rules }: Pick<Cast, 'rules'>, socket: string): boolean {
  return rules.graph.sockets[socket]?.contract === 'gaia';
}
