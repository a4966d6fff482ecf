import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CODES } from '../../kernel/codes.ts';
import type { Contract } from '../../kernel/dialect.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { gaia } from '../index.ts';
import { exampleReport } from './brief.ts';
import { readReport } from './read.ts';

const runs = Number(process.env.FUZZ_RUNS ?? 500);
const patient = { timeout: 20_000 + runs * 10 };
const FENCE = '```';
const fenced = (body: string) => `Done.\n${FENCE}agent_contract_handoff\n${body}\n${FENCE}\n`;
const REPORT = exampleReport({}) as { agent_status: JsonObject; evidence_report: JsonObject };
const withStatus = (plan_status: string): JsonObject => ({
  ...REPORT,
  agent_status: { ...REPORT.agent_status, plan_status },
});
const says = (report: Json) => fenced(JSON.stringify(report, null, 2));
const contract = (fields: Partial<Contract> = {}): Contract => ({
  dialect: 'gaia',
  generator: false,
  utility: false,
  requires: [],
  assign: {},
  schema: null,
  ...fields,
});

const STATUS_CODES = ['AGENT_STATUS', 'PLAN_STATUS', 'PENDING_STEPS', 'NEXT_ACTION', 'AGENT_ID'];
const YAML = 'agent_status:\n  plan_status: COMPLETE';

const REPLIES: [string, string, string][] = [
  ['no fence', 'All done.', 'NO_BLOCK'],
  ['a json fence', `${FENCE}json\n${JSON.stringify(REPORT)}\n${FENCE}`, 'NO_BLOCK'],
  ['the root null', fenced('null'), 'NO_BLOCK'],
  ['the root a list', fenced('[]'), 'NO_BLOCK'],
  ['the root a string', fenced('"COMPLETE"'), 'NO_BLOCK'],
  ['the root a number', fenced('7'), 'NO_BLOCK'],
  ['a larger block than is read', fenced(`"${'x'.repeat(1_100_000)}"`), 'NOT_JSON'],
  ['an empty body', fenced(''), 'NOT_JSON'],
  ['a trailing comma', fenced('{"a": 1,}'), 'NOT_JSON'],
  ['YAML', fenced(YAML), 'NOT_JSON'],
  ['a comment', fenced('{} // done'), 'NOT_JSON'],
  ['single quotes', fenced("{'a': 1}"), 'NOT_JSON'],
  ['NaN', fenced('{"a": NaN}'), 'NOT_JSON'],
  ['an endless number', fenced(`{"a": ${'9'.repeat(5000)}}`), 'NOT_JSON'],
  ['two documents', fenced('{}{}'), 'NOT_JSON'],
  ['quoted lines', fenced('> {}'), 'NOT_JSON'],
  ['a byte order mark', fenced('\ufeff{}'), 'NOT_JSON'],
  ['a poisoned key', fenced('{"__proto__": {}}'), 'NOT_JSON'],
  ['a poisoned key after one written twice', fenced('{"a": 1, "a": 2, "__proto__": {}}'), 'NOT_JSON'],
  ['deep nesting', fenced('['.repeat(100_000)), 'NOT_JSON'],
  ['a broken block before a good one', `${fenced('{"a": 1,}')}${says(REPORT)}`, 'NOT_JSON'],
  ['backticks inside a string', fenced(JSON.stringify({ ...REPORT, note: FENCE })), 'NOT_JSON'],
  ['an empty object', fenced('{}'), 'CONTRACT_VIOLATION'],
  ['a good block', says(REPORT), 'OK'],
  ['a good block with CRLF', says(REPORT).replaceAll('\n', '\r\n'), 'OK'],
  ['a good block closed behind the brace', `${FENCE}agent_contract_handoff\n${JSON.stringify(REPORT)}${FENCE}`, 'OK'],
  ['prose behind the block', `${says(REPORT)}That is all.`, 'OK'],
];

test.each(REPLIES)('%s', (_name, raw, code) => {
  const verdict = readReport(raw);
  expect(verdict.code).toBe(code);
  if (code !== 'OK') expect(verdict.details.missing).toEqual(STATUS_CODES);
});

test('of two good blocks the first counts', () => {
  expect(readReport(says(withStatus('BLOCKED')) + says(REPORT)).details.plan_status).toBe('BLOCKED');
});

