import fc from 'fast-check';
import { expect, test } from 'vitest';
import { extractObject } from './json-answer.ts';
import { JSON_DEPTH_MAX, parseJsonText } from './json-text.ts';

const FENCE = '```';
const runs = { numRuns: Number(process.env.FUZZ_RUNS ?? 500) };
const timeout = 10_000 + 3 * runs.numRuns;
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

test.each([
  ['{"a":"ää"}', { maxBytes: 11 }, 'too_large', 1, 1],
  [nested(JSON_DEPTH_MAX + 1), {}, 'too_deep', 1, JSON_DEPTH_MAX + 1],
  ['{\n  "a": 1,\n  "b" 2\n}', {}, 'syntax', 3, 7],
  ['{\r\n"a": 1,\r"b" 2\r\n}', {}, 'syntax', 3, 5],
  ['{"a":1e999}', {}, 'syntax', 1, 6],
  ['{\n "a": {"__proto__": {}}}', {}, 'forbidden_key', 2, 8],
  ['{"constructor":{"prototype":{}}}', {}, 'forbidden_key', 1, 17],
  ['{"a":1,\n"a":2}', {}, 'duplicate_key', 2, 1],
  ['{"a":{"b":1},"a":{"b":1}}', {}, 'duplicate_key', 1, 14],
])('%j with %j is refused: %s at line %i column %i', (text, limits, kind, line, column) => {
  const reading = parseJsonText(text, limits);
  expect(reading).toMatchObject({ ok: false, kind, line, column });
});

test.each([
  ['{"a":"ää"}', { maxBytes: 12 }, { a: 'ää' }],
  ['["😀"]', { maxBytes: 8 }, ['😀']],
  [nested(JSON_DEPTH_MAX), {}, JSON.parse(nested(JSON_DEPTH_MAX))],
  ['"{[:"', {}, '{[:'],
  ['{"a":"\\":\\\\"}', {}, { a: '":\\' }],
  ['{"constructor":1,"toString":2}', {}, { constructor: 1, toString: 2 }],
  ['null', {}, null],
  ['\ufeff{"a":1}', {}, { a: 1 }],
])('%j with %j is read', (text, limits, value) => {
  expect(parseJsonText(text, limits)).toMatchObject({ ok: true, value });
});

test.each([
  ['1', 0, false],
  ['{"a":[{}],"b":{}}', 3, false],
  ['["[[[","\\n"]', 1, true],
])('%s is %i levels deep; with escapes: %s', (text, depth, hasEscapes) => {
  expect(parseJsonText(text)).toMatchObject({ ok: true, depth, hasEscapes });
});

test.each([
  ['{"\\u005f_proto__":1}', 'forbidden_key'],
  ['{"\\u0063onstructor":{"prototype":1}}', 'forbidden_key'],
  ['{"\\u0061":1,"a":2}', 'duplicate_key'],
])('%s is refused whatever its escapes hide: %s', (text, kind) => {
  expect(parseJsonText(text)).toMatchObject({ ok: false, kind });
});

test(
  'the size limit counts bytes of UTF-8',
  () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', 'ä', '€', '😀', '\ud800', '\udc00')), (units) => {
        const content = units.join('');
        const text = `"${content}"`;
        const bytes = Buffer.byteLength(text);
        expect(parseJsonText(text, { maxBytes: bytes })).toMatchObject({ ok: true, value: content });
        expect(parseJsonText(text, { maxBytes: bytes - 1 })).toMatchObject({ kind: 'too_large' });
      }),
      runs,
    );
  },
  timeout,
);

