// How tokens and trusted folders are shown.
import type { JsonObject } from '../../kernel/json.ts';
import { table } from '../table.ts';
import { type Forms, reasonLine, rowsIn } from './form.ts';

export const forms: Forms = {
  'token.create': {
    lines: ({ token }) => [String(token)],
    notes: ({ name, role }, _call, _given, { allow }) =>
      allow ? [`Token ${name} (${role}). It is shown this once; keep it where only its user can read it.`] : [],
    refusal: 'lines',
  },
  'token.list': { lines: tokenLines, refusal: 'lines' },
  'token.revoke': { lines: reasonLine, refusal: 'lines' },
  trust: { lines: reasonLine, refusal: 'lines' },
};

function tokenLines({ tokens }: JsonObject): readonly string[] {
  const rows = rowsIn(tokens);
  if (rows.length === 0) return ['There is no token yet.'];
  const cells = rows.map(({ name, role, created, expires, revoked, usable }) => {
    const status = revoked !== null ? 'revoked' : usable ? 'usable' : 'expired';
    return [name, role, status, created, expires ?? 'until it is revoked'].map(String);
  });
  return table(cells, ['name', 'role', 'status', 'made', 'good until']);
}
