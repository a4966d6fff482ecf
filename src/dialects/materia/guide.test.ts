// The examples of the guide are read as they stand there.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Contract } from '../../kernel/dialect.ts';
import { materia } from '../index.ts';

const guide = readFileSync(new URL('../../../docs/contracts/materia.md', import.meta.url), 'utf8');
const example = (name: string) =>
  new RegExp(`\`\`\`json ${name}\n([^]*?)\n\`\`\``).exec(guide)?.[1] ?? `no example ${name}`;
const contract = (wanted: Partial<Contract>): Contract => ({
  dialect: 'materia',
  generator: false,
  utility: false,
  requires: [],
  assign: {},
  schema: null,
  ...wanted,
});

test.each([
  ['planner', contract({ generator: true }), 'done', null],
  ['evaluator', contract({ requires: ['satisfied'] }), 'rework', false],
  ['anything', contract({}), 'done', null],
])('the example %s keeps its contract', (name, wanted, outcome, satisfied) => {
  expect(materia.read(example(name), wanted)).toMatchObject({ ok: true, handoff: { outcome, satisfied } });
});

test('the refused example is refused for every reason the guide gives', () => {
  const reading = materia.read(example('refused'), contract({ requires: ['satisfied'] }));
  if (reading.ok) throw new Error('it was accepted');
  expect(reading.verdict.code).toBe('CONTRACT_VIOLATION');
  const paths = (reading.verdict.details.issues as { path: string }[]).map(({ path }) => path);
  expect(paths).toEqual(['$.satisfied', '$.tasks', '$.passed']);
});

const schema = JSON.parse(example('schema'));

test.each([
  ['{"score": 7}', []],
  ['{"score": 11}', ['$.score']],
  ['{}', ['$']],
  ['{"score": 7, "note": "fields of the schema only are checked"}', []],
])('with a schema of the user, %s has issues at %j', (raw, paths) => {
  const reading = materia.read(raw, contract({ schema }));
  const issues = reading.ok ? [] : (reading.verdict.details.issues as { path: string }[]);
  expect(issues.map(({ path }) => path)).toEqual(paths);
});

test('the brief shows the example of the schema with a placeholder for every value', () => {
  const words = materia.brief(contract({ schema, requires: ['satisfied'] }));
  expect(words.split('\n')).toContain('{"satisfied":"<true or false>","score":"<number, such as 7>"}');
});

test.each([
  {
    type: 'object',
    required: ['score', 'note'],
    properties: { score: { type: 'integer', minimum: 3 }, note: { type: 'string', minLength: 5 } },
  },
  {
    type: 'object',
    required: ['kind', 'list'],
    properties: {
      kind: { enum: ['a', 'b'] },
      list: {
        type: 'array',
        minItems: 2,
        items: { type: 'object', required: ['x'], properties: { x: { type: 'boolean' } } },
      },
    },
  },
  { type: 'object', properties: { free: { type: 'string' } } },
])('an answerer that fills in the example passes the schema %j', (schema) => {
  const wanted = contract({ schema, requires: ['satisfied'] });
  const line = materia
    .brief(wanted)
    .split('\n')
    .find((text) => text.startsWith('{'));
  const filled = (line ?? '')
    .replaceAll('"<true or false>"', 'true')
    .replace(/"<(?:text|number), such as ((?:\\.|[^>])*)>"/g, (_, sample: string) => sample.replaceAll('\\"', '"'));
  expect(materia.read(line ?? '', wanted)).toMatchObject({ ok: false });
  expect(materia.read(filled, wanted)).toMatchObject({ ok: true });
});

test('where no example can be made, none is shown', () => {
  const schema = {
    type: 'object',
    required: ['id'],
    properties: { id: { type: 'string', pattern: '^[A-Z]{3}-[0-9]+$' } },
  };
  expect(materia.brief(contract({ schema }))).not.toContain('example');
});

test('a schema that is none refuses everything instead of letting it pass', () => {
  const reading = materia.read('{}', contract({ schema: { type: 'nonsense' } }));
  expect(reading).toMatchObject({ ok: false, verdict: { code: 'CONTRACT_VIOLATION' } });
});
