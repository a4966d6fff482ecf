// What dialects and runners can do, and which table counts in a cast.
import { expect, test } from 'vitest';
import { graph } from '../../test/loadouts.ts';
import { apply } from './apply.ts';
import {
  CAPABILITIES,
  type Capabilities,
  dialectCan,
  keyVariableOf,
  orList,
  PRESENT,
  runnerCan,
} from './capabilities.ts';
import { resolve } from './graph/resolve.ts';
import { emptyState } from './state.ts';

const CONFIG = graph({ 'Socket-1': { materia: 'Write' } });

const FROZEN: Capabilities = {
  dialects: { text: { can: ['reportsStatus'] } },
  runners: { codex: { can: ['isPerson'] } },
};

test.each([
  ['the present table', PRESENT, 'gaia', 'codex', true, false],
  ['no table: that of 0.1.0', {}, 'gaia', 'codex', true, false],
  ['a frozen table counts alone', { capabilities: FROZEN }, 'gaia', 'codex', false, true],
  ['a frozen table with other rows', { capabilities: FROZEN }, 'text', 'claude', true, false],
  ['names that are in no table', PRESENT, 'toString', 'constructor', false, false],
])('%s', (_, rules, dialect, runner, reports, isPerson) => {
  expect(dialectCan(rules, dialect, 'reportsStatus')).toBe(reports);
  expect(runnerCan(rules, runner, 'isPerson')).toBe(isPerson);
});

test.each([
  [['claude'], 'claude'],
  [['claude', 'codex'], 'claude or codex'],
  [['claude', 'codex', 'pi'], 'claude, codex or pi'],
])('%j is %s', (names, text) => {
  expect(orList(names)).toBe(text);
});

test.each([
  ['openai', 'OPENAI_API_KEY'],
  ['anthropic', 'ANTHROPIC_API_KEY'],
  ['person', undefined],
])('the key of %s is in %s', (runner, variable) => {
  expect(keyVariableOf(runner)).toBe(variable);
});

test.each([
  ['no table', undefined],
  ['the present table', CAPABILITIES],
  ['another table', FROZEN],
])('a cast that was started with %s keeps it', (_, capabilities) => {
  const rules = resolve(CONFIG, 'Test');
  const common = {
    kind: 'cast.started',
    cast: 'c',
    request: 'do it',
    loadout: 'Test',
    rules,
    script: null,
    data: {},
  } as const;
  const { casts } = apply(emptyState(), { at: '', fact: { ...common, ...(capabilities ? { capabilities } : {}) } }, 0);
  expect(casts.c?.rules).toEqual(capabilities ? { ...rules, capabilities } : rules);
});