test.each([
  ['the whole text', ' \n{"a":1}\n', { a: 1 }],
  [
    'the whole text, with a fence in a string',
    `{"a":"${FENCE}json\\n{}\\n${FENCE}"}`,
    { a: `${FENCE}json\n{}\n${FENCE}` },
  ],
  ['an object after prose', 'Here you go:\n{"a":1}', { a: 1 }],
  ['an object before prose', '{"a":1}\nThat is all.', { a: 1 }],
  ['a fence with a tag and prose after it', `${FENCE}json\n{"a":1}\n${FENCE}\nDone.`, { a: 1 }],
  ['a fence without a tag', `Look:\n${FENCE}\n{"a":1}\n${FENCE}`, { a: 1 }],
  ['a fence on one line', `So: ${FENCE}JSON {"a":1}${FENCE}`, { a: 1 }],
  ['an empty object in a fence', `Look:\n${FENCE}json\n{}\n${FENCE}`, {}],
  ['a fence that never closes', `Look:\n${FENCE}json\n{"a":1}`, { a: 1 }],
  ['the same object twice', `{"a":1,"b":[2]} is\n${FENCE}json\n{"b":[2.0],"a":1}\n${FENCE}`, { a: 1, b: [2] }],
  ['the fence that holds an object', `${FENCE}\n[1]\n${FENCE}\n${FENCE}json\n{"a":2}\n${FENCE}`, { a: 2 }],
  ['a tagged fence after a stray one', `Use ${FENCE} marks.\n${FENCE}json\n{"a":1}\n${FENCE}`, { a: 1 }],
  ['an object, not the fence in its string', `So: {"a":"${FENCE}{}${FENCE}","b":1}`, { a: `${FENCE}{}${FENCE}`, b: 1 }],
  ['the object after a bracketed note', '[note] {"a":1}', { a: 1 }],
  ['the object after an array', '[{"a":0}] {"a":1}', { a: 1 }],
  ['braces in strings', 'x {"a":"}","b":"\\"{"} y', { a: '}', b: '"{' }],
  ['an object after braces of prose', 'Fill in {name}: {"a":1}', { a: 1 }],
  ['an object after a brace that never closes', 'After `if (x) {` comes {"a":1}', { a: 1 }],
  ['an object after an empty one', '{} {"a":1}', { a: 1 }],
  ['an object before an empty one', 'So: {"a":1} and {}', { a: 1 }],
  ['the same empty object twice', 'So: {} and {}', {}],
  ['an empty object when there is no other', 'Here you go: {}', {}],
])('an object is found: %s', (_, text, value) => {
  expect(extractObject(text)).toEqual({ ok: true, value });
});

