// Who acts, as the log names him, for commands that are not made from operations yet.
import { isServed } from '../access/served-by.ts';
import { shownToken } from '../access/shown-token.ts';
import { type Identity, lookUp } from '../access/who-acts.ts';

let known: Identity | null = null;

export function person(): string {
  known ??= lookUp(process.env, process.pid, Date.now(), isServed, shownToken());
  return known.name;
}
