// The injection rules measured on labelled texts. The figures stand in the guide; this keeps them true.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { smuggledBy } from '../kernel/trust/smuggled.ts';
import { ATTACKS, HARMLESS } from './fixtures/labelled-texts.ts';
import { rulesBrokenBy } from './injection.ts';

const PHRASES = ['INJECTION_OVERRIDE', 'INJECTION_EXFIL', 'INJECTION_BYPASS'];
const isStructural = (text: string) => rulesBrokenBy(text).some((code) => !PHRASES.includes(code));
const isSmuggled = (text: string) => smuggledBy(text) !== null;
const isFound = (text: string) => rulesBrokenBy(text).length > 0;

const count = (texts: readonly string[], rule: (text: string) => boolean) => texts.filter(rule).length;
const percent = (part: number, whole: number) => `${Math.round((100 * part) / whole)} %`;

function row(name: string, rule: (text: string) => boolean): string {
  const [hits, alarms] = [count(ATTACKS, rule), count(HARMLESS, rule)];
  return `| ${name} | ${hits} of ${ATTACKS.length} (${percent(hits, ATTACKS.length)}) | ${alarms} of ${HARMLESS.length} | ${percent(hits, hits + alarms)} |`;
}

test.each([
  ['control tokens and overrides, in every output', isSmuggled],
  ['structural rules, on foreign envelopes', isStructural],
  ['structural and phrase rules, on foreign envelopes', isFound],
] as const)('%s: the figures in the guide are measured', (name, rule) => {
  const guide = readFileSync(new URL('../../docs/trust.md', import.meta.url), 'utf8');
  expect(guide).toContain(row(name, rule));
});

test('structural rules never stop a team that merely talks about security', () => {
  expect(HARMLESS.filter(isStructural)).toEqual([]);
});

test('phrase rules stop such a team only where it quotes an attack', () => {
  expect(HARMLESS.filter(isFound)).toEqual(HARMLESS.slice(-3));
});

test('no text is labelled twice', () => {
  const all = [...ATTACKS, ...HARMLESS];
  expect(new Set(all).size).toBe(all.length);
});