test.each([
  ['too many bytes', 'x'.repeat(1_048_577), 'too_large', 1, 1, 'larger than 1048576 bytes'],
  ['nothing', ' \n ', 'not_object', 1, 1, 'empty'],
  ['an array', '\n[1,2]', 'list', 2, 1, 'expected a JSON object at the top level'],
  ['an array of objects', '[{"a":1}]', 'list', 1, 1, 'expected a JSON object at the top level'],
  ['null', ' null', 'not_object', 1, 2, 'expected a JSON object at the top level'],
  ['an object in a string', '"{\\"a\\":1}"', 'not_object', 1, 1, 'expected a JSON object at the top level'],
  ['an object with a key twice', '{"a":{"b":1},"a":1}', 'duplicate_key', 1, 14, '"a"'],
  ['an array with a poisoned object in it', '[{"__proto__":{}},{"a":1}]', 'forbidden_key', 1, 3, '__proto__'],
  ['a deep array with an object in it', `${'['.repeat(300)}{"a":1}${']'.repeat(300)}`, 'too_deep', 1, 201, '200'],
  ['a fenced object with a key twice', `Hm\n${FENCE}\n{"a":1,\n"a":2}\n${FENCE}`, 'duplicate_key', 4, 1, '"a"'],
  ['a bare object with a key twice', 'x {"a":1,"a":2} {}', 'duplicate_key', 1, 10, '"a"'],
  ['a broken object before an empty one', 'x {"a":} {}', 'syntax', 1, 8, 'expected a value'],
  ['two objects that differ', 'x {"a":1} {"a":2}', 'ambiguous', 1, 11, '2 objects that differ'],
  [
    'a bare object and a fenced one that differ',
    `Not {"a":0} but\n${FENCE}json\n{"a":1}\n${FENCE}`,
    'ambiguous',
    3,
    1,
    'lines 1, 3',
  ],
  [
    'two fenced objects that differ',
    `${FENCE}\n{"a":1}\n${FENCE}\n${FENCE}\n{"a":2}\n${FENCE}`,
    'ambiguous',
    5,
    1,
    'lines 2, 5',
  ],
  [
    'a good object after a broken one',
    `${FENCE}\n{"a":}\n${FENCE}\n${FENCE}json\n{"a":2}\n${FENCE}`,
    'ambiguous',
    5,
    1,
    'differ',
  ],
  ['a good object before a truncated one', 'x {"a":1} {"b":', 'ambiguous', 1, 11, 'differ'],
  ['a good object before one with a key twice', 'x {"a":1} {"b":1,"b":2}', 'ambiguous', 1, 11, 'differ'],
  ['more objects than are looked at', `x ${'{"a":1} '.repeat(257)}`, 'ambiguous', 1, 3, 'too many'],
  ['more open braces than are looked at', `x {"a":1} ${'{ '.repeat(16)} {"a":2}`, 'ambiguous', 1, 3, 'too many'],
  ['a truncated object', 'So: {"a":{"b":1},"c', 'syntax', 1, 18, 'string is not closed'],
  ['a truncated array of objects', 'So: [{"a":1},{"b":', 'syntax', 1, 19, 'ends before'],
  ['a broken array of objects', '[{"a":1},]', 'not_object', 1, 1, 'expected a JSON object at the top level'],
  ['a broken object with a good one inside', '{"a":{"b":1},}', 'syntax', 1, 14, 'comma before'],
  ['keys without quotes, and a good object inside', 'x {a:{"b":1}}', 'syntax', 1, 4, 'key in double quotes'],
  ['a broken object in a fence', `Hm\n${FENCE}json\n{"a":1,}\n${FENCE}\n`, 'syntax', 3, 8, 'comma before'],
  [
    'a broken object in a fence after a longer one',
    `x {"long":1,}\n${FENCE}\n{"a":}\n${FENCE}`,
    'syntax',
    3,
    6,
    'expected a value',
  ],
  ['a fenced object inside a broken one', `{"a":"\n${FENCE}json\n{"b":1}\n${FENCE}"}`, 'syntax', 1, 7, 'escaped'],
  ['an array in prose', 'Items: [{"a":1}] as asked', 'list', 1, 8, 'expected a JSON object at the top level'],
  ['a broken array', '[1,2', 'syntax', 1, 5, 'ends before'],
  ['prose', '\n  I am done.', 'not_object', 2, 3, 'no JSON object'],
])('no object is found: %s', (_, text, kind, line, column, words) => {
  const reading = extractObject(text);
  expect(reading).toMatchObject({ ok: false, kind, line, column });
  expect(reading.ok ? '' : reading.message).toContain(words);
});

const VERDICT = { fields: () => ({ names: new Set(['satisfied', 'context']), any: false }) };
const GOOD = '{"satisfied":true}';

