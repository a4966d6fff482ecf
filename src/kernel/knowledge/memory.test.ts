// Suggestions on their way from a report to what later turns are told.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dialects } from '../../dialects/index.ts';
import { decide } from '../decide.ts';
import type { Request } from '../input.ts';
import type { Json, JsonObject } from '../json.ts';
import { newPen } from '../pen.ts';
import { emptyState, type Pen, type State } from '../state.ts';
import { memorializeSuggestions, memorySuggestions, suggestMemory } from './memory.ts';
import { MEMORY_MAX, OPEN_MAX } from './state.ts';

const runs = Number(process.env.FUZZ_RUNS ?? 500);
const AT = Date.parse('2026-03-01T12:00:00.000Z');
const WHO = { agent: 'backend', agentId: 'a00c0ffee', cast: 'c1', turn: 3 };
const pen = (state: State = emptyState()) => newPen(state, AT, dialects);
const suggest = (one: Pen, report: JsonObject) => suggestMemory(one, report, WHO);
const notes = (...texts: Json[]): JsonObject => ({ memory_suggestions: texts });
const ask = (state: State, request: Request) => decide(dialects, state, { ...request, at: AT, by: 'user:ada' });

const ROWS: [string, JsonObject, number, string[]][] = [
  ['nothing', {}, 0, []],
  [
    'no list',
    { memory_suggestions: 'x', memorialize_suggestions: 'x' },
    0,
    ['memorialize_suggestions: expected array, got a string', 'memory_suggestions: expected array, got a string'],
  ],
  [
    'a malformed entry beside a good one',
    { memorialize_suggestions: [7, { description: 'd', body: 'b' }] },
    1,
    ['memorialize_suggestions[0]: not an object, skipped'],
  ],
  [
    'an entry without body',
    { memorialize_suggestions: [{ description: 'd' }] },
    0,
    ['memorialize_suggestions[0]: body missing, skipped'],
  ],
  [
    'a word off the list',
    { memorialize_suggestions: [{ description: 'd', body: 'b', type: 'idea' }] },
    1,
    ['memorialize_suggestions[0].type: not one of atom, decision, negative, kept as it is'],
  ],
  ['a blank note', notes('  '), 0, ['memory_suggestions: blank, skipped']],
  [
    'a note that is too long',
    notes('x'.repeat(8_193)),
    0,
    ['memory_suggestions: longer than 8192 characters, skipped'],
  ],
  ['the same note twice', notes('Use tabs.', ' use  TABS. '), 1, ['memory_suggestions: known already, skipped']],
  ['two notes', notes('Use tabs.', 'Use spaces.'), 2, []],
];

test.each(ROWS)('a report that suggests %s', (_name, report, kept, warnings) => {
  const one = pen();
  expect(suggest(one, report)).toEqual({ kept, warnings });
  expect(one.facts.map(({ kind }) => kind)).toEqual(Array.from({ length: kept }, () => 'memory.suggested'));
  expect(Object.keys(one.state.knowledge.open)).toHaveLength(kept);
});

test('a suggestion keeps its words, and where it came from', () => {
  const one = pen();
  suggest(one, { memorialize_suggestions: [{ description: 'd', body: 'b', slug: 's', class: 'log' }] });
  expect(one.facts).toEqual([
    {
      kind: 'memory.suggested',
      id: 'm1',
      key: expect.stringMatching(/^[0-9a-f]{16}$/),
      note: { description: 'd', body: 'b', slug: 's', class: 'log' },
      ...WHO,
    },
  ]);
  expect(one.state.knowledge.open.m1).toMatchObject({ id: 'm1', body: 'b', cast: 'c1', turn: 3, at: AT });
});

test('one report suggests a bounded number, and so many wait for a person at most', () => {
  const state = emptyState();
  const report = (n: number) => notes(...Array.from({ length: 21 }, (_, index) => `note ${n}.${index}`));
  expect(suggest(pen(state), report(0))).toEqual({
    kept: 20,
    warnings: ['memory_suggestions: more than 20 in one report, skipped'],
  });
  for (let n = 1; n < 30; n += 1) suggest(pen(state), report(n));
  expect(Object.keys(state.knowledge.open)).toHaveLength(OPEN_MAX);
  expect(suggest(pen(state), notes('one more')).warnings).toEqual([
    `memory_suggestions: ${OPEN_MAX} wait for a person already, skipped`,
  ]);
  expect(state.knowledge.open.m1).toBeDefined();
});

const ACCEPT = (id: string, section?: string): Request => ({
  kind: 'memory.accept',
  id,
  isAgent: false,
  ...(section === undefined ? {} : { section }),
});
const DROP = (id: string): Request => ({ kind: 'memory.drop', id, reason: 'old', isAgent: false });

