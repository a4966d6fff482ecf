// Between a line of shell and the words of one command. Only a line that is one plain command becomes words; everything that
// needs a shell stays a line for one.

/** Words that begin something else than a program, or a program that lives in the shell alone. */
const SHELL_ONLY = new Set(
  'if then elif else fi for while until do done case esac in select function time coproc cd pushd popd export declare typeset local readonly alias unalias eval exec source . set unset shift trap ulimit umask wait read return exit break continue jobs fg bg let shopt hash getopts builtin command type'.split(
    ' ',
  ),
);
const PLAIN = /[A-Za-z0-9_@%+=:,./-]/;
const CHARS_MAX = 65_536;

/** The words of a line that is one plain command, exactly as a shell would split it; null where it takes a shell. */
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
      // What a shell would put in or take out between double quotes needs a shell.
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

/** What is run for a line: the command itself, or a shell that is given the line. */
export function argvOf(line: string): readonly string[] {
  return plainWords(line) ?? ['bash', '-c', line];
}

/** The words as a line that a shell splits into exactly these words. */
export function shellLine(argv: readonly string[]): string {
  return argv.map(quoted).join(' ');
}

function quoted(word: string): string {
  return word !== '' && /^[A-Za-z0-9_@%+:,./-][A-Za-z0-9_@%+=:,./-]*$/.test(word)
    ? word
    : `'${word.replaceAll("'", "'\\''")}'`;
}
