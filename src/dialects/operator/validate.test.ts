import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { OPERATOR_KINDS } from '../../kernel/capabilities.ts';
import { CODES } from '../../kernel/codes.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { operator } from '../index.ts';
import { EXAMPLE_ASSIGNMENT, EXAMPLE_ENVELOPE, EXAMPLE_RESULT } from './brief.ts';
import { OPERATOR_SCHEMAS } from './contract.ts';
import { validateOperator } from './read.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 500);
const GUIDE = readFileSync(new URL('../../../docs/contracts/operator.md', import.meta.url), 'utf8');
const BLOCKS = [...GUIDE.matchAll(/^```json (operator\/[a-z]+)\n([\s\S]*?)^```$/gm)].map(
  ([, kind = '', text = '']): [string, string] => [kind, text],
);
const ajv = new Ajv2020({ allErrors: true });
const schemas = new Map(Object.entries(OPERATOR_SCHEMAS).map(([kind, schema]) => [kind, ajv.compile(schema)]));
const fits = (kind: string, value: unknown) => schemas.get(kind.replace('operator/', ''))?.(value) === true;

test('the guide has an example of every kind', () => {
  expect([...new Set(BLOCKS.map(([kind]) => kind))].sort()).toEqual(
    OPERATOR_KINDS.map((kind) => `operator/${kind}`).sort(),
  );
});

test.each(BLOCKS)('the example of %s in the guide passes in strict mode, and fits its schema', (kind, text) => {
  expect(validateOperator(kind, text, { strict: true })).toMatchObject({ code: 'OK' });
  expect(fits(kind, JSON.parse(text))).toBe(true);
});

test.each<[string, JsonObject]>([
  ['assignment', EXAMPLE_ASSIGNMENT],
  ['result', EXAMPLE_RESULT],
  ['orchestrator', EXAMPLE_ENVELOPE],
])('the example of %s in briefs passes in strict mode without a warning, and fits its schema', (kind, payload) => {
  const verdict = validateOperator(kind, payload, { strict: true });
  expect([verdict.code, verdict.details.warnings]).toEqual(['OK', undefined]);
  expect(fits(kind, payload)).toBe(true);
});

test.each<[string, string, object]>([
  ['BLOCKED: objective, constraints', 'MISSING_REQUIRED_INPUT', { missing: ['objective', 'constraints'] }],
  ['NON_COMPLIANT: R-7 | REASON: it implemented', 'NON_COMPLIANT', { rule_id: 'R-7' }],
])('an orchestrator may say %j: %s', (text, code, details) => {
  expect(validateOperator('operator/orchestrator', text)).toMatchObject({ allow: false, code, details });
  expect(validateOperator('operator/result', text).code).toBe('SCHEMA_INVALID');
});

test.each(['operator/nothing', 'materia', '', 'constructor', 'operator/'])('there is no kind %j', (kind) => {
  expect(validateOperator(kind, {})).toMatchObject({ code: 'SCHEMA_INVALID', details: { kinds: OPERATOR_KINDS } });
});

const CYCLE: Record<string, unknown> = { task: {} };
CYCLE.task = CYCLE;
test.each<[string, unknown]>([
  ['undefined', undefined],
  ['null', null],
  ['a number', 5],
  ['a function', () => 5],
  ['a symbol', Symbol('x')],
  ['a date', new Date(0)],
  ['a list of lists', [[[]]]],
  ['a cycle', CYCLE],
  ['a big number', { schema_version: 5n }],
  ['not a number', { schema_version: Number.NaN }],
  ['no prototype', Object.create(null)],
  [
    'a getter that throws',
    Object.defineProperty({}, 'x', {
      enumerable: true,
      get: () => {
        throw new Error('no');
      },
    }),
  ],
  ['text', 'hello'],
  ['empty text', ''],
  ['a JSON list', '[]'],
  ['a JSON string', '"x"'],
  ['two JSON objects', '{} {}'],
  ['deep nesting', '['.repeat(100_000)],
  ['deep objects', '{"a":'.repeat(100_000)],
  ['a key twice', '{"run_id": "a", "run_id": "b"}'],
  ['a key that poisons', '{"__proto__": {"schema_version": "1"}}'],
  ['a megabyte of backticks', '`'.repeat(1_000_000)],
])('every kind refuses %s', (_what, input) => {
  for (const kind of OPERATOR_KINDS) {
    const verdict = validateOperator(kind, input);
    expect(['SCHEMA_INVALID', 'MISSING_REQUIRED_INPUT']).toContain(verdict.code);
  }
});

