// `baton recast`: runs a stopped cast on.
import type { Call } from '../command.ts';
import { goOn } from '../go-on.ts';

export function run(call: Call): Promise<number> {
  return goOn(call, 'recast');
}
