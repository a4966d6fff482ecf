// `baton verify`: whether an exported file is what was signed.
import { resolve } from 'node:path';
import { tampered } from '../../audit/fault.ts';
import { readKeyLine } from '../../audit/note.ts';
import { trustedKeys } from '../../audit/signing-key.ts';
import { verifyBundle } from '../../audit/verify-bundle.ts';
import type { Verdict } from '../../kernel/verdict.ts';
import { readPlainFile } from '../../workspace/read-plain-file.ts';
import { type Call, text, UsageError } from '../command.ts';
import { tell } from '../verdict-answer.ts';

export async function run(call: Call): Promise<number> {
  return tell(call, verify(call), ({ reason, details }) => [
    reason,
    `texts         ${details.texts} shown, ${details.redacted} redacted; ${details.withheld} facts withheld`,
  ]);
}

function verify(call: Call): Verdict {
  const given = text(call.values, 'key');
  const key = given === undefined ? null : readKeyLine(given);
  if (given !== undefined && !key) throw new UsageError('--key must be a line as `baton audit key` prints it');
  const trusted = key ? { ok: true as const, value: [key] } : trustedKeys(call.env);
  if (!trusted.ok) return trusted.verdict;
  const verdict = verifyBundle(contents(call), trusted.value);
  const isTrusted = (verdict.details.key as { trusted?: boolean } | undefined)?.trusted === true;
  if (!verdict.allow || isTrusted) return verdict;
  if (!key) return { ...verdict, reason: `${verdict.reason}; ${STRANGER}` };
  return tampered(
    [{ kind: 'CHECKPOINT_SIGNATURE', seq: 0, reason: 'the file was signed by another key' }],
    verdict.details,
  );
}

const STRANGER =
  'but nobody here knows the key that signed it: whole it is, and by whom is not proved. Ask for the key and compare with --key';

function contents(call: Call): string {
  const file = resolve(call.cwd, call.words[0] ?? '');
  try {
    return readPlainFile(file).toString('utf8');
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${(error as Error).message}`);
  }
}
