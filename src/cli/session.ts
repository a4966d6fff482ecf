// What the commands that act on the log share: opening it, naming a cast, saying who acts.
import { whoActs } from '../access/who-acts.ts';

export { nameCast, noCastYet, withDoor } from './looking.ts';
export { hasLog } from './state-folder.ts';

/** Who acts, as the log names him. */
export function person(): string {
  return whoActs().by;
}
