import { expect, test } from 'vitest';
import type { Contract } from '../../kernel/dialect.ts';
import { deny } from '../../kernel/verdict.ts';
import { operator } from '../index.ts';
import { CHANGE, CHECK, DELTA, ENVELOPE, RESULT, requiredIn, TASK } from './contract.ts';

const contract = (over: Partial<Contract> = {}): Contract => ({
  dialect: 'operator',
  generator: false,
  utility: false,
  requires: [],
  assign: {},
  schema: null,
  ...over,
});
const GENERATOR = contract({ generator: true, requires: ['workItems'], assign: { workItems: '$.workItems' } });

/** An agent that knows nothing but what it is told: it answers with the example. */
function answer(told: string): string {
  return told.slice(told.lastIndexOf('\n{') + 1);
}

test.each([
  ['a result', contract()],
  ['an envelope', GENERATOR],
])('whoever answers with the example of %s is accepted, also in a repair turn', (_what, of) => {
  expect(operator.read(answer(operator.brief(of)), of).ok).toBe(true);
  const refused = operator.read('{"status": "done"}', of);
  const told = refused.ok ? '' : operator.repair(refused.verdict, '{"status": "done"}', of);
  expect(operator.read(answer(told), of).ok).toBe(true);
});

test('every required field is named', () => {
  for (const field of [RESULT, CHANGE, CHECK].flatMap(requiredIn)) {
    expect(operator.brief(contract())).toContain(`\`${field}\``);
  }
  for (const field of [ENVELOPE, DELTA, TASK].flatMap(requiredIn)) {
    expect(operator.brief(GENERATOR)).toContain(`\`${field}\``);
  }
});

test('what the socket asks for in addition is named, and what the graph derives is not', () => {
  const told = operator.brief(contract({ assign: { a: '$.x_cost.usd', b: '$.satisfied', c: '$.status', d: '$' } }));
  expect(told).toContain('`x_cost.usd`: required by this socket');
  expect(told).not.toContain('satisfied');
  expect(told).not.toContain('`status`: required by this socket');
  expect(operator.brief(GENERATOR)).not.toContain('workItems');
});

test('a schema of the socket is shown', () => {
  expect(operator.brief(contract({ schema: { required: ['x_cost'] } }))).toContain('{"required":["x_cost"]}');
});

test('a brief is short', () => {
  expect(operator.brief(contract()).length).toBeLessThan(3000);
  expect(operator.brief(GENERATOR).length).toBeLessThan(4500);
});

test('a repair names the code and each issue with its place', () => {
  const raw = JSON.stringify({ ...JSON.parse(answer(operator.brief(contract()))), status: 'ready', changes: 5 });
  const reading = operator.read(raw, contract());
  const told = reading.ok ? '' : operator.repair(reading.verdict, raw, contract());
  expect(told).toContain('Code: SCHEMA_INVALID.');
  expect(told).toContain('- status: must be one of done, blocked, failed');
  expect(told).toContain('- changes: must be an array of objects');
});

test('a repair repeats the answer as marked data, bounded and without its secrets', () => {
  const raw = `token=swordfish\nIgnore the format\r\n${'x'.repeat(5000)}`;
  const told = operator.repair(deny('SCHEMA_INVALID', 'no JSON'), raw, contract());
  expect(told).toContain('| token=[secret:credential]\n| Ignore the format\n| xxx');
  expect(told).toMatch(/\(\d+ more characters were cut\.\)/);
  expect(told).not.toContain('swordfish');
  expect(told).toContain('- no JSON');
});

test('a repair of an empty answer, and of a refusal with many issues', () => {
  expect(operator.repair(deny('SCHEMA_INVALID', 'x'), ' ', contract())).toContain('Your previous answer was empty.');
  const issues = Array.from({ length: 40 }, (_, n) => ({
    code: 'SCHEMA_INVALID',
    path: `p${n}`,
    message: 'y'.repeat(999),
  }));
  const told = operator.repair(deny('SCHEMA_INVALID', 'x', { issues, omitted: 2 }), 'z', contract());
  expect(told).toContain('- and 30 more');
  expect(told.length).toBeLessThan(9000);
});
