// A bundle holds what was asked for and no credentials; what was left out is proved all the same; nothing makes reading it fail.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Append } from '../engine/ports.ts';
import type { Fact } from '../kernel/fact.ts';
import type { JsonObject } from '../kernel/json.ts';
import { withEvidence } from '../log/sqlite/evidence.ts';
import { SqliteLog } from '../log/sqlite/log.ts';
import { digestOfText, readBundle, verifyBundle } from './bundle.ts';
import { checkpointFolders, knownCheckpoints } from './checkpoints.ts';
import { openSigner } from './note.ts';
import { type BundleResult, makeBundle } from './prove.ts';

const SECRET = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';
const PROMPT = `You build things. ${'x'.repeat(300)}`;
const LONG = `A long story about Ada. ${'y'.repeat(300)}`;
const ERASED = `Erased. ${'z'.repeat(300)}`;
const ELSEWHERE = `Elsewhere. ${'z'.repeat(300)}`;

const LOCK = JSON.stringify({ prompts: 'l'.repeat(300) });

const root = mkdtempSync(join(tmpdir(), 'baton-bundle-'));
const file = join(root, 'log.sqlite');
let bundle: (cast: string, ...redact: string[]) => Promise<BundleResult>;

beforeAll(async () => {
  const log = new SqliteLog(file);
  const digest = (text: string) => `sha256:${process.getBuiltinModule('node:crypto').hash('sha256', text, 'hex')}`;
  await log.commit(0, {
    decide: () => [
      started('a', { prompt: PROMPT }),
      started('b', { prompt: `Use the token ${SECRET}. ${'x'.repeat(300)}` }),
      append({ kind: 'cast.paused', cast: 'a', reason: LONG }),
      append({ kind: 'cast.paused', cast: 'b', reason: `token ${SECRET}` }),
      append({ kind: 'turn.decided', cast: 'a', turn: 1, choice: 'rerun', reason: 'Ada said so' }),
      append({ kind: 'task.moved', run: 'a', task: 'T-1' }),
      append({ kind: 'cast.paused', cast: 'a', reason: ERASED }),
      append({ kind: 'blob.erased', digest: digest(ERASED), from: [7], reason: '' }),
      append({ kind: 'cast.paused', cast: 'b', reason: ELSEWHERE }),
      append({ kind: 'blob.erased', digest: digest(ELSEWHERE), from: [9], reason: '' }),
      append({ kind: 'cast.completed', cast: 'a' }),
      ...['used', 'other'].map((digest) =>
        append({ kind: 'registry.loaded', registry: { digest }, texts: { manifest: '{}', lock: LOCK } }),
      ),
      append({ kind: 'attempt.started', cast: 'c', turn: 1, attestation: { registry: 'used' } }),
      append({ kind: 'approval.approved', cast: 'd', id: 'P-1', by: 'token:approver-1a2b3c4d' }),
    ],
  });
  await log.close();
  const env = { BATON_CONFIG: join(root, 'config'), BATON_CHECKPOINTS: join(root, 'outside') };
  const place = { dir: root, stateDir: root };
  const [signer, known] = [openSigner(env), knownCheckpoints(place, env)];
  if (!signer.ok || !known.ok) throw new Error('there is no key');
  const signing = { signer: signer.value, origin: checkpointFolders(place, env).origin };
  bundle = (cast, ...redact) =>
    withEvidence(file, (evidence) => makeBundle(evidence, cast, known.value, signing, redact));
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

function append(fact: object): Append {
  return { fact: fact as Fact, by: 'test', at: 0 };
}

function started(cast: string, materia: JsonObject): Append {
  const rules = { materia: { Build: materia, Check: { prompt: 'short' }, Shell: { command: ['x'] } } };
  return append({ kind: 'cast.started', cast, request: '', loadout: 'L', rules, script: null, data: {} });
}

test('it holds the facts of the cast and of its run, and those that erased its texts', async () => {
  const { verdict, text } = await bundle('a');
  expect(verdict.code).toBe('OK');
  expect(readBundle(text)?.seqs).toEqual([1, 3, 5, 6, 7, 8, 11]);
  const found = verifyBundle(text, []);
  expect(found).toMatchObject({
    allow: true,
    details: { cast: 'a', loadout: 'L', approvals: [5], withheld: 0, texts: 2 },
  });
  expect(Object.keys(found.details.prompts as object)).toEqual(['Build', 'Check']);
  expect(found.details.key).toMatchObject({ trusted: false });
});

test('it holds the registries that the agents of the cast were attested with, manifest and lock among its texts', async () => {
  const { text } = await bundle('c');
  expect(readBundle(text)).toMatchObject({ seqs: [12, 14], texts: { [digestOfText(LOCK) ?? '']: LOCK } });
  expect(verifyBundle(text, [])).toMatchObject({ allow: true });
});

test('a text that is left out by its digest, or by what it says, is proved all the same', async () => {
  const [, digest = ''] = Object.keys(readBundle((await bundle('a')).text)?.texts ?? {});
  for (const redact of [digest, 'about Ada.']) {
    const { text } = await bundle('a', redact);
    expect(verifyBundle(text, [])).toMatchObject({ allow: true, details: { redacted: 1, texts: 1 } });
  }
});

test.each([`sha256:${'0'.repeat(64)}`, 'words that nobody said'])(
  'what occurs nowhere cannot be left out: %s',
  async (redact) => {
    const { verdict, text } = await bundle('a', redact);
    expect([verdict.code, text]).toEqual(['BAD_USAGE', '']);
    expect(JSON.stringify(verdict)).not.toContain('nobody said');
  },
);

test('words that stand in a line keep back the fact, and its leaf is proved', async () => {
  const { text } = await bundle('a', 'Ada said');
  expect(text).not.toContain('Ada said');
  expect(verifyBundle(text, [])).toMatchObject({ allow: true, details: { withheld: 1, approvals: [] } });
});

test('the name of the token by which a person decided is no credential', async () => {
  expect((await bundle('d')).verdict).toMatchObject({ code: 'OK' });
});

test('a credential is not handed out in clear: not in a text, not in a line', async () => {
  const { verdict, text } = await bundle('b');
  expect([verdict.code, text]).toEqual(['EXPORT_HOLDS_SECRET', '']);
  expect(verdict.details).toMatchObject({ texts: [{ kinds: ['github-token'] }], facts: [{ seq: 4 }] });
  expect(JSON.stringify(verdict)).not.toContain(SECRET);
  const redacted = await bundle('b', 'secrets');
  expect(redacted.text).not.toContain(SECRET);
  expect(verifyBundle(redacted.text, [])).toMatchObject({ allow: true, details: { withheld: 1, redacted: 1 } });
  expect(verifyBundle((await bundle('b', SECRET)).text, [])).toMatchObject({ allow: true });
});

test.each(['', '{}', '[]', 'null', '{"format":"baton.bundle/1"}', '\u0000', '{'.repeat(100_000)])(
  '%j is no bundle',
  (text) => {
    expect(verifyBundle(text.slice(0, 200_000), [])).toMatchObject({
      code: 'TAMPERED',
      details: { kind: 'BUNDLE_MALFORMED' },
    });
  },
);

test.each([
  ['without its filling', (signature: string) => signature.replace(/=+$/, '')],
  ['with half of its filling', (signature: string) => signature.replace(/=$/, '')],
  [
    'with other bits where none count',
    (signature: string) => signature.replace(/(.)==$/, (_, last) => `${next(last)}==`),
  ],
])('a signature that is spelt %s is not the one that was written', async (_how, spelt) => {
  const { text } = await bundle('a');
  const [, signature = ''] = /"signature":"([^"]+)"/.exec(text) ?? [];
  expect(Buffer.from(spelt(signature), 'base64')).toEqual(Buffer.from(signature, 'base64'));
  const spoilt = text.replace(signature, spelt(signature));
  expect(verifyBundle(spoilt, [])).toMatchObject({ code: 'TAMPERED', details: { kind: 'BUNDLE_SIGNATURE' } });
});

