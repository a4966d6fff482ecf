// A line counts only in the one form RFC 8785 gives it, whoever wrote it; and it names its texts in their order.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Fact } from '../kernel/fact.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import { chain, NO_PREV } from '../log/line.ts';
import { canonical, readStoredLine } from './stored-line.ts';

const RUNS = { numRuns: Number(process.env.FUZZ_RUNS ?? 500) };

function written(data: Json) {
  const fact = { kind: 'cast.started', cast: 'c', data } as unknown as Fact;
  return chain({ fact, by: 'test', at: 0, once: ['k'] }, 1, NO_PREV, '');
}

/** The bits of a double as hex, and how RFC 8785 (appendix B) writes it. */
test.each([
  ['0000000000000000', '0'],
  ['8000000000000000', '0'],
  ['0000000000000001', '5e-324'],
  ['8000000000000001', '-5e-324'],
  ['7fefffffffffffff', '1.7976931348623157e+308'],
  ['ffefffffffffffff', '-1.7976931348623157e+308'],
  ['4340000000000000', '9007199254740992'],
  ['c340000000000000', '-9007199254740992'],
  ['4430000000000000', '295147905179352830000'],
  ['44b52d02c7e14af5', '9.999999999999997e+22'],
  ['44b52d02c7e14af6', '1e+23'],
  ['44b52d02c7e14af7', '1.0000000000000001e+23'],
  ['444b1ae4d6e2ef4e', '999999999999999700000'],
  ['444b1ae4d6e2ef4f', '999999999999999900000'],
  ['444b1ae4d6e2ef50', '1e+21'],
  ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
  ['3eb0c6f7a0b5ed8d', '0.000001'],
  ['41b3de4355555553', '333333333.3333332'],
  ['41b3de4355555554', '333333333.33333325'],
  ['41b3de4355555555', '333333333.3333333'],
  ['41b3de4355555556', '333333333.3333334'],
  ['41b3de4355555557', '333333333.33333343'],
  ['becbf647612f3696', '-0.0000033333333333333333'],
  ['43143ff3c1cb0959', '1424953923781206.2'],
])('the number %s is written %s', (bits, text) => {
  const number = Buffer.from(bits, 'hex').readDoubleBE();
  expect(canonical(number)).toBe(text);
  expect(written(number).line).toContain(`"data":${text}}`);
  expect(readStoredLine(written(number).line)).not.toBeNull();
});

test('names with escapes are read as they stand there, whatever was read before', () => {
  for (const name of ['a\\', 'a"', 'a\n', '\\"', '"b']) {
    const { line } = written({ ' ': 0, [name]: 1 });
    expect(readStoredLine(line)?.fact).toMatchObject({ data: { [name]: 1 } });
  }
});

test('members are in the order of their UTF-16 code units', () => {
  const value = { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\ud83d\ude00': 5, '\u0080': 6, '\u00f6': 7 };
  const text = '{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\ud83d\ude00":5,"\ufb33":3}';
  expect(canonical(value)).toBe(text);
  expect(written(value).line).toContain(text);
});

test.each<[string, string]>([
  ['\u20ac$\u000f\nA\'B"\\\\"/', `"\u20ac$\\u000f\\nA'B\\"\\\\\\\\\\"/"`],
  ['\b\t\f\r\u0000\u001f', '"\\b\\t\\f\\r\\u0000\\u001f"'],
  ['\u007f\u2028\u2029\ufeff', '"\u007f\u2028\u2029\ufeff"'],
])('the text %j is written %s', (value, text) => {
  expect(canonical(value)).toBe(text);
  expect(written(value).line).toContain(text);
});

test('half a character has no canonical form', () => {
  expect(() => canonical('\ud800')).toThrow('half a character');
  expect(readStoredLine(written('x').line.replace('"x"', '"\\ud800"'))).toBeNull();
  expect(readStoredLine(written('\\ud').line)?.fact.data).toBe('\\ud');
});

const LINE = written({ a: 1, b: 'x' }).line;

test.each<[string, (line: string) => string]>([
  ['white space', (line) => line.replace(':', ': ')],
  ['white space at the end', (line) => `${line} `],
  ['members in another order', (line) => line.replace('"a":1,"b":"x"', '"b":"x","a":1')],
  ['a member twice', (line) => line.replace('"a":1', '"a":1,"a":1')],
  ['a number spelled otherwise', (line) => line.replace('"a":1', '"a":1e0')],
  ['a text spelled otherwise', (line) => line.replace('"x"', '"\\u0078"')],
  ['no JSON', (line) => line.slice(1)],
  ['no object', () => '[]'],
  ['no number', (line) => line.replace('"seq":1', '"seq":"1"')],
  ['no body', (line) => line.replace(/"body":\{.*?\}\}/, '"body":[]')],
  ['a time that is no text', (line) => line.replace(/"at":"[^"]*"/, '"at":1')],
  ['keys that are none', (line) => line.replace('"once":["k"]', '"once":[1]')],
  ['deeper than anything we write', (line) => line.replace('"x"', `${'['.repeat(200_000)}${']'.repeat(200_000)}`)],
])('%s is no entry', (_, change) => {
  expect(change(LINE)).not.toBe(LINE);
  expect(readStoredLine(LINE)).not.toBeNull();
  expect(readStoredLine(change(LINE))).toBeNull();
});

const long = (text: string) => text.repeat(300);

test('the texts beside a line are named in the order in which they were stored', () => {
  const data = {
    '10': long('b'),
    '9': long('a'),
    c: [long('c'), { $blob: 'sha256:no' }],
    d: { $literal: { $blob: 'x' } },
  };
  const { line, blobs } = written({ ...data, '\ud800': long('e') } as JsonObject);
  expect(readStoredLine(line)?.texts).toEqual(blobs.map(({ digest }) => digest));
  const plain = written(data);
  expect(readStoredLine(plain.line)?.texts).toEqual(plain.blobs.map(({ digest }) => digest));
  expect(plain.blobs).toHaveLength(3);
});

const key = fc.oneof(fc.string(), fc.constantFrom('$blob', '$json', '$literal', '10', '9', 'half \udfff', '__proto__'));
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.string({ unit: 'binary' }),
    fc.string({ minLength: 200, maxLength: 400 }),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
    fc.constantFrom(null, true, false),
    fc.array(tie('value')),
    fc.dictionary(key, tie('value')),
  ),
})).value as fc.Arbitrary<Json>;

test('whatever the log writes is read, with its texts; whatever else is read never throws', () => {
  fc.assert(
    fc.property(json, fc.nat(), fc.string({ maxLength: 3 }), (data, at, noise) => {
      const { line, blobs } = written(data);
      expect(readStoredLine(line)?.texts).toEqual(blobs.map(({ digest }) => digest));
      const place = at % line.length;
      const spoilt = line.slice(0, place) + noise + line.slice(place + 1);
      const read = readStoredLine(spoilt);
      // What is still read is canonical in turn.
      if (read) expect(canonical(JSON.parse(spoilt) as Json)).toBe(spoilt);
    }),
    RUNS,
  );
});
