// The words of one plain command, and back to a line. Only a line that is a single plain command becomes words. Any other line
// needs a shell.

/** Keywords and builtins that only a shell can run. */
const SHELL_ONLY = new Set(
  'if then elif else fi for while until do done case esac in select function time coproc cd pushd popd export declare typeset local readonly alias unalias eval exec source . set unset shift trap ulimit umask wait read return exit break continue jobs fg bg let shopt hash getopts builtin command type'.split(
    ' ',
  ),
);
const PLAIN = /[A-Za-z0-9_@%+=:,./-]/;
const CHARS_MAX = 65_536;

/** The words of one plain command, split as a shell splits them. Null if the line needs a shell. */
export function plainWords(line: string): readonly string[] | null {
  if (line.length > CHARS_MAX) return null;
  const words: string[] = [];
  let word: string | null = null;
  for (let at = 0; at < line.length; at += 1) {
    const char = line[at] ?? '';
    if (char === ' ' || char === '\t') {
      if (word !== null) words.push(word);
      word = null;
    } else if (char === "'") {
      const end = line.indexOf("'", at + 1);
      if (end === -1) return null;
      word = (word ?? '') + line.slice(at + 1, end);
      at = end;
    } else if (char === '"') {
      const end = line.indexOf('"', at + 1);
      const inner = end === -1 ? '$' : line.slice(at + 1, end);
      // Expansions and escapes between double quotes need a shell.
      if (/[$`\\!]/.test(inner)) return null;
      word = (word ?? '') + inner;
      at = end;
    } else if (char === '\\') {
      const next = line[at + 1];
      if (next === undefined || next === '\n') return null;
      word = (word ?? '') + next;
      at += 1;
    } else if (PLAIN.test(char) || char > '\u007f') word = (word ?? '') + char;
    else return null;
  }
  if (word !== null) words.push(word);
  const [program] = words;
  if (program === undefined || program === '' || /^[A-Za-z_]\w*\+?=/.test(program) || SHELL_ONLY.has(program))
    return null;
  return words;
}

/** The program and arguments for a line: the command itself, or a shell with the line. */
export function argvOf(line: string): readonly string[] {
  return plainWords(line) ?? ['bash', '-c', line];
}

/** A line that a shell splits into exactly these words. */
export function shellLine(argv: readonly string[]): string {
  return argv.map(shellWord).join(' ');
}

/** Quotes one word for a shell. */
export function shellWord(word: string): string {
  return word !== '' && /^[A-Za-z0-9_@%+:,./-][A-Za-z0-9_@%+=:,./-]*$/.test(word)
    ? word
    : `'${word.replaceAll("'", "'\\''")}'`;
}
