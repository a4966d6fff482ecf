// The signed checkpoints of a workspace: where they are kept, and whether they agree with each other and with the tree of the log.
// One copy is in the state folder next to the log. Another is in a folder of the user, so that a truncated or replaced log is
// noticed. A checkpoint is written inside first. So a copy that is outside but not inside was removed.
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
import type { UserRead } from '../access/user-folder.ts';
import type { AuditFault } from './fault.ts';
import { isHash } from './merkle.ts';
import {
  type CheckpointNote,
  isSignedBy,
  keyLine,
  type PublicKey,
  readKeyLine,
  readNotes,
  trustedKeys,
} from './note.ts';

export type CheckpointPlace = { readonly dir: string; readonly stateDir: string };
export type CheckpointFolders = { readonly inside: string; readonly outside: string; readonly origin: string };
type KeptFrontier = { readonly size: number; readonly peaks: readonly string[] };

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_TRUNC, O_WRONLY } = constants;
const NOTES_FILE = 'checkpoints.txt';
const KEYS_FILE = 'keys.txt';
const FRONTIER_FILE = 'frontier.json';

/** The outside folder is named after the path of the state folder. A name from its content could be replaced with it. */
export function checkpointFolders({ dir, stateDir }: CheckpointPlace, env: NodeJS.ProcessEnv): CheckpointFolders {
  const id = `${nameOfProject(dir)}-${hash('sha256', stateDir, 'hex').slice(0, 16)}`;
  return { inside: join(stateDir, 'checkpoints'), outside: join(checkpointBase(env), id), origin: `baton/${id}` };
}

/** The user's folder with the checkpoints of all projects. */
function checkpointBase(env: NodeJS.ProcessEnv): string {
  if (env.BATON_CHECKPOINTS) return resolve(env.BATON_CHECKPOINTS);
  return join(env.XDG_STATE_HOME || join(env.HOME || homedir(), '.local', 'state'), 'baton', 'checkpoints');
}

/** The project's name, for people who look into that folder. */
export function nameOfProject(dir: string): string {
  return basename(dir).replace(/[^A-Za-z0-9._-]/g, '_') || 'root';
}

export function notesFileIn(folder: string): string {
  return join(folder, NOTES_FILE);
}

/** The notes of a folder, in order. Null for an unreadable note. Without the folder there are none. */
export function notesIn(folder: string): readonly (CheckpointNote | null)[] {
  return readNotes(textOf(join(folder, NOTES_FILE)));
}

/** The note is on disk when this returns. */
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

/** A cache. It is used if it leads to a signed root, and rebuilt otherwise. */
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

/** The text of a file that a user named. A pipe or a device could block. */
function textOfPlain(file: string): string {
  if (!statSync(file).isFile()) throw new Error(`${file} is not a plain file`);
  return readFileSync(file, 'utf8');
}

/** Never writes through a link. */
function write(file: string, text: string, how: typeof O_APPEND | typeof O_TRUNC): void {
  const descriptor = openSync(file, O_CREAT | O_NOFOLLOW | O_WRONLY | how, 0o600);
  try {
    writeSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Every known checkpoint of a workspace, and the keys that may have signed it. */
export type KnownCheckpoints = { readonly kept: readonly KeptNotes[]; readonly keys: readonly PublicKey[] };

/** `files` are checkpoints kept elsewhere. `keyLines` are public keys to trust in addition to the user's. */
export function knownCheckpoints(
  place: CheckpointPlace,
  env: NodeJS.ProcessEnv,
  files: readonly string[] = [],
  keyLines: readonly string[] = [],
): UserRead<KnownCheckpoints> {
  const keys = trustedKeys(env);
  if (!keys.ok) return keys;
  const { inside, outside } = checkpointFolders(place, env);
  const kept: KeptNotes[] = [
    { where: 'inside', notes: notesIn(inside) },
    { where: 'outside', notes: notesIn(outside) },
    ...files.map((file): KeptNotes => ({ where: 'given', notes: givenNotes(file) })),
  ];
  return { ok: true, value: { kept, keys: [...keys.value, ...keyLines.flatMap((line) => readKeyLine(line) ?? [])] } };
}

/** A single note may lack the empty line after it. */
function givenNotes(file: string): KeptNotes['notes'] {
  const text = textOfPlain(file);
  return readNotes(text.endsWith('\n\n') ? text : `${text}\n`);
}

export type KeptNotes = {
  readonly where: 'inside' | 'outside' | 'given';
  readonly notes: readonly (CheckpointNote | null)[];
};

/** A checkpoint with a trusted signature: the root that the tree of so many entries must have. */
export type SignedRoot = { readonly size: number; readonly root: string; readonly where: KeptNotes['where'] };

/** The valid checkpoints, smallest first. Reports what is wrong with the others and with their order. */
export function signedCheckpoints(
  all: readonly KeptNotes[],
  keys: readonly PublicKey[],
  report: (fault: AuditFault) => void,
): readonly SignedRoot[] {
  const signed: SignedRoot[] = [];
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

/** A copy outside was written inside first. */
function takenAway(all: readonly KeptNotes[]): readonly AuditFault[] {
  return notIn(all, 'outside', 'inside', 'is kept outside but not next to the log');
}

/**
 * Outside copies reveal a log that was replaced together with its state folder. A missing one may come from a crash or a new
 * start, so it is only a warning.
 */
export function missingOutside(all: readonly KeptNotes[]): readonly AuditFault[] {
  return notIn(all, 'inside', 'outside', 'is kept next to the log but not outside');
}

function notIn(
  all: readonly KeptNotes[],
  place: KeptNotes['where'],
  other: KeptNotes['where'],
  what: string,
): readonly AuditFault[] {
  const notesOf = (wanted: KeptNotes['where']) =>
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

/** Compares the checkpoints with the tree while it grows. */
export class RootCheck {
  readonly #checkpoints: readonly SignedRoot[];
  readonly #vouched = new Set<number>();
  readonly #wrong: { readonly signed: SignedRoot; readonly after: number }[] = [];
  #next = 0;
  #sound = 0;

  constructor(checkpoints: readonly SignedRoot[]) {
    this.#checkpoints = checkpoints;
  }

  /** The tree size of the next checkpoint. */
  get due(): number {
    return this.#checkpoints[this.#next]?.size ?? Number.POSITIVE_INFINITY;
  }

  take(size: number, root: string): void {
    while (this.due <= size) {
      const signed = this.#checkpoints[this.#next] as SignedRoot;
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

  /** A different root is not reported after a faulty entry, because it follows from that fault. */
  faults(size: number, firstFault: number | null): readonly AuditFault[] {
    const missing = this.#checkpoints.filter((signed) => signed.size > size).at(-1);
    const forked = this.#wrong.find(({ signed }) => firstFault === null || signed.size < firstFault);
    return [
      ...(forked
        ? [
            {
              kind: 'FORKED' as const,
              seq: forked.after + 1,
              reason: `the entries ${forked.after + 1} to ${forked.signed.size} differ from the signed checkpoint (${forked.signed.where})`,
            },
          ]
        : []),
      ...(missing
        ? [
            {
              kind: 'TRUNCATED' as const,
              seq: size + 1,
              reason: `the log ends here; a checkpoint of ${missing.size} entries was signed (${missing.where})`,
            },
          ]
        : []),
    ];
  }
}
