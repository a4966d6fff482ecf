// `baton continue`: does the obvious thing for a cast that stands.
import type { Call } from '../command.ts';
import { goOn } from '../go-on.ts';

export function run(call: Call): Promise<number> {
  return goOn(call, 'continue');
}
