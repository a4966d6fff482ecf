// Every checkpoint of a workspace that is known on this machine, and the keys that may have signed it.
import type { Kept } from './checkpoint-check.ts';
import { checkpointFolders, notesIn, type Place, textOfPlain } from './checkpoint-files.ts';
import { type PublicKey, readKeyLine, readNotes } from './note.ts';
import { type Found, trustedKeys } from './signing-key.ts';

export type Known = { readonly kept: readonly Kept[]; readonly keys: readonly PublicKey[] };

/** `files` are checkpoints that somebody kept elsewhere; `keyLines` are public keys to trust beside those of the user. */
export function knownCheckpoints(
  place: Place,
  env: NodeJS.ProcessEnv,
  files: readonly string[] = [],
  keyLines: readonly string[] = [],
): Found<Known> {
  const keys = trustedKeys(env);
  if (!keys.ok) return keys;
  const { inside, outside } = checkpointFolders(place, env);
  const kept: Kept[] = [
    { where: 'inside', notes: notesIn(inside) },
    { where: 'outside', notes: notesIn(outside) },
    ...files.map((file): Kept => ({ where: 'given', notes: givenNotes(file) })),
  ];
  return { ok: true, value: { kept, keys: [...keys.value, ...keyLines.flatMap((line) => readKeyLine(line) ?? [])] } };
}

/** A single note may stand without the empty line that separates it from others. */
function givenNotes(file: string): Kept['notes'] {
  const text = textOfPlain(file);
  return readNotes(text.endsWith('\n\n') ? text : `${text}\n`);
}
