// Who acts, as the log names him. Finding that out takes longer than looking, so only commands that act ask it.
import { whoActs } from '../access/who-acts.ts';

export function person(): string {
  return whoActs().by;
}
