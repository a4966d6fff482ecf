// Checkpoints as signed notes (C2SP), and the keys that sign them. A note has three lines (origin, number of entries, base64 root),
// an empty line, and an Ed25519 signature over the three lines. A file holds notes in order, each followed by an empty line. The
// signing key is in the user's folder. It is made on first use, and not used if others could have read or replaced it.
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hash,
  type KeyObject,
  randomUUID,
  sign,
  verify,
} from 'node:crypto';
import { appendFileSync, linkSync, mkdirSync, readFileSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type UserRead, userFolder, whyFolderUnsafe, whyOpen } from '../access/user-folder.ts';
import { type Denied, deny } from '../kernel/verdict.ts';
import { isHash } from './merkle.ts';

type Checkpoint = { readonly origin: string; readonly size: number; readonly root: string };

/** A public key and its name. `id` is the first eight hex digits of a hash over both. */
export type PublicKey = { readonly name: string; readonly id: string; readonly bytes: Buffer };

export type Signer = { readonly publicKey: PublicKey; readonly sign: (body: string) => Buffer };

export type CheckpointNote = {
  readonly checkpoint: Checkpoint;
  readonly body: string;
  readonly text: string;
  readonly signer: { readonly name: string; readonly id: string; readonly signature: Buffer };
};

const ED25519 = 0x01;
/** The DER bytes before the 32 bytes of a public key. */
const DER_HEAD_HEX = '302a300506032b6570032100';
const DER_HEAD = Buffer.from(DER_HEAD_HEX, 'hex');
const LINES_OF_NOTE = 6;
const SIGNATURE = /^\u2014 ([^\s+]+) ([A-Za-z0-9+/]+={0,2})$/;
const BASE64_HASH = /^[A-Za-z0-9+/]{43}=$/;

export function signedNote(checkpoint: Checkpoint, { publicKey, sign: signBody }: Signer): string {
  const body = bodyOf(checkpoint);
  const signature = Buffer.concat([Buffer.from(publicKey.id, 'hex'), signBody(body)]);
  return `${body}\n\u2014 ${publicKey.name} ${signature.toString('base64')}\n`;
}

/** The notes of a file, in order. Null for an unreadable note. */
export function readNotes(text: string): readonly (CheckpointNote | null)[] {
  if (text === '') return [];
  const lines = text.split('\n');
  const notes: (CheckpointNote | null)[] = [];
  // Text after the last newline counts as an unreadable note.
  for (let at = 0; at < lines.length - 1 || (lines[at] ?? '') !== ''; at += LINES_OF_NOTE) {
    const [origin = '', size = '', root = '', gap, signed = '', end] = lines.slice(at, at + LINES_OF_NOTE);
    notes.push(gap === '' && end === '' ? noteOf(origin, size, root, signed) : null);
  }
  return notes;
}

export function isSignature(text: string, signature: Buffer, key: PublicKey): boolean {
  return verify(null, Buffer.from(text), objectOf(key), signature);
}

export function isSignedBy({ body, signer }: CheckpointNote, key: PublicKey): boolean {
  return (
    signer.name === key.name && signer.id === key.id && verify(null, Buffer.from(body), objectOf(key), signer.signature)
  );
}

/** The signer of a private key. The name comes from the key itself. */
export function signerOf(privateKey: KeyObject): Signer {
  const der = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  const bytes = der.subarray(DER_HEAD.length);
  const publicKey = named(`baton/${hash('sha256', bytes, 'hex').slice(0, 8)}`, bytes);
  return { publicKey, sign: (body) => sign(null, Buffer.from(body), privateKey) };
}

export function signerFromPem(pem: string): Signer {
  const key = createPrivateKey(pem);
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('the key is not an Ed25519 key');
  return signerOf(key);
}

/** A public key on one line: name, id and bytes, joined by plus signs. */
export function keyLine({ name, id, bytes }: PublicKey): string {
  return `${name}+${id}+${Buffer.concat([Buffer.from([ED25519]), bytes]).toString('base64')}`;
}

/** The key of a line, or null if the line is invalid or its id does not match. */
export function readKeyLine(line: string): PublicKey | null {
  const [, name = '', id = '', encoded = ''] =
    /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]{44})$/.exec(line.trim()) ?? [];
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.length !== 33 || bytes[0] !== ED25519) return null;
  const key = named(name, bytes.subarray(1));
  return key.id === id ? key : null;
}

export function readKeyLines(text: string): readonly PublicKey[] {
  return text.split('\n').flatMap((line) => readKeyLine(line) ?? []);
}

