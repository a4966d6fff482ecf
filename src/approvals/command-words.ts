// The words by which a command is known, behind the options that may stand before it.
import type { Word } from '../shell/read-line.ts';
import { GLOBALS } from './tier-table.ts';

/** The words behind the program, without the options that may stand before a command; null for one that cannot be seen. */
export function wordsOf(program: string, args: readonly Word[]): readonly (string | null)[] {
  const { values = [], alone = [] } = (Object.hasOwn(GLOBALS, program) && GLOBALS[program]) || {};
  let at = 0;
  for (; at < args.length; at += 1) {
    const { text = '', isPlain = false } = args[at] ?? {};
    const next = args[at + 1];
    if (!isPlain) break;
    if (values.includes(text) && next !== undefined && next.text !== '' && !next.text.startsWith('-')) at += 1;
    else if (!alone.includes(text) && !values.some((name) => name.startsWith('--') && text.startsWith(`${name}=`)))
      break;
  }
  return args.slice(at).map(({ text, isPlain }) => (isPlain ? text : null));
}
