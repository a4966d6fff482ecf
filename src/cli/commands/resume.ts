// `baton resume`: carries on a cast whose process is gone, or that was paused.
import type { Call } from '../command.ts';
import { goOn } from '../go-on.ts';

export function run(call: Call): Promise<number> {
  return goOn(call, 'resume');
}