// Every text holds the same good answer; the other object decides whether it is the only candidate.
test.each([
  ['an object without a field of the answer', '{"name":"x"}', 'read'],
  ['an empty object', '{}', 'read'],
  ['a broken object without such a field', '{"name":}', 'read'],
  ['a list of objects', '[{"satisfied":false}]', 'read'],
  ['a name in braces', '{satisfied}', 'read'],
  ['code that names the field', 'if (x) { return {satisfied: 0} }', 'read'],
  ['another name that ends like the field', '{dissatisfied: 1}', 'read'],
  ['the same answer', '{ "satisfied" : true }', 'read'],
  ['another value', '{"satisfied":false}', 'ambiguous'],
  ['another field of the answer', '{"context":"x"}', 'ambiguous'],
  ['the same with more', '{"satisfied":true,"context":"x"}', 'ambiguous'],
  ['a value of the wrong type', '{"satisfied":"no"}', 'ambiguous'],
  ['an answer with an ellipsis', '{"satisfied": false, …}', 'ambiguous'],
  ['an answer with a comma too many', '{"satisfied":false,}', 'ambiguous'],
  ['an answer that was cut off', '{"satisfied":fal', 'ambiguous'],
  ['an answer with a key twice', '{"satisfied":true,"satisfied":true}', 'ambiguous'],
  ['an answer in single quotes', "{'why': 'it\\'s red', 'satisfied': False}", 'ambiguous'],
  ['an answer with a poisoned key', '{"__proto__":{"satisfied":false}}', 'ambiguous'],
  ['an answer whose key is escaped', '{"\\u0073atisfied":false}', 'ambiguous'],
  ['a broken answer whose key is escaped', '{"\\u0073atisfied":false,}', 'ambiguous'],
  ['a field without quotes', '{ satisfied: false }', 'ambiguous'],
  ['a field in single quotes', "{'satisfied': false}", 'ambiguous'],
  ['a field without quotes after another', '{reason: 1, satisfied: false}', 'ambiguous'],
  ['a field without quotes on a line of its own', '{\n  reason: "a}b"\n  satisfied : false\n}', 'ambiguous'],
  ['a field without quotes after an object', '{of: {a: 1}, satisfied: false}', 'ambiguous'],
  ['a field without quotes and without a comma before it', '{reason: 1 satisfied: false}', 'ambiguous'],
  ['a field without quotes after a remark', '{ // red\n reason: 1, /* so */ satisfied: false}', 'ambiguous'],
  ['a field after a brace in single quotes', "{reason: 'a } b', satisfied: false}", 'ambiguous'],
  ['a field after a double quote in single quotes', "{reason: 'a \" b', satisfied: false}", 'ambiguous'],
  ['a field after an apostrophe', "{reason: it isn't, satisfied: false}", 'ambiguous'],
  ['a field after a text that is not closed', '{reason: "red, satisfied: false}', 'ambiguous'],
  ['a field without quotes that was cut off', '{reason: 1, satisfied: fal', 'ambiguous'],
  ['a field in backticks', '{`satisfied`: false}', 'ambiguous'],
  ['a field in typographic quotes', '{“satisfied”: false}', 'ambiguous'],
  ['a field without quotes in single quotes', "{of: 'a, satisfied: false'}", 'read'],
  ['prose in braces that never close', '{ a brace, and it is satisfied', 'read'],
  ['a field without quotes in an object inside', '{of: {a: 1, satisfied: false}}', 'read'],
  ['a field without quotes in a string', '{of: "a, satisfied: false"}', 'read'],
  ['the end of another name without quotes', '{a: 1, dissatisfied: 1}', 'read'],
  ['an answer swallowed by braces with a stray quote', '{5" x} "{"satisfied": false, "a":"}"}', 'ambiguous'],
  ['an answer in a list that is not JSON', '[2 of 3: {"satisfied": false}]', 'ambiguous'],
])('of a good answer and %s (%s): %s', (_, other, outcome) => {
  for (const text of [`First ${GOOD} then ${other}`, `First ${other}\nthen ${GOOD}`]) {
    // What never closes swallows what comes after it.
    if (text.includes('fal\n')) continue;
    const reading = extractObject(text, VERDICT);
    expect(reading, text).toMatchObject(
      outcome === 'read' ? { ok: true, value: { satisfied: true } } : { ok: false, kind: outcome },
    );
  }
});

test.each([
  ['one object without a field of the answer is read', 'So: {"name":"x"}', { ok: true, value: { name: 'x' } }],
  ['two of them that differ are not', '{"name":"x"} {"name":"y"}', { ok: false, kind: 'ambiguous' }],
  ['a broken answer is not passed over', '{"name":"x"} {"satisfied":}', { ok: false, kind: 'syntax', column: 27 }],
])('%s', (_, text, reading) => {
  expect(extractObject(text, VERDICT)).toMatchObject(reading);
});

