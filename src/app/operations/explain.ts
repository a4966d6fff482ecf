// What a code means, what brings it about, and what to do about it.
import { ANSWERS } from '../../kernel/codes.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { nearestName } from '../../kernel/text.ts';
import { allow } from '../../kernel/verdict.ts';
import { UsageError } from '../../workspace/locate.ts';
import type { Operation } from './table.ts';

export const explainCode: Operation<'explain'> = async ({ program }, { code: word }) => {
  if (word === undefined) return allow('all codes', { codes: ANSWERS as unknown as JsonObject });
  // A finding may carry its value or place after a colon; the row is that of its family.
  const code = (word.split(':')[0] ?? word).toUpperCase();
  if (!Object.hasOwn(ANSWERS, code))
    throw new UsageError(`there is no code ${word}${guess(code)}; \`${program} explain\` lists them`);
  const row = ANSWERS[code as keyof typeof ANSWERS];
  return allow(row.means, { code, ...row });
};

function guess(code: string): string {
  const near = nearestName(code, Object.keys(ANSWERS));
  return near === null ? '' : ` (did you mean ${near}?)`;
}
