// `baton log`: the log, entry by entry.
import type { Entry } from '../../kernel/fact.ts';
import { type Call, EXIT, out, outJson, text, UsageError } from '../command.ts';
import { workspaceOf } from '../find-workspace.ts';
import { nameCast, withDoor } from '../looking.ts';
import { oneLine } from '../safe-text.ts';
import { hasLog } from '../state-folder.ts';
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
    if (call.json) outJson(entries.map(flat));
    else {
      const told = storyteller();
      for (const entry of entries) out(line(entry, told(entry)));
    }
    return EXIT.ok;
  });
}

/** An entry with its fact's members beside its own, as scripts like to filter them. */
function flat({ v, seq, at, prev, by, fact }: Entry) {
  return { seq, at, by, v, prev, ...fact };
}

function line({ seq, at, by, fact }: Entry, told: string): string {
  const what = [fact.kind, ...[codeIn(fact) ?? []].flat(), told].join('  ');
  return `${String(seq).padStart(6)}  ${at}  ${oneLine(by, 40)}  ${what}`;
}
