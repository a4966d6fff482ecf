// Tokens: the holder acts under the token's name and with its role. A token is 32 random bytes, shown once. Only its digest is kept,
// in a private folder of the user. Each token has its own file, so only one of two tokens with the same name can be made.
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject, isString } from '../kernel/json.ts';
import { type Denied, deny } from '../kernel/verdict.ts';
import { isRole, type Role } from './rights.ts';
import { type UserRead, userFolder, whyFolderUnsafe, whyOpen } from './user-folder.ts';

export type Token = {
  readonly name: string;
  readonly role: Role;
  /** SHA-256 of the token, in hex. */
  readonly digest: string;
  readonly created: string;
  readonly expires: string | null;
  readonly revoked: string | null;
};

/** This prefix identifies a token wherever it appears. */
const PREFIX = 'baton_';
const BYTES = 32;
const TOKEN_CHARS_MAX = 200;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const DIGEST = /^[0-9a-f]{64}$/;
const SUFFIX = '.json';

export type NewToken = { readonly role: Role; readonly name: string | null; readonly expires: string | null };

/** Makes a token. Only the answer contains its secret. */
export function createToken(
  env: NodeJS.ProcessEnv,
  { role, name, expires }: NewToken,
  now: number,
): UserRead<{ readonly token: Token; readonly secret: string }> {
  const secret = `${PREFIX}${randomBytes(BYTES).toString('base64url')}`;
  const digest = hash('sha256', secret, 'hex');
  const called = name ?? `${role}-${digest.slice(0, 8)}`;
  if (!isTokenName(called))
    return refused('BAD_USAGE', `a token's name has 1 to 64 characters from A-Z a-z 0-9 . _ -, not ${called}`);
  const created = new Date(now).toISOString();
  const token: Token = { name: called, role, digest, created, expires, revoked: null };
  return inFolder(env, (folder) => {
    const draft = join(folder, `.${called}.${digest.slice(0, 16)}`);
    writeFileSync(draft, JSON.stringify(token), { mode: 0o600, flag: 'wx', flush: true });
    try {
      linkSync(draft, join(folder, `${called}${SUFFIX}`));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      // A used name stays with its first holder, for the record.
      return refused('TOKEN_EXISTS', `there is or was a token ${called}; choose another name`, { name: called });
    } finally {
      rmSync(draft, { force: true });
    }
    return { ok: true, value: { token, secret } };
  });
}

/** All tokens by name, including expired and revoked ones. */
export function listTokens(env: NodeJS.ProcessEnv): UserRead<readonly Token[]> {
  return inFolder(env, (folder) => ({ ok: true, value: tokensIn(folder) }));
}

/** Revokes a token. Its name stays taken. */
export function revokeToken(env: NodeJS.ProcessEnv, name: string, now: number): UserRead<Token> {
  return inFolder(env, (folder) => {
    const token = tokensIn(folder).find((one) => one.name === name);
    if (!token) return refused('TOKEN_UNKNOWN', `there is no token ${name}; \`baton token list\` shows them`, { name });
    const revoked: Token = { ...token, revoked: token.revoked ?? new Date(now).toISOString() };
    const draft = join(folder, `.${name}.revoked`);
    writeFileSync(draft, JSON.stringify(revoked), { mode: 0o600, flush: true });
    renameSync(draft, join(folder, `${name}${SUFFIX}`));
    return { ok: true, value: revoked };
  });
}

/** Finds the shown token. It compares every kept token in constant time. */
export function admitToken(env: NodeJS.ProcessEnv, shown: string, now: number): UserRead<Token> {
  const listed = listTokens(env);
  if (!listed.ok) return listed;
  const digest = hash('sha256', shown.slice(0, TOKEN_CHARS_MAX), 'buffer');
  let found: Token | null = null;
  for (const token of listed.value) if (timingSafeEqual(Buffer.from(token.digest, 'hex'), digest)) found = token;
  if (!found || shown.length > TOKEN_CHARS_MAX) return refused('TOKEN_UNKNOWN', 'this user has no such token');
  const why = whyUnusable(found, now);
  return why ? { ok: false, verdict: why } : { ok: true, value: found };
}

export function whyUnusable({ name, revoked, expires }: Token, now: number): Denied | null {
  if (revoked !== null)
    return deny('TOKEN_REVOKED', `the token ${name} was revoked at ${revoked}; ask for another one`, { token: name });
  if (expires === null || now < Date.parse(expires)) return null;
  return deny('TOKEN_EXPIRED', `the token ${name} was good until ${expires}; ask for another one`, { token: name });
}

export function tokenNamed(env: NodeJS.ProcessEnv, name: string): Token | null {
  const listed = listTokens(env);
  return listed.ok ? (listed.value.find((token) => token.name === name) ?? null) : null;
}

function isTokenName(name: string): boolean {
  return NAME.test(name);
}

/** The token in a file, or null if it is invalid. */
export function parseToken(text: string): Token | null {
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value)) return null;
    const { name, role, digest, created, expires, revoked } = value;
    if (!isString(name) || !isTokenName(name) || !isRole(role) || !isString(digest) || !DIGEST.test(digest))
      return null;
    if (!isTime(created) || !(expires === null || isTime(expires)) || !(revoked === null || isTime(revoked)))
      return null;
    return { name, role, digest, created, expires, revoked };
  } catch {
    return null;
  }
}

function isTime(value: unknown): value is string {
  return isString(value) && Number.isFinite(Date.parse(value));
}

function tokensIn(folder: string): readonly Token[] {
  const names = readdirSync(folder).filter((name) => name.endsWith(SUFFIX) && !name.startsWith('.'));
  return names.toSorted().flatMap((name) => {
    const file = join(folder, name);
    // A file that others could have written proves nothing.
    if (whyOpen(statSync(file), 0o022) !== null) return [];
    const token = parseToken(readFileSync(file, 'utf8'));
    return token && `${token.name}${SUFFIX}` === name ? [token] : [];
  });
}

function inFolder<T>(env: NodeJS.ProcessEnv, work: (folder: string) => UserRead<T>): UserRead<T> {
  const own = userFolder(env);
  const folder = join(own, 'tokens');
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const unsafe = whyFolderUnsafe(own) ?? whyFolderUnsafe(folder);
    return unsafe ? refused('KEY_UNSAFE', unsafe) : work(folder);
  } catch (error) {
    return refused(
      'KEY_UNSAFE',
      `${folder} cannot be used (${(error as Error).message}); correct that, or move it away`,
    );
  }
}

function refused(
  code: Denied['code'],
  reason: string,
  details: Denied['details'] = {},
): { ok: false; verdict: Denied } {
  return { ok: false, verdict: deny(code, reason, details) };
}

/** A token without its digest. */
export function tokenRow(token: Token, now: number) {
  const { name, role, created, expires, revoked } = token;
  return { name, role, created, expires, revoked, usable: whyUnusable(token, now) === null };
}