const bomb = Array.from({ length: 40 }).reduce<unknown>((inner) => [inner, inner], 'x');
test.each<[string, unknown]>([
  ['a big number', 5n],
  ['not a number', Number.NaN],
  ['a function', () => 5],
  ['too many values', bomb],
  ['too deep a value', JSON.parse(`${'['.repeat(300)}${']'.repeat(300)}`)],
])('a payload that holds %s is refused, even in a field nobody reads', (_what, value) => {
  expect(validateOperator('operator/result', { ...EXAMPLE_RESULT, x_extra: value }).code).toBe('SCHEMA_INVALID');
});

test.each<[unknown, string]>([
  [undefined, 'OK'],
  [null, 'OK'],
  [{}, 'OK'],
  [{ strict: false, now: '2026-02-11T00:45:02Z', checkers: ['unit'], previous: '', outcome: 'failed' }, 'OK'],
  [{ strict: true }, 'SCHEMA_INVALID'],
  [5, 'BAD_USAGE'],
  ['strict', 'BAD_USAGE'],
  [[], 'BAD_USAGE'],
  [{ strict: 'true' }, 'BAD_USAGE'],
  [{ now: 5 }, 'BAD_USAGE'],
  [{ checkers: 'unit' }, 'BAD_USAGE'],
  [{ checkers: [5] }, 'BAD_USAGE'],
  [{ previous: 7 }, 'BAD_USAGE'],
  [{ outcome: 'lost' }, 'BAD_USAGE'],
])('an option of the wrong type is not dropped in silence: %j', (options, code) => {
  expect(validateOperator('operator/result', { ...EXAMPLE_RESULT, extra: 1 }, options).code).toBe(code);
});

test.each<[string, JsonObject, boolean]>([
  ['no deltas', { ledger: [] }, false],
  ['streams without deltas', { ledger: [], streams: [{}] }, false],
  ['deltas under their name', { ledger: [], ledger_delta: [] }, true],
  ['deltas under their short name', { ledger: [], deltas: [] }, true],
  ['streams', { ledger: [], streams: [{ ledger_delta: [] }, { deltas: [] }] }, true],
])('the schema of deltas and their validator agree about %s', (_, payload, accepted) => {
  expect(validateOperator('operator/deltas', payload, { strict: true }).allow).toBe(accepted);
  expect(fits('deltas', payload)).toBe(accepted);
});

// What a payload may be changed into: values that some check somewhere looks for, and whatever else JSON can be.
const odd = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<Json>(null, true, 0, -1, 29, 30, 1e21, '', ' ', '//', '..', 'T-1', 'T-x', 'done', 'blocked', 'todo'),
  fc.constantFrom<Json>('token=zz', '{"lock_scope":[]}', '\ud800', 'x'.repeat(6000), '2026-01-01T00:00:00Z', [], {}),
);
type Change = { place: number; how: 'replace' | 'remove' | 'double' | 'add'; value: unknown };
const change = fc.record<Change>({
  place: fc.nat(200),
  how: fc.constantFrom('replace', 'remove', 'double', 'add'),
  value: odd,
});

