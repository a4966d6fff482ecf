// From now on nobody acts under the token.
import { revokeToken, tokenRow } from '../../access/tokens.ts';
import { allow } from '../../kernel/verdict.ts';
import type { Run } from '../operation.ts';
import type { FieldsOf } from './table.ts';

export const run: Run<FieldsOf<'token.revoke'>> = async ({ env }, { name }) => {
  const now = Date.now();
  const found = revokeToken(env, name, now);
  if (!found.ok) return found.verdict;
  return allow(`the token ${name} is revoked; nobody acts under it any more`, tokenRow(found.value, now));
};
