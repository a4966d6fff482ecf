// Whether an exported file is what was signed.
import { resolve } from 'node:path';
import { verifyBundle } from '../../audit/bundle.ts';
import { tampered } from '../../audit/fault.ts';
import { readKeyLine, trustedKeys } from '../../audit/note.ts';
import { UsageError } from '../../workspace/locate.ts';
import { readPlainFile } from '../../workspace/read-plain-file.ts';
import type { Run } from '../operation.ts';
import type { FieldsOf } from './table.ts';

export const run: Run<FieldsOf<'verify'>> = async ({ cwd, env, program }, { file, key: line }) => {
  const key = line === undefined ? null : readKeyLine(line);
  if (line !== undefined && !key) throw new UsageError(`--key must be a line as \`${program} audit key\` prints it`);
  const trusted = key ? { ok: true as const, value: [key] } : trustedKeys(env);
  if (!trusted.ok) return trusted.verdict;
  const verdict = verifyBundle(contents(resolve(cwd, file)), trusted.value);
  const isTrusted = (verdict.details.key as { trusted?: boolean } | undefined)?.trusted === true;
  if (!verdict.allow || isTrusted) return verdict;
  if (!key) return { ...verdict, reason: `${verdict.reason}; ${STRANGER}` };
  return tampered(
    [{ kind: 'CHECKPOINT_SIGNATURE', seq: 0, reason: 'the file was signed by another key' }],
    verdict.details,
  );
};

const STRANGER =
  'but nobody here knows the key that signed it: whole it is, and by whom is not proved. Ask for the key and compare with --key';

function contents(file: string): string {
  try {
    return readPlainFile(file).toString('utf8');
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${(error as Error).message}`);
  }
}