test('of two equal keys the last counts, and a warning says where', () => {
  const twice = JSON.stringify(REPORT).replace('"plan_status":', '"plan_status":"BLOCKED","plan_status":');
  const { code, details } = readReport(fenced(twice));
  expect([code, details.plan_status, details.warnings]).toEqual(['OK', 'COMPLETE', ['DUPLICATE_KEY:3:42']]);
});

test('broken JSON is located in the whole reply', () => {
  const { reason, details } = readReport(fenced('{\n  "a": 1,\n}'));
  expect(details).toMatchObject({ line: 5, column: 1, message: 'a comma before a closing brace is not allowed' });
  expect(reason).toBe('the block is not JSON at line 5, column 1: a comma before a closing brace is not allowed');
});

test('a block is read up to the limit of its socket', () => {
  const { length } = JSON.stringify(REPORT, null, 2);
  const readings = [length + 1, length - 1].map((maxBytes) => gaia.read(says(REPORT), contract({ maxBytes })).ok);
  expect(readings).toEqual([true, false]);
});

test('a block cut by backticks says where and what to write instead', () => {
  const { reason, details } = readReport(fenced(`{\n  "a": "see ${FENCE}sh"\n}`));
  expect(details.cut_at).toEqual({ line: 4, column: 13 });
  expect(reason).toContain('write \\u0060 for each backtick');
});

const APPROVAL = { rollback: 'undo', verification: 'look' };
const OUTCOMES: [string, string, boolean | null][] = [
  ['COMPLETE', 'done', true],
  ['BLOCKED', 'blocked', false],
  ['IN_PROGRESS', 'continue', null],
  ['NEEDS_INPUT', 'ask', null],
  ['APPROVAL_REQUEST', 'approval', null],
];

test.each(OUTCOMES)('%s is handed on as %s, satisfied %j', (plan, outcome, satisfied) => {
  const payload = { ...withStatus(plan), approval_request: APPROVAL };
  expect(gaia.read(says(payload), contract())).toMatchObject({ ok: true, handoff: { outcome, satisfied, payload } });
});

const SOCKETS: [string, Partial<Contract>, string, string[]][] = [
  ['a path it assigns is absent', { assign: { a: '$.result' } }, 'COMPLETE', ['ASSIGN:$.result']],
  [
    'a path into a list is absent',
    { assign: { a: '$.evidence_report.open_gaps.0' } },
    'COMPLETE',
    ['ASSIGN:$.evidence_report.open_gaps.0'],
  ],
  [
    'a path into text is absent',
    { assign: { a: '$.user_facing_summary.length' } },
    'COMPLETE',
    ['ASSIGN:$.user_facing_summary.length'],
  ],
  ['a path it assigns is there', { assign: { a: '$.evidence_report.key_outputs.0' } }, 'COMPLETE', []],
  ['the whole payload and other sources', { assign: { a: '$', b: 'state.x' } }, 'COMPLETE', []],
  ['a path is absent, but nothing is handed on', { assign: { a: '$.result' } }, 'BLOCKED', []],
  ['its schema is not met', { schema: { required: ['result'] } }, 'COMPLETE', ['SCHEMA:$']],
  ['its schema is not met, but nothing is handed on', { schema: { required: ['result'] } }, 'BLOCKED', []],
  ['its schema is met', { schema: { required: ['agent_status'] } }, 'COMPLETE', []],
  ['its schema is unusable', { schema: { type: 'nothing' } }, 'COMPLETE', ['SCHEMA:unusable']],
];

test.each(SOCKETS)('a socket: %s', (_name, fields, plan, missing) => {
  const reading = gaia.read(says(withStatus(plan)), contract(fields));
  expect(reading.ok ? [] : reading.verdict.details.missing).toEqual(missing);
});

/** Every value of a JSON tree by its path, so that a mutation can strike anywhere. */
function paths(value: Json, at: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  if (typeof value !== 'object' || value === null) return [at];
  return [at, ...Object.entries(value).flatMap(([key, member]) => paths(member, [...at, key]))];
}