function bodyOf({ origin, size, root }: Checkpoint): string {
  if (!isHash(root) || origin === '' || /[\r\n]/.test(origin)) throw new Error('this is not a checkpoint');
  return `${origin}\n${size}\n${Buffer.from(root, 'hex').toString('base64')}\n`;
}

function noteOf(origin: string, size: string, root: string, signed: string): CheckpointNote | null {
  const [, name = '', encoded = ''] = SIGNATURE.exec(signed) ?? [];
  const bytes = Buffer.from(encoded, 'base64');
  if (origin === '' || !/^(?:0|[1-9]\d{0,14})$/.test(size) || !BASE64_HASH.test(root)) return null;
  // Base64 can spell the same bytes in several ways. Only one spelling is valid.
  if (bytes.length !== 68 || bytes.toString('base64') !== encoded) return null;
  const rootBytes = Buffer.from(root, 'base64');
  if (rootBytes.toString('base64') !== root) return null;
  const body = `${origin}\n${size}\n${root}\n`;
  return {
    checkpoint: { origin, size: Number(size), root: rootBytes.toString('hex') },
    body,
    text: `${body}\n${signed}\n`,
    signer: { name, id: bytes.toString('hex', 0, 4), signature: bytes.subarray(4) },
  };
}

function named(name: string, bytes: Buffer): PublicKey {
  const head = `${name}\n`;
  const id = hash('sha256', Buffer.concat([Buffer.from(head), Buffer.from([ED25519]), bytes]), 'hex').slice(0, 8);
  return { name, id, bytes };
}

function objectOf({ bytes }: PublicKey): KeyObject {
  return createPublicKey({ key: Buffer.concat([DER_HEAD, bytes]), format: 'der', type: 'spki' });
}

const KEY_FILE = 'signing-key.pem';
/** Public keys that this user trusts, one per line: own, earlier, and of coworkers. */
const TRUSTED_FILE = 'trusted-keys.txt';

/** The signer of this user. A missing key is made. */
export function openSigner(env: NodeJS.ProcessEnv): UserRead<Signer> {
  const folder = userFolder(env);
  const file = join(folder, KEY_FILE);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const unsafe = whyFolderUnsafe(folder);
    if (unsafe) return refused(unsafe);
    if (!statSync(file, { throwIfNoEntry: false })) makeKey(folder, file);
    const open = whyOpen(statSync(file), 0o077);
    if (open)
      return refused(`${file} ${open}; \`chmod 600 ${file}\` fixes that, or move the file away to get a new key`);
    const signer = signerFromPem(readFileSync(file, 'utf8'));
    trust(join(folder, TRUSTED_FILE), signer.publicKey);
    return { ok: true, value: signer };
  } catch (error) {
    return refused(
      `${file} cannot be used (${(error as Error).message}); correct that, or move the file away to get a new key`,
    );
  }
}

/** Every public key that this user trusts. It makes no key. */
export function trustedKeys(env: NodeJS.ProcessEnv): UserRead<readonly PublicKey[]> {
  const folder = userFolder(env);
  const file = join(folder, TRUSTED_FILE);
  try {
    const found = statSync(file, { throwIfNoEntry: false });
    if (!found) return { ok: true, value: [] };
    const unsafe = whyFolderUnsafe(folder);
    if (unsafe) return refused(unsafe);
    const open = whyOpen(found, 0o022);
    if (open) return refused(`${file} ${open}; \`chmod 600 ${file}\` fixes that, after you have checked its lines`);
    return { ok: true, value: readKeyLines(readFileSync(file, 'utf8')) };
  } catch (error) {
    return refused(`${file} cannot be read (${(error as Error).message}); correct that`);
  }
}

/** If several processes make the first key at once, one wins and the others use that key. */
function makeKey(folder: string, file: string): void {
  const { privateKey } = generateKeyPairSync('ed25519');
  const pem = String(privateKey.export({ format: 'pem', type: 'pkcs8' }));
  const own = join(folder, `.${KEY_FILE}.${randomUUID()}`);
  writeFileSync(own, pem, { mode: 0o600, flag: 'wx', flush: true });
  try {
    linkSync(own, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    unlinkSync(own);
  }
}

/** Runs before anything is signed, because a signature by an unknown key looks forged. */
function trust(file: string, key: PublicKey): void {
  const known = statSync(file, { throwIfNoEntry: false }) ? readFileSync(file, 'utf8') : '';
  if (!known.split('\n').includes(keyLine(key)))
    appendFileSync(file, `${keyLine(key)}\n`, { mode: 0o600, flush: true });
}

function refused(reason: string): { ok: false; verdict: Denied } {
  return { ok: false, verdict: deny('KEY_UNSAFE', reason) };
}
