import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readShell } from './shell.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 2000);

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

test('a line that is too long is not read', () => {
  expect(readShell('a'.repeat(300_000))).toMatchObject({ ok: false });
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
