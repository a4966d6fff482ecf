// Signs of life. A heartbeat changes the record that was made with its claim, in one step, and looks at nothing else: it
// costs the same in a log of a million facts as in an empty one.
import { BEATS, type Beat, type BeatProcess, beatAgain, beatName, beatOf, beatText } from '../kernel/ledger/move.ts';
import type { Log } from './ports.ts';

export type Sign = {
  readonly run?: string;
  readonly task: string;
  readonly owner: string;
  readonly fence: number;
  readonly at: number;
  /** The process that works on the task, where it is known. */
  readonly worker?: BeatProcess;
};

/** The record after a sign of life; null when there is none under this token for this task and owner. */
export async function beat(log: Pick<Log, 'lease'>, { fence, worker, ...sign }: Sign): Promise<Beat | null> {
  let heard: Beat | null = null;
  await log.lease(beatName(fence), (held) => {
    const again = beatAgain(beatOf(held), sign);
    heard = again && { ...again, ...(worker === undefined ? {} : { worker }) };
    return heard ? beatText(heard) : held;
  });
  return heard;
}

/** Who was heard of and when, by the token of the claim. */
export async function beats(log: Pick<Log, 'leases'>): Promise<ReadonlyMap<number, Beat>> {
  const found = new Map<number, Beat>();
  for (const { name, value } of await log.leases(BEATS)) {
    const known = beatOf(value);
    if (known) found.set(Number(name.slice(BEATS.length)), known);
  }
  return found;
}
