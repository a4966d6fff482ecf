import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readShell, type Word } from './read-line.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 500);

/** `words > writes` of each command; a word that only the shell knows has a question mark. */
function told(line: string): readonly string[] {
  const read = readShell(line);
  if (!read.ok) return [`!${read.why}`];
  const word = ({ text, isPlain }: { text: string; isPlain: boolean }) => (isPlain ? text : `${text}?`);
  return read.commands.map(({ words, writes }) =>
    [words.map(word).join(' '), ...writes.map((one) => `>${word(one)}`)].filter((part) => part !== '').join(' '),
  );
}

test.each<[string, readonly string[]]>([
  ['', []],
  ['ls -la', ['ls -la']],
  ['a; b && c || d | e & f\ng', ['a', 'b', 'c', 'd', 'e', 'f', 'g']],
  [`rm '-rf' "a b" c\\ d`, ['rm -rf a b c d']],
  [`$'\\x72\\155' -r`, ['rm -r']],
  ['r""m -r', ['rm -r']],
  ['echo "$(rm x)" `rm y`', ['rm x', 'rm y', 'echo ? ?']],
  ['echo `rm y`', ['rm y', 'echo ?']],
  ['(cd a; rm b)', ['cd a', 'rm b']],
  ['if true; then rm a; fi', ['true', 'rm a', 'fi']],
  ['{ rm a; }', ['rm a', '}']],
  ['! time rm a', ['rm a']],
  ['a # rm b\nc', ['a', 'c']],
  ['echo a#b', ['echo a#b']],
  ['a > b 2>&1 >>c 2>d &>e >|f', ['a >b >c >d >e >f']],
  ['a >&2 <&- < in', ['a']],
  ['a >"$X/y"', ['a >/y?']],
  [`a \${x:-y} $1 $`, ['a ? ? $']],
  ['diff <(rm a) <(b)', ['rm a', 'b', 'diff']],
  ['cat > f <<E\nrm -rf x\nE\nb', ['cat >f', 'b']],
  ["cat <<-'E'\n\trm x\n\tE\nb", ['cat', 'b']],
  ['a <<<"b c" d', ['a d']],
  ['X=1 Y=2 a', ['X=1 Y=2 a']],
  ['a \\\n b', ['a b']],
  ["a 'never closed", ['a never closed']],
  ['echo "a \\"b\\" \\n"', ['echo a "b" \\n']],
  ['('.repeat(60), ['!it is nested too deeply']],
  ['$('.repeat(60), ['!it is nested too deeply']],
])('%j', (line, expected) => {
  expect(told(line)).toEqual(expected);
});

/** All that is read: `q` for quoted, `o` for open, `h` for a home, then files, the input, and the doubt. */
function readAll(line: string): readonly string[] {
  const read = readShell(line);
  if (!read.ok) return [`!${read.why}`];
  const word = ({ text, isPlain, isQuoted, isOpen, isHome }: Word) =>
    `${text}${isPlain ? '' : '?'}${isQuoted ? ' q' : ''}${isOpen ? ' o' : ''}${isHome ? ' h' : ''}`;
  const commands = read.commands.map(({ words, writes, reads, input }) =>
    [
      ...words.map(word),
      ...writes.map((one) => `>${word(one)}`),
      ...reads.map((one) => `<${word(one)}`),
      ...(input === null ? [] : [`=${input}`]),
    ].join(','),
  );
  return read.doubt === null ? commands : [...commands, `!${read.doubt}`];
}

const CALCULATES = '!it calculates';
const OPEN_BRACKET = '!a bracket is not closed';
const OPEN_QUOTE = '!a quote is not closed';
const NO_END = '!the end of a here-document is unclear';
const IN_BRACES = '!the text in braces is unclear';
const IN_BACK_QUOTES = '!the text in back quotes is unclear';
const IN_SUBSTITUTION = '!a here-document is in a substitution';

