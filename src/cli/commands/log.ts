// `baton log`: the log, entry by entry.

import { hasLog } from '../../app/state-folder.ts';
import type { Store } from '../../app/store.ts';
import { flat } from '../../app/views/flat-entry.ts';
import type { Entry } from '../../kernel/fact.ts';
import { leafHash } from '../../log/line.ts';
import { type Call, EXIT, out, outJson, text, UsageError } from '../command.ts';
import { workspaceOf } from '../find-workspace.ts';
import { nameCast, withDoor } from '../looking.ts';
import { oneLine } from '../safe-text.ts';
import { codeIn, storyteller } from '../story.ts';

const SHOWN_BY_DEFAULT = 50;

export async function run(call: Call): Promise<number> {
  const given = text(call.values, 'after');
  const after = given === undefined ? null : Number(given);
  if (after !== null && (!Number.isSafeInteger(after) || after < 0))
    throw new UsageError(`--after must be a sequence number, not ${given}`);
  if (text(call.values, 'cast') === undefined && !hasLog(workspaceOf(call))) {
    if (call.json) outJson([]);
    return EXIT.ok;
  }
  return withDoor(call, async (door) => {
    const word = text(call.values, 'cast');
    const cast = word === undefined ? {} : { cast: (await nameCast(door, word)).cast };
    const from =
      after ?? (call.json || word !== undefined ? 0 : Math.max(0, (await door.head()).seq - SHOWN_BY_DEFAULT));
    const entries = await door.read({ after: from, ...cast });
    if (call.json) {
      const leaves = await leavesOf(door, entries);
      outJson(entries.map((entry) => flat(entry, leaves.get(entry.seq))));
    } else {
      const told = storyteller();
      for (const entry of entries) out(line(entry, told(entry)));
    }
    return EXIT.ok;
  });
}

const LINES_AT_ONCE = 1_000;

/** The hash of each entry's own line, which the entry after it holds as `prev`. */
async function leavesOf(door: Store, entries: readonly Entry[]): Promise<ReadonlyMap<number, string>> {
  const leaves = new Map<number, string>();
  for (let at = 0; at < entries.length; ) {
    const first = entries[at]?.seq ?? 0;
    let count = 1;
    while (count < LINES_AT_ONCE && entries[at + count]?.seq === first + count) count++;
    for (const { seq, line: stored } of await door.lines(first - 1, count)) leaves.set(seq, leafHash(stored));
    at += count;
  }
  return leaves;
}

function line({ seq, at, by, fact }: Entry, told: string): string {
  const what = [fact.kind, ...[codeIn(fact) ?? []].flat(), told].join('  ');
  return `${String(seq).padStart(6)}  ${at}  ${oneLine(by, 40)}  ${what}`;
}
