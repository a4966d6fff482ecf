// `baton explain`: what a code means, what brings it about, and what to do about it.
import { ANSWERS } from '../../kernel/codes.ts';
import { type Call, EXIT, out, outJson, UsageError } from '../command.ts';

const RETRY = {
  repaired: 'after the payload was repaired',
  later: 'later, as it is',
  person: 'after a person acted',
  never: 'not at all',
} as const;

export async function run(call: Call): Promise<number> {
  const [word, ...more] = call.words;
  if (more.length > 0) throw new UsageError('explain one code at a time');
  if (word === undefined) {
    if (call.json) outJson(ANSWERS);
    else for (const [code, { means }] of Object.entries(ANSWERS)) out(`${code.padEnd(28)} ${means}`);
    return EXIT.ok;
  }
  // A finding may carry its value or place after a colon; the row is that of its family.
  const code = (word.split(':')[0] ?? word).toUpperCase();
  if (!Object.hasOwn(ANSWERS, code)) throw new UsageError(`there is no code ${word}; \`baton explain\` lists them`);
  const row = ANSWERS[code as keyof typeof ANSWERS];
  if (call.json) outJson({ code, ...row });
  else {
    out(`${code}: ${row.means}`);
    out(`  caused by    ${row.cause}`);
    out(`  what to do   ${row.fix}`);
    out(`  trying again helps ${RETRY[row.retry]}`);
    out(`  HTTP status  ${row.http}`);
  }
  return EXIT.ok;
}
