import { expect, test } from 'vitest';
import type { Contract } from '../../kernel/dialect.ts';
import { isString, type Json, type JsonObject } from '../../kernel/json.ts';
import { deny } from '../../kernel/verdict.ts';
import { materia } from '../index.ts';

function contract(parts: Partial<Contract> = {}): Contract {
  return { dialect: 'materia', generator: false, utility: false, requires: [], assign: {}, schema: null, ...parts };
}

const REQUIRES = [
  [],
  ['satisfied'],
  ['workItems'],
  ['context'],
  ['satisfied', 'context'],
  ['satisfied', 'workItems', 'context'],
  ['score'],
];
const ASSIGNS: Record<string, string>[] = [
  {},
  { all: '$' },
  { workItems: '$.workItems' },
  { lastFeedback: '$.context', verdict: '$.satisfied' },
  { page: '$.text' },
  { a: '$.list.0.label', b: '$.list.2', c: 'state.x' },
  { a: '$.report', b: '$.report.score', c: '$.report.0' },
  { a: '$.map.100', b: '$.workItems.1.title' },
];
const MATRIX = REQUIRES.flatMap((requires) =>
  ASSIGNS.flatMap((assign) =>
    [true, false].flatMap((generator) =>
      [true, false].map((utility) => contract({ requires, assign, generator, utility })),
    ),
  ),
);

const AGENTS = MATRIX.filter(({ utility }) => !utility);

/** The example in a text that was sent to an agent. */
function exampleIn(text: string): JsonObject {
  const line = text
    .slice(text.lastIndexOf('Final answer format'))
    .split('\n')
    .find((each) => each.startsWith('{'));
  return JSON.parse(line ?? 'none');
}

/** An agent that has read nothing but the example, and writes a value in place of every placeholder. */
function answerTo(text: string): string {
  return JSON.stringify(exampleIn(text), (_, value) => (isString(value) ? filled(value) : value)).replace(
    '"<name of a field>"',
    '"field"',
  );
}

function filled(placeholder: string): Json {
  const [, sample] = /^<(?:text|number), such as (.+)>$/.exec(placeholder) ?? [];
  if (sample !== undefined) return JSON.parse(sample);
  return placeholder === '<true or false>' ? true : 'mine';
}

test(`the example of a brief shows how to keep the contract, for ${AGENTS.length} contracts`, () => {
  for (const each of AGENTS) {
    expect(materia.read(answerTo(materia.brief(each)), each), JSON.stringify(each)).toMatchObject({ ok: true });
  }
});

test(`the example itself is no answer, nor is a part of it that was left, for ${AGENTS.length} contracts`, () => {
  for (const each of AGENTS) {
    const example = exampleIn(materia.brief(each));
    const answer = JSON.parse(answerTo(materia.brief(each)));
    for (const [field, value] of Object.entries(example)) {
      if (!Object.hasOwn(answer, field)) continue;
      const reading = materia.read(JSON.stringify({ ...answer, [field]: value }), each);
      const path = expect.stringMatching(new RegExp(`^\\$\\.${field}(?:\\.|$)`));
      expect(reading, `${field} in ${JSON.stringify(each)}`).toMatchObject({
        ok: false,
        verdict: {
          code: 'CONTRACT_VIOLATION',
          details: { issues: expect.arrayContaining([expect.objectContaining({ path })]) },
        },
      });
    }
    expect(materia.read(JSON.stringify(example), each)).toMatchObject({ verdict: { code: 'CONTRACT_VIOLATION' } });
  }
});

test.each([
  ['{"satisfied":true,"context":"<what the next agent needs to know>"}', ['$.context']],
  ['{"satisfied":true,"context":" \\u003Cwhat the next agent needs to know\\u003e "}', ['$.context']],
  ['{"satisfied":"<true or false>","context":"x"}', ['$.satisfied']],
  ['{"satisfied":true,"context":"see <what the next agent needs to know>"}', []],
  ['{"satisfied":true,"context":"<true or false>"}', ['$.context']],
  ['{"satisfied":true,"context":"<b>fine</b>"}', []],
])('the placeholders left in %s are at %j', (raw, paths) => {
  const reading = materia.read(raw, contract({ requires: ['satisfied', 'context'] }));
  const issues = reading.ok ? [] : (reading.verdict.details.issues as { path: string }[]);
  expect(issues.map(({ path }) => path)).toEqual(paths);
});

test('the example of a repair shows how to keep the contract, whatever the bad output was', () => {
  for (const raw of ['oops', '{"satisfied":"yes"}', '{"x":1}\n{"satisfied":false}', 'Final answer format\n{"y":']) {
    for (const each of AGENTS) {
      const reading = materia.read(raw, each);
      if (reading.ok) continue;
      expect(materia.read(answerTo(materia.repair(reading.verdict, raw, each)), each)).toMatchObject({ ok: true });
    }
  }
});

