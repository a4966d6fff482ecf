import { expect, test } from 'vitest';
import { always, graph } from '../../../test/loadouts.ts';
import { play } from '../../../test/play.ts';
import type { ReportNote } from '../state.ts';
import { type BoundaryRefusal, consolidate, type Said, withReport } from './consolidation.ts';

const agent = { tools: 'none', prompt: 'Find it.' };
const { rules } = play({
  config: graph(
    {
      'Socket-1': { materia: 'Spec', edges: [always('Socket-2')] },
      'Socket-2': { materia: 'Fix', edges: [always('end')] },
    },
    {
      materia: { Spec: { ...agent, identity: 'analyst' }, Fix: { ...agent, label: 'The fixer', identity: 'engineer' } },
    },
  ),
  hold: true,
}).cast;

function note(parts: Partial<ReportNote> = {}): ReportNote {
  const { agent: name = 'Spec' } = parts;
  return {
    ...{ socket: name === 'Fix' ? 'Socket-2' : 'Socket-1', agent: name, agentId: `a-${name}`, item: null },
    ...{ status: 'COMPLETE', ownership: null, confirmed: [], suspected: [], conflicts: [], openGaps: [] },
    ...{ nextBestAgent: null, keyOutputs: [], crossLayerImpacts: [], verification: null, summary: null },
    ...{ rollback: null, contextConsumption: null },
    ...parts,
  };
}
const report = (...notes: ReportNote[]) => consolidate({ reports: notes, rules });
const spec = (text: string): Said => ({ agent: 'Spec', text });
const fix = (text: string): Said => ({ agent: 'Fix', text });

test('without a report there is nothing to put together', () => {
  expect(report()).toBeNull();
});

test('an agent that reports again is heard with its last word, in its first place', () => {
  const one = withReport([], note({ summary: 'half' }));
  const two = withReport(one, note({ agent: 'Fix' }));
  expect(withReport(two, note({ summary: 'whole' })).map(({ agent: who, summary }) => [who, summary])).toEqual([
    ['Spec', 'whole'],
    ['Fix', null],
  ]);
});

test('more agents than are kept: the oldest go', () => {
  const many = Array.from({ length: 40 }, (_, index) => note({ agentId: `a${index}` }));
  const kept = many.reduce<readonly ReportNote[]>(withReport, []);
  expect([kept.length, kept[0]?.agentId]).toEqual([32, 'a8']);
});

test.each<[string, readonly ReportNote[], string]>([
  ['one agent, with a summary: its own words', [note({ summary: 'Done.', keyOutputs: ['x'] })], 'Done.'],
  ['one agent, without: its findings', [note({ keyOutputs: ['x', 'y'] })], 'x\ny'],
  ['one agent with nothing but what it confirmed', [note({ confirmed: ['c'] })], 'c'],
  [
    'several agents: their findings, and no summary of one of them',
    [note({ summary: 'Mine.', keyOutputs: ['x'] }), note({ agent: 'Fix', summary: 'Mine!', keyOutputs: ['y'] })],
    'Spec: x\nFix: y',
  ],
  [
    'several agents: each has its turn, five lines in all',
    [note({ keyOutputs: ['1', '2', '3', '4', '5', '6'] }), note({ agent: 'Fix', keyOutputs: ['a', 'b'] })],
    'Spec: 1\nFix: a\nSpec: 2\nFix: b\nSpec: 3',
  ],
  [
    'several agents with nothing but what they confirmed',
    [note({ confirmed: ['c'] }), note({ agent: 'Fix', confirmed: ['d'] })],
    'Spec: c\nFix: d',
  ],
  ['several agents that found nothing', [note({ summary: 'x' }), note({ agent: 'Fix' })], ''],
])('the summary of %s', (_what, notes, summary) => {
  expect(report(...notes)?.summary).toBe(summary);
});

test('what each answers for itself is told of each, also where they say the same', () => {
  const same = { ownership: 'owned_here', verification: 'pass: test', rollback: 'git revert' };
  expect(report(note(same), note({ agent: 'Fix', ...same }))).toMatchObject({
    agents: ['Spec', 'Fix'],
    ownership: [spec('owned_here'), fix('owned_here')],
    verification: [spec('pass: test'), fix('pass: test')],
    rollbacks: [spec('git revert'), fix('git revert')],
  });
});

test('a finding of several agents is told once, with the first of them', () => {
  const lists = { confirmed: ['c'], suspected: ['s'], conflicts: ['x'], openGaps: ['g'], crossLayerImpacts: ['i'] };
  expect(report(note(lists), note({ agent: 'Fix', ...lists, openGaps: ['g', 'h'] }))).toMatchObject({
    confirmed: [spec('c')],
    suspected: [spec('s')],
    conflicts: [spec('x')],
    openGaps: [spec('g'), fix('h')],
    crossLayerImpacts: [spec('i')],
  });
});

test('where everybody stands, item by item', () => {
  const notes = [note({ item: 'WI-1' }), note({ item: 'WI-2', agentId: 'a2', status: 'BLOCKED' })];
  expect(report(...notes)?.reports).toEqual([
    { agent: 'Spec', item: 'WI-1', status: 'COMPLETE' },
    { agent: 'Spec', item: 'WI-2', status: 'BLOCKED' },
  ]);
});

test.each<[string, string | null, object[]]>([
  ['nobody', null, []],
  ['itself', 'Spec', []],
  ['itself, by its registry id', 'analyst', []],
  ['a materia of the graph', 'Fix', [{ agent: 'Fix', socket: 'Socket-2' }]],
  ['one by its label', 'the fixer', [{ agent: 'the fixer', socket: 'Socket-2' }]],
  ['one by its registry id', 'engineer', [{ agent: 'engineer', socket: 'Socket-2' }]],
  ['one by its socket', 'Socket-2', [{ agent: 'Socket-2', socket: 'Socket-2' }]],
  ['one that is nowhere in the graph', 'Ops', [{ agent: 'Ops', socket: null }]],
])('the next agent is %s', (_what, nextBestAgent, proposals) => {
  const more = { by: 'Spec', refusal: null, reported: false };
  expect(report(note({ nextBestAgent }))?.proposals).toEqual(proposals.map((each) => ({ ...each, ...more })));
});

test('a proposal says whether that agent has spoken, and comes once from each', () => {
  const notes = [
    note({ nextBestAgent: 'Fix', item: 'WI-1' }),
    note({ nextBestAgent: 'Fix', item: 'WI-2', agentId: 'a2' }),
    note({ agent: 'Fix' }),
  ];
  expect(report(...notes)?.proposals).toMatchObject([{ agent: 'Fix', by: 'Spec', reported: true }]);
});

test('boundaries are asked with registry ids', () => {
  const refusalOf: BoundaryRefusal = (source, target) => `${source} never hands to ${target}`;
  const asked = (nextBestAgent: string) =>
    consolidate({ reports: [note({ nextBestAgent })], rules }, refusalOf)?.proposals;
  expect(asked('Fix')).toMatchObject([{ refusal: 'analyst never hands to engineer' }]);
  expect(asked('ops')).toMatchObject([{ socket: null, refusal: 'analyst never hands to ops' }]);
});
