// Checkpoints are notes that one key signed, byte for byte.
import { createPrivateKey, generateKeyPairSync, hash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type CheckpointNote,
  isSignedBy,
  keyLine,
  readKeyLine,
  readKeyLines,
  readNotes,
  signedNote,
  signerFromPem,
  signerOf,
} from './note.ts';

/** The first key of the test vectors of RFC 8032, so that everything below is the same each time. */
const SEED = '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60';
const PUBLIC = 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a';
const privateKey = createPrivateKey({
  key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), Buffer.from(SEED, 'hex')]),
  format: 'der',
  type: 'pkcs8',
});
const signer = signerOf(privateKey);
const other = signerOf(generateKeyPairSync('ed25519').privateKey);
const checkpoint = { origin: 'baton/x', size: 5, root: 'ab'.repeat(32) };
const note = signedNote(checkpoint, signer);

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const nextBase64 = (char: string) => BASE64[BASE64.indexOf(char) + 1] ?? '';
const withId = (signature: string, id: string) => {
  return Buffer.concat([Buffer.from(id, 'hex'), Buffer.from(signature, 'base64').subarray(4)]).toString('base64');
};

test('a key is known by its name, an id drawn from both, and its bytes', () => {
  const name = `baton/${hash('sha256', Buffer.from(PUBLIC, 'hex'), 'hex').slice(0, 8)}`;
  const id = hash('sha256', Buffer.concat([Buffer.from(`${name}\n\u0001`), Buffer.from(PUBLIC, 'hex')]), 'hex').slice(
    0,
    8,
  );
  expect(keyLine(signer.publicKey)).toBe(`${name}+${id}+${Buffer.from(`01${PUBLIC}`, 'hex').toString('base64')}`);
  expect(readKeyLine(keyLine(signer.publicKey))).toEqual(signer.publicKey);
  const pem = String(privateKey.export({ format: 'pem', type: 'pkcs8' }));
  expect(signerFromPem(pem).publicKey).toEqual(signer.publicKey);
});

const otherAlgorithm = Buffer.from(`02${PUBLIC}`, 'hex').toString('base64');

test.each([
  ['', null],
  ['baton/x', null],
  [keyLine(signer.publicKey).replace('baton', 'notab'), null],
  [keyLine(signer.publicKey).slice(0, -1), null],
  [`x ${keyLine(signer.publicKey)}`, null],
  [`${keyLine(signer.publicKey)} x`, null],
  [`${signer.publicKey.name}+${signer.publicKey.id}+${otherAlgorithm}`, null],
  [` ${keyLine(signer.publicKey)}\r`, signer.publicKey],
])('the key of %j is %j', (line, key) => {
  expect(readKeyLine(line)).toEqual(key);
});

test('a key of another algorithm signs nothing', () => {
  const { privateKey: foreign } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = String(foreign.export({ format: 'pem', type: 'pkcs8' }));
  expect(() => signerFromPem(pem)).toThrow('not an Ed25519 key');
});

test('keys stand on lines of their own, between anything else', () => {
  const lines = `# mine\n${keyLine(signer.publicKey)}\n\n${keyLine(other.publicKey)}\n`;
  expect(readKeyLines(lines)).toEqual([signer.publicKey, other.publicKey]);
});

test('a note is origin, size, root, an empty line and a signature', () => {
  const [origin, size, root, gap, signature, end] = note.split('\n');
  expect([origin, size, root, gap, end]).toEqual([
    'baton/x',
    '5',
    Buffer.from('ab'.repeat(32), 'hex').toString('base64'),
    '',
    '',
  ]);
  expect(signature).toMatch(/^\u2014 baton\/[0-9a-f]{8} [A-Za-z0-9+/]{91}=$/);
});

test.each([{ origin: 'a\nb' }, { origin: 'a\rb' }, { origin: '' }, { root: 'ab' }])(
  '%j makes no checkpoint',
  (change) => {
    expect(() => signedNote({ ...checkpoint, ...change }, signer)).toThrow('not a checkpoint');
  },
);

test('notes are read back in order, and signed by their key alone', () => {
  const second = signedNote({ ...checkpoint, size: 6 }, other);
  const notes = readNotes(`${note}\n${second}\n`) as CheckpointNote[];
  expect(notes.map((each) => each.checkpoint)).toEqual([checkpoint, { ...checkpoint, size: 6 }]);
  expect(notes.map((each) => each.text)).toEqual([note, second]);
  expect(notes.map((each) => isSignedBy(each, signer.publicKey))).toEqual([true, false]);
  expect(notes.map((each) => isSignedBy(each, other.publicKey))).toEqual([false, true]);
  expect(readNotes('')).toEqual([]);
});

test.each<[string, string]>([
  ['the name of another', note.replace(signer.publicKey.name, other.publicKey.name)],
  ['the id of another', note.replace(/ [^ ]+\n$/, (signature) => ` ${withId(signature, other.publicKey.id)}\n`)],
  ['another size', note.replace('\n5\n', '\n6\n')],
])('a note with %s is not signed by the key', (_, text) => {
  const [read] = readNotes(`${text}\n`);
  expect(read && isSignedBy(read, signer.publicKey)).toBe(false);
});

test.each([0, 5, 999_999_999_999_999])('a note may be about %i entries', (size) => {
  const [read] = readNotes(`${signedNote({ ...checkpoint, size }, signer)}\n`);
  expect(read?.checkpoint.size).toBe(size);
});

test.each<[string, string]>([
  ['no gap', note.replace('\n\n', '\n')],
  ['a size with a zero before it', note.replace('\n5\n', '\n05\n')],
  ['a size that is none', note.replace('\n5\n', '\nfive\n')],
  ['a size with a number in it', note.replace('\n5\n', '\nx5\n')],
  ['a size with sixteen digits', note.replace('\n5\n', `\n${'1'.repeat(16)}\n`)],
  ['a root that is none', note.replace('q6ur', 'q6u')],
  ['a root in another spelling', note.replace('q6s=\n', 'q6t=\n')],
  ['a signature that is none', note.replace('\u2014', '-')],
  ['a signature in another spelling', note.replace(/(.)=\n$/, (_, last) => `${nextBase64(last)}=\n`)],
  ['a signature that is a byte short', note.replace(/(.)=\n$/, '==\n')],
  ['no origin', note.replace('baton/x', '')],
  ['a tail that is cut', note.slice(0, -5)],
])('%s cannot be read', (_, text) => {
  expect(readNotes(`${text}\n`)).toContain(null);
});

test('any change of a note is found, whatever it is', () => {
  fc.assert(
    fc.property(fc.nat(), fc.string({ maxLength: 2, unit: 'binary' }), (at, noise) => {
      const file = `${note}\n`;
      const place = at % file.length;
      const spoilt = file.slice(0, place) + noise + file.slice(place + 1);
      // The last newline separates the note from one that may follow, and is no part of it.
      fc.pre(spoilt !== file && spoilt !== note);
      const notes = readNotes(spoilt);
      const isWhole = notes.length === 1 && notes.every((each) => each !== null && isSignedBy(each, signer.publicKey));
      expect(isWhole).toBe(false);
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 500) },
  );
});