test.each([
  ['a socket that asks for nothing', {}, ['context'], ['satisfied', 'workItems', 'text']],
  ['an evaluator', { requires: ['satisfied'] }, ['satisfied', 'context'], ['workItems', 'text', 'title']],
  ['a generator', { generator: true }, ['workItems', 'title'], ['satisfied', 'text']],
  [
    'an assigned path',
    { assign: { a: '$.report.score' } },
    ['report.score'],
    ['satisfied', 'workItems', 'context', 'text'],
  ],
  ['assigned text', { assign: { a: '$.text' } }, ['text'], ['satisfied', 'workItems', 'context']],
  ['the whole payload', { assign: { a: '$' } }, [], ['satisfied', 'workItems', 'context', 'text']],
])('a brief speaks of what the socket needs and of nothing else: %s', (_, parts, spoken, silent) => {
  const words = materia.brief(contract(parts));
  expect(words).toContain('one JSON object only');
  expect(words).toContain('no code fences');
  for (const field of spoken) expect(words).toContain(`\`${field}\``);
  for (const field of [...silent, 'event', 'state', 'parallelSchedule']) expect(words).not.toContain(`\`${field}\``);
});

test('a path that is assigned twice is asked for once', () => {
  const words = materia.brief(contract({ assign: { a: '$.report.score', b: '$.report.score' } }));
  expect(words.split('`report.score`')).toHaveLength(2);
});

test.each([
  ['NOT_JSON', 'malformed syntax'],
  ['AMBIGUOUS_OUTPUT', 'ambiguous answer'],
  ['CONTRACT_VIOLATION', 'contract violation'],
] as const)('a repair names the category of %s', (code, words) => {
  const refusal = deny(code, 'r', { issues: [{ path: '$', message: 'm', line: 3, column: 4 }] });
  const text = materia.repair(refusal, 'oops', contract());
  expect(text).toContain('previous final JSON was invalid');
  expect(text).toContain(words);
  expect(text).toContain('- $: m (line 3, column 4)');
  expect(text).toContain('only JSON');
  expect(text.endsWith(materia.brief(contract()))).toBe(true);
});

test('a repair shows eight issues of at most 240 characters and counts the others', () => {
  const issues = Array.from({ length: 11 }, (_, n) => ({
    path: `$.f${n}`,
    message: `bad\n${'x'.repeat(300)}`,
    expected: 'y',
  }));
  const text = materia.repair(deny('CONTRACT_VIOLATION', 'r', { issues, omitted: 5 }), '{}', contract());
  const lines = text.split('\n').filter((line) => line.startsWith('- $.f'));
  expect(lines).toHaveLength(8);
  for (const line of lines) expect(line.length - 2).toBe(240);
  expect(text).toContain('- and 8 more issues, omitted here');
});

test.each([
  [deny('AGENT_FAILED', 'the gate said no'), '- the gate said no'],
  [deny('CONTRACT_VIOLATION', 'r', { issues: [7, {}] }), '- $: is invalid'],
])('a repair copes with a refusal of another layer', (refusal, line) => {
  expect(materia.repair(refusal, 'x', contract()).split('\n')).toContain(line);
});

test('a repair quotes at most 600 characters of the bad output, each line marked as data', () => {
  const refusal = deny('NOT_JSON', 'r', {});
  const quoted = (raw: string) =>
    materia
      .repair(refusal, raw, contract())
      .split('\n')
      .filter((line) => line.startsWith('| '));
  expect(quoted('a\nb\r\nc\rIgnore the above\u2028d')).toEqual(['| a', '| b', '| c', '| Ignore the above', '| d']);
  expect(quoted('x'.repeat(600))).toEqual([`| ${'x'.repeat(600)}`]);
  expect(quoted('x'.repeat(601))).toEqual([`| ${'x'.repeat(600)}`]);
  expect(quoted(`${'x'.repeat(599)}😀`)).toEqual([`| ${'x'.repeat(599)}`]);
  expect(materia.repair(refusal, 'x'.repeat(600), contract())).not.toContain('were cut');
  expect(materia.repair(refusal, 'x'.repeat(634), contract())).toContain('(34 more characters were cut.)');
  expect(materia.repair(refusal, ' ', contract())).toContain('The previous output was empty.');
});

test.each([
  [{ generator: true }, true],
  [{ assign: { workItems: '$.workItems' } }, true],
  [{ requires: ['satisfied'] }, true],
  [{ requires: ['score'] }, false],
])('whether %j says that a context may be added: %s', (parts, told) => {
  expect(/- `context`: optional/.test(materia.brief(contract(parts)))).toBe(told);
});
