// Tokens of people and of programs: makes, lists and revokes them.
import { createToken, listTokens, revokeToken, tokenRow } from '../../access/tokens.ts';
import { allow } from '../../kernel/verdict.ts';
import { UsageError } from '../../workspace/locate.ts';
import type { Operation } from './table.ts';

const MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** A token is made. Its secret is answered this once. */
export const tokenCreate: Operation<'token.create'> = async ({ env }, { role, name = null, expires }) => {
  const now = Date.now();
  const made = createToken(env, { role, name, expires: expires === undefined ? null : expiry(expires, now) }, now);
  if (!made.ok) return made.verdict;
  const { token, secret } = made.value;
  return allow(`the token ${token.name} was made`, { ...tokenRow(token, now), token: secret });
};

function expiry(given: string, now: number): string {
  const [, count = '', unit = ''] = /^(\d{1,6})([mhdw])$/.exec(given) ?? [];
  const at = unit === '' ? Date.parse(given) : now + Number(count) * (MS[unit] ?? 0);
  if (Number.isFinite(at) && at > now) return new Date(at).toISOString();
  throw new UsageError(
    `--expires takes a time to come, such as 2030-01-31, or a number with m, h, d or w, such as 30d, not ${given}`,
  );
}

/** Every token with its role, and whether it can still be used. */
export const tokenList: Operation<'token.list'> = async ({ env }) => {
  const found = listTokens(env);
  if (!found.ok) return found.verdict;
  const now = Date.now();
  return allow(`${found.value.length} tokens`, { tokens: found.value.map((token) => tokenRow(token, now)) });
};

/** From now on nobody acts under the token. */
export const tokenRevoke: Operation<'token.revoke'> = async ({ env }, { name }) => {
  const now = Date.now();
  const found = revokeToken(env, name, now);
  if (!found.ok) return found.verdict;
  return allow(`the token ${name} is revoked; nobody acts under it any more`, tokenRow(found.value, now));
};
