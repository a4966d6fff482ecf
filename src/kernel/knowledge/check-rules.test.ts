import { expect, test } from 'vitest';
import { check } from '../graph/check.ts';
import type { JsonObject } from '../json.ts';

const config = (more: JsonObject): JsonObject => ({
  materia: { Build: { prompt: 'x', identity: 'domain-02' } },
  loadouts: { L: { entry: 'Socket-1', sockets: { 'Socket-1': { materia: 'Build' } } } },
  ...more,
});
const surface = (more: JsonObject = {}): JsonObject => ({ surfaces: { api: { agent: 'Build', ...more } } });

const ROWS: [string, JsonObject, string[]][] = [
  ['nothing', {}, []],
  ['surfaces that are no object', { surfaces: [] }, ['error surfaces']],
  [
    'too many surfaces',
    { surfaces: Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`s${n}`, { agent: 'Build' }])) },
    ['error surfaces'],
  ],
  ['a surface that is no object', { surfaces: { api: 'Build' } }, ['error surfaces.api']],
  [
    'a surface with a very long name',
    { surfaces: { ['x'.repeat(65)]: { agent: 'Build' } } },
    [`error surfaces.${'x'.repeat(65)}`],
  ],
  ['a surface whose words are no list', surface({ keywords: 'login' }), ['error surfaces.api.keywords']],
  ['a surface with a field that nothing reads', surface({ keyword: ['login'] }), ['error surfaces.api.keyword']],
  ['a surface without an agent', { surfaces: { api: {} } }, ['error surfaces.api.agent']],
  ['a surface of nobody', surface({ agent: 'Biuld' }), ['error surfaces.api.agent']],
  ['a surface by id', surface(), []],
  ['a surface by identity', surface({ agent: 'domain-02' }), []],
  ['a neighbour that is not there', surface({ neighbours: ['web'] }), ['error surfaces.api.neighbours']],
  [
    'a section of a surface that was not declared',
    { ...surface({ sections: ['x'] }), context: { sections: {} } },
    ['error surfaces.api.sections'],
  ],
  ['a section of a surface where none are declared', surface({ sections: ['x'] }), []],
  ['a reconnaissance agent that is not there', { reconnaissanceAgent: 'Scout' }, ['error reconnaissanceAgent']],
  ['a reconnaissance agent', { reconnaissanceAgent: 'Build' }, []],
  ['context that is no object', { context: [] }, ['error context']],
  ['a field of context that nothing reads', { context: { reads: {} } }, ['error context.reads']],
  ['a section that cannot be called so', { context: { sections: { 'a b': {} } } }, ['error context.sections.a b']],
  ['the name that is taken', { context: { sections: { memory: {} } } }, ['error context.sections.memory']],
  ['a section that is no object', { context: { sections: { a: 'x' } } }, ['error context.sections.a']],
  [
    'a description that is no text',
    { context: { sections: { a: { description: 1 } } } },
    ['error context.sections.a.description'],
  ],
  ['readers that are no list', { context: { read: { Build: '*' } } }, ['error context.read.Build']],
  ['a reader that is not there', { context: { read: { Plan: ['*'] } } }, ['error context.read.Plan']],
  [
    'a section to read that is not there',
    { context: { sections: { a: {} }, read: { '*': ['b'] } } },
    ['error context.read.*'],
  ],
  [
    'a section to write that is not there',
    { context: { sections: { a: {} }, write: { '*': ['*'] } } },
    ['error context.write.*'],
  ],
  [
    'all of it',
    { context: { sections: { a: { description: 'x' } }, read: { '*': ['*'] }, write: { 'domain-02': ['a'] } } },
    [],
  ],
];

test.each(ROWS)('a configuration with %s', (_name, more, expected) => {
  const issues = check(config(more)).filter(({ code }) => code === 'INVALID_CONFIG');
  expect(issues.map(({ level, path }) => `${level} ${path}`)).toEqual(expected);
  for (const { message } of issues) expect(message).toMatch(/(?:Write|Name|Correct) .*\.$|at most/);
});
