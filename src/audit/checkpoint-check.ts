// Compares the signed checkpoints, wherever they are kept, with each other and with the tree of the log.
import type { Fault } from './fault.ts';
import { isSignedBy, type Note, type PublicKey } from './note.ts';

export type Kept = { readonly where: 'inside' | 'outside' | 'given'; readonly notes: readonly (Note | null)[] };

/** A checkpoint that is signed by a trusted key: what the tree of so many entries must come to. */
export type Signed = { readonly size: number; readonly root: string; readonly where: Kept['where'] };

/** The checkpoints that count, smallest first. What is wrong with the others, and with their order, is reported. */
export function signedCheckpoints(
  all: readonly Kept[],
  keys: readonly PublicKey[],
  report: (fault: Fault) => void,
): readonly Signed[] {
  const signed: Signed[] = [];
  for (const { where, notes } of all) {
    let last = -1;
    for (const [index, note] of notes.entries()) {
      const seq = note?.checkpoint.size ?? Math.max(last, 0);
      const which = `checkpoint ${index + 1} (${where})`;
      if (!note) report({ kind: 'CHECKPOINT_SIGNATURE', seq, reason: `${which} cannot be read` });
      else if (!keys.some((key) => isSignedBy(note, key)))
        report({ kind: 'CHECKPOINT_SIGNATURE', seq, reason: `${which} is not signed by a key that you trust` });
      else {
        if (note.checkpoint.size <= last)
          report({ kind: 'CHECKPOINT_ORDER', seq, reason: `${which} is not larger than the one before it` });
        last = note.checkpoint.size;
        signed.push({ size: note.checkpoint.size, root: note.checkpoint.root, where });
      }
    }
  }
  for (const fault of takenAway(all)) report(fault);
  return signed.sort((a, b) => a.size - b.size);
}

/** What is kept outside was kept inside first. */
function takenAway(all: readonly Kept[]): readonly Fault[] {
  return notIn(all, 'outside', 'inside', 'is kept outside and not beside the log');
}

/**
 * The copies outside are what finds out a log that was exchanged together with everything beside it. That one is missing
 * may be the doing of a crash between the two, or of somebody who begins anew, so it is said and refuses nothing.
 */
export function missingOutside(all: readonly Kept[]): readonly Fault[] {
  return notIn(all, 'inside', 'outside', 'is kept beside the log and not outside');
}

function notIn(all: readonly Kept[], place: Kept['where'], other: Kept['where'], what: string): readonly Fault[] {
  const notesOf = (wanted: Kept['where']) =>
    all.filter(({ where }) => where === wanted).flatMap(({ notes }) => notes.flatMap((note) => note ?? []));
  const there = new Set(notesOf(other).map(({ text }) => text));
  return notesOf(place)
    .filter(({ text }) => !there.has(text))
    .map(({ checkpoint: { size } }) => ({
      kind: 'CHECKPOINT_MISSING',
      seq: size,
      reason: `the checkpoint of ${size} entries ${what}`,
    }));
}

/** Holds the checkpoints against the tree while it grows. */
export class RootCheck {
  readonly #checkpoints: readonly Signed[];
  readonly #vouched = new Set<number>();
  readonly #wrong: { readonly signed: Signed; readonly after: number }[] = [];
  #next = 0;
  #sound = 0;

  constructor(checkpoints: readonly Signed[]) {
    this.#checkpoints = checkpoints;
  }

  /** The size at which the next checkpoint wants to know the root. */
  get due(): number {
    return this.#checkpoints[this.#next]?.size ?? Number.POSITIVE_INFINITY;
  }

  take(size: number, root: string): void {
    while (this.due <= size) {
      const signed = this.#checkpoints[this.#next] as Signed;
      this.#next += 1;
      if (signed.size === size && signed.root === root) {
        this.#vouched.add(size);
        this.#sound = size;
      } else this.#wrong.push({ signed, after: this.#sound });
    }
  }

  vouchesFor(size: number): boolean {
    return this.#vouched.has(size);
  }

  /** A root that differs says nothing new where an entry before it is known to be wrong. */
  faults(size: number, firstFault: number | null): readonly Fault[] {
    const cut = this.#checkpoints.filter((signed) => signed.size > size).at(-1);
    const forked = this.#wrong.find(({ signed }) => firstFault === null || signed.size < firstFault);
    return [
      ...(forked
        ? [
            {
              kind: 'FORKED' as const,
              seq: forked.after + 1,
              reason: `the entries ${forked.after + 1} to ${forked.signed.size} are not those of the checkpoint that was signed (${forked.signed.where})`,
            },
          ]
        : []),
      ...(cut
        ? [
            {
              kind: 'TRUNCATED' as const,
              seq: size + 1,
              reason: `the log ends here; a checkpoint of ${cut.size} entries was signed (${cut.where})`,
            },
          ]
        : []),
    ];
  }
}
