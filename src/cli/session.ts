// Who acts, as the log names him, for commands that are not made from operations yet.

import { shownToken } from '../access/shown-token.ts';
import { type Identity, isServed, lookUp } from '../access/who-acts.ts';

const known = new WeakMap<NodeJS.ProcessEnv, Identity>();

export function person({ env } = process): string {
  const found = known.get(env) ?? lookUp(env, process.pid, Date.now(), isServed, shownToken(env));
  known.set(env, found);
  return found.name;
}
