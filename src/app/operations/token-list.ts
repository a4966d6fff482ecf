// Every token with its role, and whether it can still be used.
import { listTokens, tokenRow } from '../../access/tokens.ts';
import { allow } from '../../kernel/verdict.ts';
import type { Run } from '../operation.ts';
import type { FieldsOf } from './table.ts';

export const run: Run<FieldsOf<'token.list'>> = async ({ env }) => {
  const found = listTokens(env);
  if (!found.ok) return found.verdict;
  const now = Date.now();
  return allow(`${found.value.length} tokens`, { tokens: found.value.map((token) => tokenRow(token, now)) });
};
