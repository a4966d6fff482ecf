// Where checkpoints are kept: in the state folder beside the log, and in a folder of the user outside of it, so that a log
// that is cut or exchanged together with everything beside it is still found out.
//
// A checkpoint is written inside first. So whatever is outside is inside too, whenever the program is stopped; what is
// missing inside was taken away.
import { hash } from 'node:crypto';
import {
  closeSync,
  constants,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import type { Kept } from './checkpoint-check.ts';
import { isHash } from './merkle.ts';
import { keyLine, type Note, type PublicKey, readKeyLine, readNotes } from './note.ts';
import { type Found, trustedKeys } from './signing-key.ts';

export type Place = { readonly dir: string; readonly stateDir: string };
export type Folders = { readonly inside: string; readonly outside: string; readonly origin: string };
export type KeptFrontier = { readonly size: number; readonly peaks: readonly string[] };

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_TRUNC, O_WRONLY } = constants;
const NOTES_FILE = 'checkpoints.txt';
const KEYS_FILE = 'keys.txt';
const FRONTIER_FILE = 'frontier.json';

/** The folder outside is named after the place of the state, not after anything in it, which could be exchanged with it. */
export function checkpointFolders({ dir, stateDir }: Place, env: NodeJS.ProcessEnv): Folders {
  const id = `${nameOfProject(dir)}-${hash('sha256', stateDir, 'hex').slice(0, 16)}`;
  return { inside: join(stateDir, 'checkpoints'), outside: join(checkpointBase(env), id), origin: `baton/${id}` };
}

/** The folder of the user in which the checkpoints of all projects lie. */
export function checkpointBase(env: NodeJS.ProcessEnv): string {
  if (env.BATON_CHECKPOINTS) return resolve(env.BATON_CHECKPOINTS);
  return join(env.XDG_STATE_HOME || join(env.HOME || homedir(), '.local', 'state'), 'baton', 'checkpoints');
}

/** For people who look into that folder. */
export function nameOfProject(dir: string): string {
  return basename(dir).replace(/[^A-Za-z0-9._-]/g, '_') || 'root';
}

export function notesFileIn(folder: string): string {
  return join(folder, NOTES_FILE);
}

/** The notes of a folder, in order; null for one that cannot be read. No folder, no notes. */
export function notesIn(folder: string): readonly (Note | null)[] {
  return readNotes(textOf(join(folder, NOTES_FILE)));
}

/** On disk when it returns. */
export function keepNote(folder: string, note: string, key: PublicKey): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const keys = textOf(join(folder, KEYS_FILE));
  if (!keys.split('\n').includes(keyLine(key))) write(join(folder, KEYS_FILE), `${keyLine(key)}\n`, O_APPEND);
  write(join(folder, NOTES_FILE), `${note}\n`, O_APPEND);
}

export function keptFrontier(folder: string): KeptFrontier | null {
  try {
    const { size, peaks } = JSON.parse(textOf(join(folder, FRONTIER_FILE))) as KeptFrontier;
    return Number.isSafeInteger(size) && Array.isArray(peaks) && peaks.every(isHash) ? { size, peaks } : null;
  } catch {
    return null;
  }
}

/** A cache: it is believed where it leads to a signed root, and made anew where it does not. */
export function keepFrontier(folder: string, frontier: KeptFrontier): void {
  const file = join(folder, FRONTIER_FILE);
  write(`${file}.new`, JSON.stringify(frontier), O_TRUNC);
  renameSync(`${file}.new`, file);
}

function textOf(file: string): string {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (!found) return '';
  if (found.isSymbolicLink()) throw new Error(`${file} is a link; remove it`);
  return textOfPlain(file);
}

/** The text of a file that somebody named. A pipe would never answer, and a device never end. */
export function textOfPlain(file: string): string {
  if (!statSync(file).isFile()) throw new Error(`${file} is no plain file`);
  return readFileSync(file, 'utf8');
}

/** Not through a link. */
function write(file: string, text: string, how: typeof O_APPEND | typeof O_TRUNC): void {
  const descriptor = openSync(file, O_CREAT | O_NOFOLLOW | O_WRONLY | how, 0o600);
  try {
    writeSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

// Every checkpoint of a workspace that is known on this machine, and the keys that may have signed it.
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