const TRIAGE: [string, Request[], string][] = [
  ['an agent accepts', [{ kind: 'memory.accept', id: 'm1', isAgent: true }], 'APPROVER_IS_AGENT'],
  ['an agent drops', [{ kind: 'memory.drop', id: 'm1', reason: 'x', isAgent: true }], 'APPROVER_IS_AGENT'],
  ['a section that cannot be', [ACCEPT('m1', '__proto__')], 'SECTION_NAME_INVALID'],
  [
    'a section that nobody declared',
    [{ ...ACCEPT('m1', 'nosuch'), declared: ['services'] } as Request],
    'UNKNOWN_SECTION',
  ],
  ['a section that is declared', [{ ...ACCEPT('m1', 'services'), declared: ['services'] } as Request], 'OK'],
  ['for everybody', [{ ...ACCEPT('m1'), declared: [] } as Request], 'OK'],
  ['an id that is not there', [ACCEPT('m9')], 'UNKNOWN_MEMORY'],
  ['a member that every object has', [ACCEPT('constructor')], 'UNKNOWN_MEMORY'],
  ['accepted twice', [ACCEPT('m1'), ACCEPT('m1')], 'NOT_ALLOWED_NOW'],
  ['dropped twice', [DROP('m1'), DROP('m1')], 'UNKNOWN_MEMORY'],
  ['accepted after it was dropped', [DROP('m1'), ACCEPT('m1')], 'UNKNOWN_MEMORY'],
  ['accepted', [ACCEPT('m1', 'services')], 'OK'],
  ['dropped', [DROP('m1')], 'OK'],
  ['dropped after it was accepted', [ACCEPT('m1'), DROP('m1')], 'OK'],
];

test.each(TRIAGE)('%s', (_name, requests, code) => {
  const state = emptyState();
  suggest(pen(state), notes('Use tabs.'));
  const codes = requests.map((request) => ask(state, request).verdict.code);
  expect(codes.at(-1)).toBe(code);
});

test('what was decided about is not suggested again', () => {
  const state = emptyState();
  suggest(pen(state), notes('Use tabs.', 'Use spaces.'));
  ask(state, ACCEPT('m1', 'services'));
  ask(state, DROP('m2'));
  expect(suggest(pen(state), notes('use tabs.', 'use spaces.')).kept).toBe(0);
  expect(state.knowledge).toMatchObject({ open: {}, memory: { m1: { section: 'services', body: 'Use tabs.' } } });
});

test('so many are remembered at most', () => {
  const state = emptyState();
  for (let n = 0; n < 14; n += 1) suggest(pen(state), notes(...Array.from({ length: 20 }, (_, i) => `${n}.${i}`)));
  for (let n = 1; n <= MEMORY_MAX; n += 1) expect(ask(state, ACCEPT(`m${n}`)).verdict.code).toBe('OK');
  expect(ask(state, ACCEPT(`m${MEMORY_MAX + 1}`)).verdict.code).toBe('MEMORY_FULL');
  ask(state, DROP('m1'));
  expect(ask(state, ACCEPT(`m${MEMORY_MAX + 1}`)).verdict.code).toBe('OK');
});

test('whatever a report suggests, it never throws and every id is new', { timeout: 20_000 + runs * 10 }, () => {
  const list = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.array(fc.jsonValue({ maxDepth: 3 }), { maxLength: 8 }));
  const report = fc.record({ memory_suggestions: list, memorialize_suggestions: list });
  fc.assert(
    fc.property(fc.array(report, { maxLength: 3 }), (reports) => {
      const one = pen();
      const kept = reports.reduce((sum, given) => sum + suggest(one, given as JsonObject).kept, 0);
      expect(Object.keys(one.state.knowledge.open)).toHaveLength(kept);
      expect(one.state.knowledge.suggested).toBe(kept);
    }),
    { numRuns: Math.ceil(runs / 4) },
  );
});

const MEMORY_ROWS: [Json, string[]][] = [
  [
    ['a', 1, null, true, { b: 2 }],
    ['a', '1', 'true', '{"b":2}'],
  ],
  ['a', []],
  [null, []],
];

test.each(MEMORY_ROWS)('memory_suggestions %j read as %j', (memory_suggestions, expected) => {
  expect(memorySuggestions({ memory_suggestions })).toEqual(expected);
});

const FULL = { description: 'd', body: 'b', slug: 's', type: 'atom', class: 'log', rationale: 'r' };
const PLACE = 'memorialize_suggestions';
const MEMORIALIZE_ROWS: [string, Json, boolean, Json[], string[]][] = [
  ['null', null, false, [], []],
  ['an object', {}, true, [], [`${PLACE}: expected array, got an object`]],
  ['an entry that is no object', ['x', FULL], true, [FULL], [`${PLACE}[0]: not an object, skipped`]],
  ['an entry without body', [FULL, { description: 'd' }], true, [FULL], [`${PLACE}[1]: body missing, skipped`]],
  ['an entry without anything', [{}], true, [], [`${PLACE}[0]: description and body missing, skipped`]],
  [
    'a type off the list',
    [{ ...FULL, type: 'idea' }],
    true,
    [{ ...FULL, type: 'idea' }],
    [`${PLACE}[0].type: not one of atom, decision, negative, kept as it is`],
  ],
  [
    'a class off the list',
    [{ ...FULL, class: 'x' }],
    true,
    [{ ...FULL, class: 'x' }],
    [`${PLACE}[0].class: not one of anchor, thread, log, kept as it is`],
  ],
  ['a type in capitals', [{ ...FULL, type: 'ATOM' }], true, [{ ...FULL, type: 'ATOM' }], []],
  ['numbers and nulls', [{ description: 1, body: 2, slug: null }], true, [{ description: '1', body: '2' }], []],
];

test.each(MEMORIALIZE_ROWS)('memorialize_suggestions: %s', (_name, given, present, suggestions, warnings) => {
  const read = memorializeSuggestions({ memorialize_suggestions: given });
  expect(read.present).toBe(present);
  expect(read.suggestions).toEqual(suggestions);
  expect(read.findings.map(({ kind, code }) => [kind, code])).toEqual(warnings.map((code) => ['warning', code]));
});