test.each([
  [' \n{"a":1}\n', true],
  ['{"a":1} done', false],
  [`${FENCE}\n{"a":1}\n${FENCE}`, false],
])('strictly, %j is read: %s', (text, ok) => {
  expect(extractObject(text, { strict: true })).toMatchObject(ok ? { ok } : { ok, kind: 'not_object' });
});

const MB = 1_048_576;
const fill = (piece: string, bytes = MB) => piece.repeat(Math.floor(bytes / piece.length));
test.each([
  ['open braces', fill('{')],
  ['open braces after prose', `x${fill('{', MB - 1)}`],
  ['open braces and spaces', `x${fill('{ ', MB - 1)}`],
  ['open objects', `x${fill('{"a":', MB - 1)}`],
  ['open arrays', fill('[')],
  ['open arrays after prose', `x${fill('["', MB - 1)}`],
  ['backtick fences', `${`${FENCE}\n`.repeat(10_000)}`],
  ['tagged fences with open braces', fill(`${FENCE}json\n{`)],
  ['tagged fences with broken objects', fill(`${FENCE}json\n{"":}\n${FENCE}\n`)],
  ['backticks', fill('`')],
  ['quotes and braces', `x${fill('{"', MB - 1)}`],
  ['backslashes in a string', `{"${fill('\\', MB - 2)}`],
  ['white space in an object', `x {${fill(' ', MB - 3)}`],
  ['broken objects', fill('{"":}')],
  ['braces of prose', fill('{x}')],
  ['names without quotes', `x {${fill('a ,\n', MB - 4)}}`],
  ['digits', `{"a":${fill('9', MB - 6)}}`],
  ['keys', `{${Array.from({ length: 80_000 }, (_, n) => `"k${n}":1`).join(',')},"k0":2}`],
  ['line breaks before a fault', `{${fill('\n', MB - 2)}x`],
  // Quadratic work on a megabyte would run into the limit of the test; how long it takes is measured by the benchmark.
])('hostile text is answered: %s', (_, text) => {
  expect([extractObject(text).ok, parseJsonText(text).ok]).toEqual([expect.any(Boolean), expect.any(Boolean)]);
});

test(
  'an object survives any surroundings that hold no braces, brackets, quotes or backticks',
  () => {
    const prose = fc.string().map((text) => text.replace(/[{}[\]"`]/g, '.'));
    fc.assert(
      fc.property(fc.dictionary(fc.string({ minLength: 1 }), fc.jsonValue()), prose, prose, (value, before, after) => {
        const text = `${before} ${JSON.stringify(value)} ${after}`;
        const alone = parseJsonText(JSON.stringify(value));
        const found = extractObject(text);
        expect(found.ok).toBe(alone.ok);
        if (found.ok && alone.ok) expect(found.value).toEqual(alone.value);
      }),
      runs,
    );
  },
  timeout,
);

test(
  'any soup of JSON and fences gives an object or a position, and never throws',
  () => {
    const pieces = [
      '{',
      '}',
      '[',
      ']',
      '"',
      ':',
      ',',
      '\\',
      FENCE,
      `${FENCE}json\n`,
      '\n',
      '\r',
      '{"a":1}',
      '"a"',
      'x',
      '1',
      '\u2028',
      '\ud800',
    ];
    const soup = fc.array(fc.constantFrom(...pieces), { maxLength: 30 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(soup, (text) => {
        const found = extractObject(text);
        if (found.ok) {
          expect(extractObject(JSON.stringify(found.value))).toEqual(found);
        } else {
          expect(found.line).toBeGreaterThanOrEqual(1);
          expect(found.column).toBeGreaterThanOrEqual(1);
          expect(found.message).not.toBe('');
        }
      }),
      runs,
    );
  },
  timeout,
);
