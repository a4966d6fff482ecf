import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { admitToken, createToken, listTokens, type NewToken, parseToken, revokeToken, tokenNamed } from './tokens.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 500);
const NOW = Date.parse('2030-01-01T00:00:00.000Z');
const root = mkdtempSync(join(tmpdir(), 'baton-tokens-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let env: NodeJS.ProcessEnv = {};
beforeEach(() => {
  env = { BATON_CONFIG: mkdtempSync(join(root, 'user-')) };
});

function made(wish: Partial<NewToken> = {}): string {
  const token = createToken(env, { role: 'operator', name: 'ci', expires: null, ...wish }, NOW);
  if (!token.ok) throw new Error(token.verdict.reason);
  return token.value.secret;
}

function admitted(secret: string, now = NOW): string {
  const found = admitToken(env, secret, now);
  return found.ok ? `${found.value.name} is ${found.value.role}` : found.verdict.code;
}

const folder = () => join(String(env.BATON_CONFIG), 'tokens');

test.each<[string, (secret: string) => string, string]>([
  ['nothing', () => admitted(''), 'TOKEN_UNKNOWN'],
  ['another one', (secret) => admitted(`${secret.slice(0, -1)}${secret.endsWith('A') ? 'B' : 'A'}`), 'TOKEN_UNKNOWN'],
  ['a beginning of it', (secret) => admitted(secret.slice(0, -1)), 'TOKEN_UNKNOWN'],
  ['more than it', (secret) => admitted(`${secret} `), 'TOKEN_UNKNOWN'],
  ['something endless that begins with it', (secret) => admitted(secret.padEnd(1_000_000, 'x')), 'TOKEN_UNKNOWN'],
  [
    'it, after it was taken back',
    (secret) => {
      revokeToken(env, 'ci', NOW);
      return admitted(secret);
    },
    'TOKEN_REVOKED',
  ],
  ['it, when its time is over', (secret) => admitted(secret, NOW + 60_000), 'TOKEN_EXPIRED'],
  ['it, just before that', (secret) => admitted(secret, NOW + 59_999), 'ci is operator'],
])('whoever shows %s is answered', (_what, show, answer) => {
  expect(show(made({ expires: new Date(NOW + 60_000).toISOString() }))).toBe(answer);
});

test('what is kept is a digest of 32 random bytes, for its owner only', () => {
  const secret = made();
  expect(Buffer.from(secret.slice('baton_'.length), 'base64url')).toHaveLength(32);
  expect(secret).not.toBe(made({ name: 'other' }));
  const [file = ''] = readdirSync(folder());
  expect(readFileSync(join(folder(), file), 'utf8')).not.toContain(secret.slice('baton_'.length));
  expect(statSync(join(folder(), file)).mode & 0o777).toBe(0o600);
  expect(statSync(folder()).mode & 0o777).toBe(0o700);
});

test.each<[string, Partial<NewToken>, string]>([
  ['a name that is a path', { name: '../ci' }, 'BAD_USAGE'],
  ['a name that hides', { name: '.ci' }, 'BAD_USAGE'],
  ['a name that is taken', {}, 'TOKEN_EXISTS'],
])('%s is refused', (_what, wish, code) => {
  made();
  const token = createToken(env, { role: 'viewer', name: 'ci', expires: null, ...wish }, NOW);
  expect(token.ok ? 'OK' : token.verdict.code).toBe(code);
  expect(readdirSync(folder())).toEqual(['ci.json']);
});

test('a name is never given twice, so that what was done under it stays with whoever had it', () => {
  made();
  revokeToken(env, 'ci', NOW);
  expect(createToken(env, { role: 'admin', name: 'ci', expires: null }, NOW)).toMatchObject({
    verdict: { code: 'TOKEN_EXISTS' },
  });
});

test('without a name it is called by its role and its digest', () => {
  made({ name: null });
  const listed = listTokens(env);
  expect(listed.ok && listed.value.map(({ name }) => name)).toEqual([expect.stringMatching(/^operator-[0-9a-f]{8}$/)]);
});

test('it is taken back once; whom nobody knows cannot be', () => {
  made();
  expect(revokeToken(env, 'ci', NOW)).toMatchObject({ ok: true });
  expect(revokeToken(env, 'ci', NOW + 1)).toMatchObject({ value: { revoked: new Date(NOW).toISOString() } });
  expect(revokeToken(env, 'nobody', NOW)).toMatchObject({ verdict: { code: 'TOKEN_UNKNOWN' } });
});

test('a folder that others can look into admits nobody', () => {
  const secret = made();
  chmodSync(folder(), 0o755);
  expect(admitted(secret)).toBe('KEY_UNSAFE');
});

test('a file that others can write, or that lies under another name, is no token', () => {
  const secret = made();
  const text = readFileSync(join(folder(), 'ci.json'), 'utf8');
  writeFileSync(join(folder(), 'admin.json'), text, { mode: 0o600 });
  expect(tokenNamed(env, 'admin')).toBeNull();
  chmodSync(join(folder(), 'ci.json'), 0o666);
  expect(admitted(secret)).toBe('TOKEN_UNKNOWN');
});

const token = {
  name: 'ci',
  role: 'viewer',
  digest: 'a'.repeat(64),
  created: '2030-01-01',
  expires: null,
  revoked: null,
};

test.each<[string, unknown]>([
  ['a list', []],
  ['null', null],
  ['no name', { ...token, name: undefined }],
  ['a name that is a path', { ...token, name: '../ci' }],
  ['a role that is none', { ...token, role: 'root' }],
  ['a digest that is none', { ...token, digest: 'A'.repeat(64) }],
  ['a digest that is too short', { ...token, digest: 'a'.repeat(63) }],
  ['no time of its making', { ...token, created: null }],
  ['an end that is no time', { ...token, expires: 'soon' }],
  ['no word about its end', { ...token, expires: undefined }],
  ['a revocation that is no time', { ...token, revoked: false }],
])('a file with %s is no token', (_name, value) => {
  expect(parseToken(JSON.stringify(value))).toBeNull();
});

test('whatever a file holds, reading it gives a token or nothing', () => {
  const member = fc.oneof(fc.jsonValue(), fc.constantFrom('ci', 'admin', 'a'.repeat(64), '2030-01-01T00:00:00.000Z'));
  const mutated = fc.tuple(fc.constantFrom('more', ...Object.keys(token)), member);
  let many = 0;
  fc.assert(
    fc.property(fc.oneof(fc.array(mutated, { maxLength: 3 }), fc.string()), (given) => {
      const text = typeof given === 'string' ? given : JSON.stringify({ ...token, ...Object.fromEntries(given) });
      const read = parseToken(text);
      if (read === null) return;
      many += 1;
      expect(Object.keys(read).sort()).toEqual(Object.keys(token).sort());
      expect(parseToken(JSON.stringify(read))).toEqual(read);
    }),
    { numRuns: RUNS },
  );
  expect(many).toBeGreaterThan(RUNS / 10);
  expect(parseToken(JSON.stringify(token))).toEqual(token);
});
