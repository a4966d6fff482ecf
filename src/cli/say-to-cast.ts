// What a person says to a cast that is about to be driven, and what a refusal of it means for the command.
import type { Door } from '../engine/door.ts';
import type { Denied, Verdict } from '../kernel/verdict.ts';
import { note, Refused } from './command.ts';

export type Saying = {
  /**
   * Submits it. A refusal that ends the command is thrown, unless the same step set the cast to work, because a permission
   * that it stood still for is over: then the refusal is told, and the cast is driven on like any other that goes on.
   */
  say(submit: () => Promise<Verdict>): Promise<Verdict>;
  /** What was refused although the cast went on. */
  refused(): Denied | null;
};

export function sayingTo(door: Door, cast: string, ends: (refusal: Denied) => boolean): Saying {
  let refused: Denied | null = null;
  return {
    async say(submit) {
      const before = (await door.cast(cast))?.status;
      const verdict = await submit();
      if (verdict.allow || !ends(verdict)) return verdict;
      const isWoken = before === 'waiting' && (await door.cast(cast))?.status === 'running';
      if (!isWoken) throw new Refused(verdict);
      note(`refused: ${verdict.reason}`);
      refused = verdict;
      return verdict;
    },
    refused: () => refused,
  };
}

/** A refusal of what was handed in is in the log, and the cast shows where it stands; these say that nothing was taken. */
export function isNotTaken({ code }: Denied): boolean {
  return code === 'NOT_ALLOWED_NOW' || code === 'UNKNOWN_TURN' || code === 'APPROVAL_EXPIRED';
}
