// A checkpoint is a signed note (C2SP): three lines of text, origin, number of entries and base64 root, an empty line, and
// an Ed25519 signature over the three lines. A file of checkpoints holds one note after the other, each followed by an
// empty line, in the order in which they were made.
import { createPrivateKey, createPublicKey, hash, type KeyObject, sign, verify } from 'node:crypto';
import { isHash } from './merkle.ts';

export type Checkpoint = { readonly origin: string; readonly size: number; readonly root: string };

/** A public key with its name. `id` is the beginning of a hash over both, as eight hex digits. */
export type PublicKey = { readonly name: string; readonly id: string; readonly bytes: Buffer };

export type Signer = { readonly publicKey: PublicKey; readonly sign: (body: string) => Buffer };

export type Note = {
  readonly checkpoint: Checkpoint;
  readonly body: string;
  readonly text: string;
  readonly signer: { readonly name: string; readonly id: string; readonly signature: Buffer };
};

const ED25519 = 0x01;
/** What stands before the 32 bytes of a public key in its DER form. */
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

/** The notes of a file, in order; null stands for one that cannot be read. */
export function readNotes(text: string): readonly (Note | null)[] {
  if (text === '') return [];
  const lines = text.split('\n');
  const notes: (Note | null)[] = [];
  // What stands after the last newline is no note either, and nobody wrote it here on purpose.
  for (let at = 0; at < lines.length - 1 || (lines[at] ?? '') !== ''; at += LINES_OF_NOTE) {
    const [origin = '', size = '', root = '', gap, signed = '', end] = lines.slice(at, at + LINES_OF_NOTE);
    notes.push(gap === '' && end === '' ? noteOf(origin, size, root, signed) : null);
  }
  return notes;
}

export function isSignature(text: string, signature: Buffer, key: PublicKey): boolean {
  return verify(null, Buffer.from(text), objectOf(key), signature);
}

export function isSignedBy({ body, signer }: Note, key: PublicKey): boolean {
  return (
    signer.name === key.name && signer.id === key.id && verify(null, Buffer.from(body), objectOf(key), signer.signature)
  );
}

/** A new key pair, or that of a private key in PEM. The name of a key is drawn from itself. */
export function signerOf(privateKey: KeyObject): Signer {
  const der = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  const bytes = der.subarray(DER_HEAD.length);
  const publicKey = named(`baton/${hash('sha256', bytes, 'hex').slice(0, 8)}`, bytes);
  return { publicKey, sign: (body) => sign(null, Buffer.from(body), privateKey) };
}

export function signerFromPem(pem: string): Signer {
  const key = createPrivateKey(pem);
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('the key is no Ed25519 key');
  return signerOf(key);
}

/** A public key on one line: name, id and bytes with a plus sign between them. */
export function keyLine({ name, id, bytes }: PublicKey): string {
  return `${name}+${id}+${Buffer.concat([Buffer.from([ED25519]), bytes]).toString('base64')}`;
}

/** The key of a line, or null where the line is none or its id does not belong to it. */
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
  if (!isHash(root) || origin === '' || /[\r\n]/.test(origin)) throw new Error('this is no checkpoint');
  return `${origin}\n${size}\n${Buffer.from(root, 'hex').toString('base64')}\n`;
}

function noteOf(origin: string, size: string, root: string, signed: string): Note | null {
  const [, name = '', encoded = ''] = SIGNATURE.exec(signed) ?? [];
  const bytes = Buffer.from(encoded, 'base64');
  if (origin === '' || !/^(?:0|[1-9]\d{0,14})$/.test(size) || !BASE64_HASH.test(root)) return null;
  // Base64 with other bits after its end reads as the same bytes; there is one spelling only.
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
