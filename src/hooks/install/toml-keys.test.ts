import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type TomlNode, tomlKeys } from './toml-keys.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 500);

function shown({ kind, children }: TomlNode): unknown {
  return kind === 'value' ? 1 : Object.fromEntries([...children].map(([key, child]) => [key, shown(child)]));
}

test.each<[string, unknown]>([
  ['', {}],
  ['\ufeff# only a comment', {}],
  ['a = 1\r\nb = true # c = 2\r\n', { a: 1, b: 1 }],
  ['a.b . c = 1\na.d = 2', { a: { b: { c: 1 }, d: 1 } }],
  ['[a]\nb = 1\n[a.c]\nd = 1', { a: { b: 1, c: { d: 1 } } }],
  ['[a.b]\nc = 1\n[a]\nd = 1', { a: { b: { c: 1 }, d: 1 } }],
  ['[ a . "b c" . \'d\' ] # e\nf = 1', { a: { 'b c': { d: { f: 1 } } } }],
  ['"ba\\u0074on" = 1', { baton: 1 }],
  ['[[a]]\nb = 1\n[[a]]\nc = 1\n[a.d]', { a: { c: 1, d: {} } }],
  ['a = { b = 1, c.d = { e = [] } }', { a: { b: 1, c: { d: { e: 1 } } } }],
  ['a = {\n  b = 1, # said of it\n}', { a: { b: 1 } }],
  ['a = [\n  1, # ]\n  [2, "]"], { b = 3 },\n]\nc = 1', { a: 1, c: 1 }],
  ['a = "x # \\" [b]"\nc = \'\\\'', { a: 1, c: 1 }],
  ['a = """\n[b]\nc = 1 \\\n  ""\\""""""\nd = 1', { a: 1, d: 1 }],
  ["a = '''\n[b]\n'\\'''''\nd = 1", { a: 1, d: 1 }],
  ['a = 1979-05-27T07:32:00Z\nb = 1979-05-27 07:32:00.5\nc = 07:32:00', { a: 1, b: 1, c: 1 }],
  ['a = [0xff, -1_000, 6.2e-3, +inf, nan, 0]', { a: 1 }],
  // Up to two quotes may stand right before the end of a long text.
  ['a = """x"""""\nb = 1', { a: 1, b: 1 }],
  // The text goes on in the next line.
  ['a = """\\ \t\nb\\\n"""\nc = 1', { a: 1, c: 1 }],
  ['"\\t\\x41\\u0001\\U0010ffff" = 1', { '\tA\u0001\u{10ffff}': 1 }],
  [`a = ${'['.repeat(100)}${']'.repeat(100)}`, { a: 1 }],
  ['__proto__ = 1', JSON.parse('{"__proto__": 1}')],
])('%j has its keys', (text, expected) => {
  const keys = tomlKeys(text);
  expect(keys.ok ? shown(keys.root) : keys.why).toEqual(expected);
});

test.each([
  ['a = = 3', 'line 1: a value is missing'],
  ['a = \nb = 1', 'line 1: a value is missing'],
  ['a = x', 'line 1: a value is missing'],
  ['a = 01', 'line 1: a value is missing'],
  ['{', 'line 1: a key is missing'],
  ['a', 'line 1: = is missing'],
  ['a = 1 b = 2', 'line 1: the line goes on where it should end'],
  ['a = 1\na = 2', 'line 2: a is there already'],
  ['[a]\n[a]', 'line 2: a is there already'],
  ['a.b = 1\n[a]', 'line 2: a is there already'],
  ['[a.b.c]\n[a]\nb.d = 1\n[a.b]', 'line 4: b is there already'],
  ['[a]\nb = 1\n[a.b]', 'line 3: b is there already'],
  ['a = {}\n[a.b]', 'line 2: a is no table that can be added to'],
  ['a = {}\na.b = 1', 'line 2: a is there already'],
  ['a = 1\n[[a]]', 'line 2: a is there already'],
  ['[a\nb = 1', 'line 1: ] is missing'],
  ['[[a]\nb = 1', 'line 1: ]] is missing'],
  ['a = [1 2]', 'line 1: ] is missing'],
  ['a = { b = 1', 'line 1: } is missing'],
  ['a = "b\nc"', 'line 1: " is missing'],
  ['a = """b\nc"', 'line 2: """ is missing'],
  ['a = "\\q"', 'line 1: a \\ has no meaning here'],
  ['a = "\\ud800"', 'line 1: no character is d800'],
  ['a = "\\udfff"', 'line 1: no character is dfff'],
  ['a = "\\U00110000"', 'line 1: no character is 00110000'],
  ['a = "\\u00g0"', 'line 1: no character is 00g0'],
  ['a = "\\u41', 'line 1: no character is 41'],
  ['"""a = 1', 'line 1: = is missing'],
  ['a = """\\ b"""', 'line 1: a \\ has no meaning here'],
  ['a = """x""""""', 'line 1: the line goes on where it should end'],
  ['a = "b""', 'line 1: the line goes on where it should end'],
  ['a = 1\n[a.b]', 'line 2: a is no table that can be added to'],
  [`a = ${'['.repeat(102)}`, 'line 1: too deep'],
  [`a = ${'{ a = '.repeat(102)}`, 'line 1: too deep'],
  ['a = 1\nb = "\u0000"', 'line 2: a character that no text has'],
  [`a = ${'['.repeat(10_000)}`, 'line 1: too deep'],
])('%j is no TOML: %s', (text, why) => {
  expect(tomlKeys(text)).toEqual({ ok: false, why });
});

test('whatever the text is, there is an answer, and what a JSON string holds is no key', () => {
  const piece = fc.constantFrom(
    '[',
    ']',
    '[[',
    '{',
    '}',
    '=',
    '.',
    ',',
    '\n',
    '"',
    "'",
    '"""',
    "'''",
    '#',
    '\\',
    'a',
    '1',
    ' ',
  );
  const text = fc.oneof(
    fc.string(),
    fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join('')),
  );
  fc.assert(
    fc.property(text, (raw) => {
      expect(typeof tomlKeys(raw).ok).toBe('boolean');
      const keys = tomlKeys(`a = ${JSON.stringify(raw).replaceAll('\u007f', '')}\nb = 1`);
      if (keys.ok) expect(shown(keys.root)).toEqual({ a: 1, b: 1 });
      else expect(keys.why).toMatch(/no text has|no character/);
    }),
    { numRuns: RUNS },
  );
});

test.each([
  ['quotes', '"'.repeat(200_000)],
  ['headers', '[a]\n'.repeat(50_000)],
  ['dots', `a${'.a'.repeat(100_000)} = 1`],
  ['comments', '# [a]\n'.repeat(50_000)],
])('many %s take no time', (_, text) => {
  const begun = performance.now();
  tomlKeys(text);
  expect(performance.now() - begun).toBeLessThan(2_000);
});