test.each<[string, readonly string[]]>([
  // Lists and brackets.
  ['a\t b', ['a,b']],
  ['a\\\nb', ['ab']],
  ['(a\nb)', ['a', 'b']],
  ['a(b)', ['a', 'b']],
  ['a ) b', ['a,b']],
  ['(a', ['a', OPEN_BRACKET]],
  ['$(a', ['a', '? o', OPEN_BRACKET]],
  ['((1))', ['1', CALCULATES]],
  ['( (a))', ['a']],
  ['a\rb', ['a\rb', '!it holds a carriage return']],
  ['a;#b\nc', ['a', 'c']],
  ['#', []],
  // Words after which a command begins.
  ['coproc a', ['a', '!it starts a coprocess']],
  ['b coproc', ['b,coproc']],
  ["'if' a", ['if q,a']],
  ['a if', ['a,if']],
  // Redirections.
  ['a 12<in', ['a,<in']],
  ['a b<in', ['a,b,<in']],
  ['a 5 >o', ['a,5,>o']],
  ['> out', ['>out']],
  ['a & > f', ['a', '>f']],
  ['a &>f', ['a,>f']],
  ['a >(b)', ['b', 'a']],
  ['a >&f', ['a,>f']],
  ['a >&$X', ['a,>? o']],
  ['a >&"1$X"', ['a,>1? q']],
  ['a >&12-', ['a']],
  ['a >& -', ['a']],
  ['a > ""', ['a']],
  ['a >$X', ['a,>? o']],
  ['a <""', ['a']],
  ['a <>f', ['a,>f']],
  ['a <<<x', ['a,=x']],
  // Documents.
  ['a <<E', ['a', NO_END]],
  ['a <<E\nx', ['a,=x', NO_END]],
  ['a <<E\nx\nE', ['a,=x']],
  ['a <<E\n\tE\nE', ['a,=\tE']],
  ['a <<-E\n\tx\n\tE\nb', ['a,=\tx', 'b']],
  ['a <<"E F"\nx\nE F\nb', ['a,=x', 'b', NO_END]],
  ['a <<E$X\nx\nE', ['a,=x', NO_END]],
  ['a <<E\nx\\\nE\nb', ['a,=x\\', 'b', NO_END]],
  ["a <<'E'\nx\\\nE\nb", ['a,=x\\', 'b']],
  ['a <<E <<F\n1\nE\n2\nF\nb', ['a,=2', 'b']],
  ['a <<E\n$(rm x)\nE', ['a,=$(rm x)', 'rm,x']],
  ['a <<E\n`rm x`\nE', ['a,=`rm x`', 'rm,x']],
  ["a <<'E'\n$(rm x)\nE", ['a,=$(rm x)']],
  ['a $(b <<E\nx\nE\n)', ['b,=x', 'a,? o', IN_SUBSTITUTION]],
  ['$(a\nb)', ['a', 'b', '? o']],
  ['m "$(cat <<\'E\'\nhello\nE\n)" b', ['m,hello q,b']],
  ['m "$(cat <<\'E\'\nE\n)" b', ['m, q,b']],
  ["m $(cat <<'E'\nhi\nE\n \t) b", ['m,hi? o,b']],
  ["m $(cat <<'E'\nhi\nE\nrm x)", ['cat,=hi', 'rm,x', 'm,? o', IN_SUBSTITUTION]],
  ["m $(cat <<'E'\nhi)", ['cat,=hi)', 'm,? o', IN_SUBSTITUTION]],
  // What the shell may make of a word.
  ['~/x a~', ['~/x h,a~']],
  ['* a?b [a] {a,b} {} a\\*', ['* o,a?b o,[a] o,{a,b} o,{},a*']],
  ['"*" "$X" $X', ['* q,? q,? o']],
  // Quotes.
  ["'a", ['a q', OPEN_QUOTE]],
  ['"a', ['a q', OPEN_QUOTE]],
  ['"a\\\nb"', ['ab q']],
  ['"\\$x \\` \\a"', ['$x ` \\a q']],
  ['$"hi"', ['hi q', '!it holds a text that is translated']],
  ["$'a", ['a q', OPEN_QUOTE]],
  [`$'a\\nb\\t\\r\\\\\\'\\"'`, [`a\nb\t\r\\'" q`]],
  ["$'\\q' b", ['q q,b', '!a letter is written in a way that is not known']],
  ["$'\\0'", ['\0 q', '!a letter is written as a number']],
  ["$'\\x7f'", ['\x7f q']],
  ["$'\\x80'", ['\x80 q', '!a letter is written as a number']],
  ["$'\\u0041'", ['A q']],
  // Back quotes.
  ['"`rm y`"', ['rm,y', '? q']],
  ['"`rm "y"`"', ['rm,y q', '? q', IN_BACK_QUOTES]],
  ['`rm "y"` b', ['rm,y q', '? o,b']],
  ['`a', ['a', '? o', IN_BACK_QUOTES]],
  ['`a\\b`', ['ab', '? o', IN_BACK_QUOTES]],
  ['`(a`', ['a', '? o', OPEN_BRACKET]],
  // Sums.
  ['a $[1] b', ['a,1]? o,b', CALCULATES]],
  ['$((1+2)) b', ['? o,b']],
  ['$((x)) b', ['x', '? o,b', CALCULATES]],
  // Braces.
  [`\${#X} \${X##*/} \${X%%y} \${1} \${@} $1$?`, ['? o,? o,? o,? o,? o,? o']],
  [`\${X:-$(rm a)} b`, ['rm,a', '? o,b']],
  [`\${X:-\`rm a\`} b`, ['rm,a', '? o,b']],
  [`\${X:=y} b`, ['? o,b', IN_BRACES]],
  [`\${!X} b`, ['? o,b', IN_BRACES]],
  [`\${X:-"y"} b`, ['? o,b', IN_BRACES]],
  [`\${X:-\\}} b`, ['? o,b', IN_BRACES]],
  [`\${X:-y`, ['? o', OPEN_BRACKET]],
  // Bounds.
  ['('.repeat(40), [CALCULATES]],
  ['('.repeat(41), ['!it is nested too deeply']],
  [`\${X-`.repeat(40) + '}'.repeat(40), ['? o']],
  [`\${X-`.repeat(41) + '}'.repeat(41), ['!it is nested too deeply']],
])('all of %j', (line, expected) => {
  expect(readAll(line)).toEqual(expected);
});

test('a line that is too long is not read', () => {
  expect(readShell('a'.repeat(262_144))).toMatchObject({ ok: true });
  expect(readShell('a'.repeat(262_145))).toMatchObject({ ok: false });
});

test('whatever the line, it is read', () => {
  const piece = fc.oneof(
    fc.string({ maxLength: 8 }),
    fc.constantFrom(
      '`',
      '$(',
      ')',
      '"',
      "'",
      '<<E\n',
      '\nE\n',
      '>',
      '>&',
      '\\',
      '${',
      '}',
      ';',
      '|',
      '&',
      '(',
      "$'",
      '#',
      '\n',
    ),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const line = pieces.join('');
      const read = readShell(line);
      if (read.ok)
        for (const { words, writes } of read.commands) expect(words.length + writes.length).toBeGreaterThan(0);
      expect(readShell(line)).toEqual(read);
    }),
    { numRuns: RUNS },
  );
});

test.each(['`', '"', '$(', '<<E\n', '(', '${', "$'", '>', 'a;', '\\', '<(', '"$('])(
  '100,000 times %j is read at once',
  (piece) => {
    const line = piece.repeat(Math.floor(100_000 / piece.length));
    expect(typeof readShell(line).ok).toBe('boolean');
  },
);