function replaced(value: Json, path: readonly (string | number)[], by: Json | undefined): Json | undefined {
  const [key, ...rest] = path;
  if (key === undefined) return by;
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).flatMap(([name, member]) => {
    const next = name === String(key) ? replaced(member, rest, by) : member;
    return next === undefined ? [] : [[name, next] as const];
  });
  return Array.isArray(value) ? members.map(([, member]) => member) : Object.fromEntries(members);
}

const FULL: JsonObject = {
  ...exampleReport({ consolidationRequired: true }),
  approval_request: {
    operation: 'x',
    exact_content: 'x',
    scope: 'x',
    risk_level: 'LOW',
    rollback: 'x',
    verification: 'x',
  },
  loop_state: { iteration: 5, max_iterations: 5, metric: 1, threshold: 1 },
  memory_suggestions: ['a'],
  memorialize_suggestions: [{ description: 'd', body: 'b', type: 'atom' }],
  update_contracts: [{ contract: 'apps', payload: { a: [1] } }],
  rollback_executed: null,
  context_consumption: { tokens_used: 1, pct_window: 2 },
};
const CONTEXT = { surface_routing: { multi_surface: true }, write_permissions: { writable_sections: ['apps'] } };

const mutated = fc
  .array(
    fc.tuple(fc.constantFrom(...paths(FULL)), fc.option(fc.jsonValue() as fc.Arbitrary<Json>, { nil: undefined })),
    {
      maxLength: 4,
    },
  )
  .map((mutations) => mutations.reduce<Json>((report, [path, by]) => replaced(report, path, by) ?? null, FULL));

function expectWellShaped(raw: string): void {
  for (const given of [{}, { injectedContext: CONTEXT, taskAgentId: 'a0c0ffee' }]) {
    const verdict = readReport(raw, given);
    expect(verdict.allow ? 'OK' : verdict.code).toBe(verdict.code);
    expect(verdict.code === 'OK' || verdict.code in CODES).toBe(true);
    const { missing, invalid, warnings } = verdict.details as Record<string, string[]>;
    expect([missing, invalid, warnings].every(Array.isArray)).toBe(true);
    expect(verdict.allow).toBe(missing?.length === 0 && invalid?.length === 0);
    expect(JSON.parse(JSON.stringify(verdict))).toEqual(verdict);
  }
}

test('mutated reports always get a well-shaped verdict, and accepted ones are accepted again', patient, () => {
  fc.assert(
    fc.property(mutated, (report) => {
      const raw = fenced(JSON.stringify(report));
      expectWellShaped(raw);
      const reading = gaia.read(raw, contract());
      if (!reading.ok) return;
      expect(gaia.read(says(JSON.parse(JSON.stringify(reading.handoff.payload))), contract())).toEqual(reading);
    }),
    { numRuns: runs },
  );
});

test('any text gets a well-shaped verdict', patient, () => {
  const good = says(FULL);
  const piece = fc.constantFrom(
    FENCE,
    'agent_contract_handoff',
    '\n',
    '{',
    '}',
    '[',
    '"',
    ',',
    '\\',
    '\ufeff',
    '\ud800',
  );
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(fc.oneof(piece, fc.string({ maxLength: 3 }))).map((pieces) => pieces.join('')),
    fc.array(fc.oneof(piece, fc.string({ maxLength: 3 }))).map((pieces) => fenced(pieces.join(''))),
    fc
      .tuple(fc.nat(good.length), fc.nat(12), fc.oneof(piece, fc.string({ maxLength: 3 })))
      .map(([at, length, by]) => good.slice(0, at) + by + good.slice(at + length)),
  );
  fc.assert(fc.property(text, expectWellShaped), { numRuns: runs });
});

const FLOODS: [string, string][] = [
  ['10,000 backticks in a block', fenced('`'.repeat(10_000))],
  ['unclosed braces', fenced('{"a":'.repeat(150_000))],
  ['open strings', fenced('"'.repeat(900_000))],
  [
    'long digits in a loop',
    says({ ...FULL, loop_state: { iteration: '9'.repeat(500_000), max_iterations: '+'.repeat(400_000) } }),
  ],
];

test.each(FLOODS)('%s are answered at once', (_name, raw) => {
  const before = performance.now();
  expectWellShaped(raw);
  expect(performance.now() - before).toBeLessThan(60_000);
});