test('changed payloads always get a well-formed verdict; accepted ones fit their schema and stay accepted', {
  timeout: 600_000,
}, () => {
  const samples = BLOCKS.map(([kind, text]) => ({ kind, payload: JSON.parse(text) as Json }));
  fc.assert(
    fc.property(
      fc.constantFrom(...samples),
      fc.array(change, { maxLength: 3 }),
      fc.boolean(),
      ({ kind, payload }, changes, strict) => {
        const input = changes.reduce(changed, structuredClone(payload));
        const verdict = validateOperator(kind, input, { strict });
        expectVerdict(verdict);
        if (!verdict.allow) return;
        expect(fits(kind, input)).toBe(true);
        expect(validateOperator(kind, JSON.parse(JSON.stringify(input)), { strict })).toEqual(verdict);
      },
    ),
    { numRuns: RUNS },
  );
});

test('any text gets a well-formed verdict and a well-formed reading', { timeout: 600_000 }, () => {
  const texts = BLOCKS.map(([, text]) => text);
  const piece = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('```', '```json\n', '{', '}', '[', '"', '\\', '---\n', 'status: done\n', '  - a: b\n', '\n', ':'),
    fc.constantFrom(...texts),
    fc.constantFrom(...texts).chain((text) => fc.nat(text.length).map((end) => text.slice(0, end))),
  );
  const contract = fc.record({
    generator: fc.boolean(),
    assign: fc.constantFrom({}, { a: '$.status' }, { a: '$.x.y' }),
  });
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 6 }),
      fc.constantFrom(...OPERATOR_KINDS),
      contract,
      (pieces, kind, asked) => {
        const text = pieces.join('');
        expectVerdict(validateOperator(kind, text));
        const whole = { dialect: 'operator', utility: false, requires: [], schema: null, ...asked } as const;
        const reading = operator.read(text, whole);
        if (reading.ok) {
          const again = operator.read(JSON.stringify(reading.handoff.payload), whole);
          expect(again).toEqual(reading);
        } else {
          expectVerdict(reading.verdict);
          expect(operator.repair(reading.verdict, text, whole)).toContain(operator.brief(whole));
        }
      },
    ),
    { numRuns: RUNS },
  );
});

function expectVerdict(verdict: { allow: boolean; code: string; reason: string; details: JsonObject }): void {
  expect(Object.keys(verdict).sort()).toEqual(['allow', 'code', 'details', 'reason']);
  expect(verdict.allow).toBe(verdict.code === 'OK');
  expect(verdict.allow || Object.hasOwn(CODES, verdict.code)).toBe(true);
  expect(verdict.reason.trim()).not.toBe('');
  expect(verdict.reason.length).toBeLessThan(2000);
  const { details } = verdict;
  expect(JSON.parse(JSON.stringify(details))).toEqual(details);
  if (!verdict.allow) expect(Array.isArray(details.issues) && details.issues.length > 0).toBe(true);
}

/** A copy with one place changed; places are counted through the whole tree. */
function changed(payload: Json, { place, how, value }: Change): Json {
  const spots: { holder: Record<string, unknown> | unknown[]; key: string | number }[] = [];
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const [key, inner] of Object.entries(node)) {
      spots.push({ holder: node as Record<string, unknown>, key: Array.isArray(node) ? Number(key) : key });
      walk(inner);
    }
  };
  walk(payload);
  const spot = spots[place % Math.max(spots.length, 1)];
  if (!spot) return payload;
  const { holder, key } = spot;
  if (Array.isArray(holder)) {
    const index = Number(key);
    if (how === 'remove') holder.splice(index, 1);
    else if (how === 'double') holder.push(structuredClone(holder[index]));
    else if (how === 'add') holder.push(value);
    else holder[index] = value;
  } else if (how === 'remove') delete holder[key];
  else if (how === 'double') holder[`x_${key}`] = structuredClone(holder[key]);
  else if (how === 'add') holder[`${key}_too`] = value;
  else holder[key] = value;
  return payload;
}
