import { expect, test } from 'vitest';
import { resolve } from '../graph/resolve.ts';
import type { Json, JsonObject } from '../json.ts';
import { readableSections, writableSections } from './rules.ts';
import type { Section } from './state.ts';

const stored = (...names: string[]) => ({
  sections: Object.fromEntries(
    names.map((name): [string, Section] => [name, { value: {}, version: 1, at: 0, by: 'x' }]),
  ),
});

function permissions(context: Json | undefined, identity?: string) {
  const config: JsonObject = {
    materia: { Build: { prompt: 'x', ...(identity === undefined ? {} : { identity }) } },
    loadouts: { L: { entry: 'Socket-1', sockets: { 'Socket-1': { materia: 'Build' } } } },
    ...(context === undefined ? {} : { context }),
  };
  const rules = resolve(config, 'L');
  const materia = rules.materia.Build;
  if (!materia) throw new Error('no materia');
  return [readableSections(rules, materia, stored('infra', 'notes')), writableSections(rules, materia)];
}

const sections = { services: {}, infra: {} };

const ROWS: [string, Json | undefined, string | undefined, string[], string[]][] = [
  ['nothing is said', undefined, undefined, ['infra', 'notes'], []],
  ['sections are declared', { sections }, undefined, ['infra', 'notes', 'services'], []],
  ['nobody may read', { sections, read: {} }, undefined, [], []],
  ['everybody may read one', { sections, read: { '*': ['infra'] } }, undefined, ['infra'], []],
  ['everybody may read all', { sections, read: { '*': ['*'] } }, undefined, ['infra', 'notes', 'services'], []],
  ['it is named and everybody is too', { read: { '*': ['*'], Build: ['infra'] } }, undefined, ['infra'], []],
  ['another is named', { read: { Plan: ['infra'] }, write: { Plan: ['infra'] } }, undefined, [], []],
  [
    'it may write',
    { sections, read: {}, write: { Build: ['services', 'infra'] } },
    undefined,
    [],
    ['infra', 'services'],
  ],
  ['everybody may write', { sections, read: {}, write: { '*': ['infra'] } }, undefined, [], ['infra']],
  [
    'its identity is named',
    { read: { 'domain-02': ['infra'] }, write: { 'domain-02': ['infra'] } },
    'domain-02',
    ['infra'],
    ['infra'],
  ],
  [
    'id and identity are named',
    { read: { 'domain-02': ['infra'], Build: ['notes'] } },
    'domain-02',
    ['infra', 'notes'],
    [],
  ],
  ['a member that every object has is asked', { read: { '*': ['constructor'] } }, undefined, [], []],
];

test.each(ROWS)('where %s', (_name, context, identity, readable, writable) => {
  expect(permissions(context, identity)).toEqual([readable, writable]);
});
