// `baton token`: who may use the HTTP server, and for what. A token is shown once, when it is made.
import { isRole, ROLES } from '../../access/role.ts';
import { createToken, listTokens, revokeToken, type Token, whyUnusable } from '../../access/tokens.ts';
import { allow, type Verdict } from '../../kernel/verdict.ts';
import { again, type Call, note, text, UsageError } from '../command.ts';
import { table } from '../table.ts';
import { tell } from '../verdict-answer.ts';

const MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

export async function run(call: Call): Promise<number> {
  const [word, name, ...rest] = call.words;
  if (word === 'create' && name === undefined) return create(call);
  if (word === 'list' && name === undefined) return tell(call, listed(call), rows);
  if (word === 'revoke' && name !== undefined && rest.length === 0)
    return tell(call, revoked(call, name), ({ reason }) => [reason]);
  const baton = again(call);
  throw new UsageError(`say: ${baton} token create --role ROLE, ${baton} token list or ${baton} token revoke NAME`);
}

function create(call: Call): number {
  const role = text(call.values, 'role');
  if (!isRole(role)) throw new UsageError(`say --role with one of: ${ROLES.join(', ')}`);
  const now = Date.now();
  const wish = { role, name: text(call.values, 'name') ?? null, expires: expiry(call, now) };
  const made = createToken(call.env, wish, now);
  if (!made.ok) return tell(call, made.verdict, () => []);
  const { token, secret } = made.value;
  const verdict = allow(`the token ${token.name} was made`, { ...shown(token, now), token: secret });
  if (!call.json)
    note(`Token ${token.name} (${role}). It is shown this once; keep it where only its user can read it.`);
  return tell(call, verdict, () => [secret]);
}

function expiry(call: Call, now: number): string | null {
  const given = text(call.values, 'expires');
  if (given === undefined) return null;
  const [, count = '', unit = ''] = /^(\d{1,6})([mhdw])$/.exec(given) ?? [];
  const at = unit === '' ? Date.parse(given) : now + Number(count) * (MS[unit] ?? 0);
  if (Number.isFinite(at) && at > now) return new Date(at).toISOString();
  throw new UsageError(
    `--expires takes a time to come, such as 2030-01-31, or a number with m, h, d or w, such as 30d, not ${given}`,
  );
}

function listed(call: Call): Verdict {
  const found = listTokens(call.env);
  if (!found.ok) return found.verdict;
  const now = Date.now();
  return allow(`${found.value.length} tokens`, { tokens: found.value.map((token) => shown(token, now)) });
}

function revoked(call: Call, name: string): Verdict {
  const now = Date.now();
  const found = revokeToken(call.env, name, now);
  if (!found.ok) return found.verdict;
  return allow(`the token ${name} is revoked; nobody acts under it any more`, shown(found.value, now));
}

/** Everything but the digest, which is nobody's business. */
function shown(token: Token, now: number) {
  const { name, role, created, expires, revoked: taken } = token;
  return { name, role, created, expires, revoked: taken, usable: whyUnusable(token, now) === null };
}

function rows({ details }: Verdict): readonly string[] {
  const tokens = details.tokens as readonly ReturnType<typeof shown>[];
  if (tokens.length === 0) return ['There is no token yet.'];
  const status = ({ revoked: taken, usable }: ReturnType<typeof shown>) =>
    taken !== null ? 'revoked' : usable ? 'usable' : 'expired';
  const cells = tokens.map((token) => [
    token.name,
    token.role,
    status(token),
    token.created,
    token.expires ?? 'until it is revoked',
  ]);
  return table(cells, ['name', 'role', 'status', 'made', 'good until']);
}
