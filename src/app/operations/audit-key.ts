// The public key of this user, for whoever checks what he signed.
import { keyLine, openSigner } from '../../audit/note.ts';
import { allow } from '../../kernel/verdict.ts';
import type { Run } from '../operation.ts';
import type { FieldsOf } from './table.ts';

export const run: Run<FieldsOf<'audit.key'>> = async ({ env }) => {
  const signer = openSigner(env);
  return signer.ok ? allow('the public key of this user', { key: keyLine(signer.value.publicKey) }) : signer.verdict;
};