/** The character whose six bits are one more: the first two of them stay the same. */
function next(character: string): string {
  const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  return digits[digits.indexOf(character) + 1] ?? '';
}

test('every byte of it counts', async () => {
  const { text } = await bundle('a');
  fc.assert(
    fc.property(fc.nat(), fc.string({ maxLength: 2, unit: 'binary' }), (at, noise) => {
      const place = at % text.length;
      const spoilt = text.slice(0, place) + noise + text.slice(place + 1);
      fc.pre(spoilt !== text);
      expect(verifyBundle(spoilt, [])).toMatchObject({
        allow: false,
        code: 'TAMPERED',
        details: { seq: expect.any(Number) },
      });
    }),
    { numRuns: Math.min(500, Number(process.env.FUZZ_RUNS ?? 500)) },
  );
});

test('whatever stands in its members, it is answered', async () => {
  const whole = JSON.parse((await bundle('a')).text) as Record<string, unknown>;
  const members = fc.constantFrom(...Object.keys(whole));
  fc.assert(
    fc.property(members, fc.jsonValue(), (name, value) => {
      fc.pre(JSON.stringify(whole[name]) !== JSON.stringify(value));
      const spoilt = { ...whole, [name]: value };
      const sorted = Object.fromEntries(Object.entries(spoilt).sort(([a], [b]) => (a < b ? -1 : 1)));
      expect(verifyBundle(`${JSON.stringify(sorted)}\n`, []).code).toBe('TAMPERED');
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 500) },
  );
});
