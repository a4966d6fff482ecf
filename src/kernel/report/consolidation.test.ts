import { expect, test } from 'vitest';
import { always, graph, notSatisfied, satisfied } from '../../../test/loadouts.ts';
import { play } from '../../../test/play.ts';
import type { ReportNote } from '../cast/state.ts';
import { type BoundaryRefusal, consolidate, type Statement, withReport } from './consolidation.ts';

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
const spec = (text: string): Statement => ({ agent: 'Spec', text });
const fix = (text: string): Statement => ({ agent: 'Fix', text });

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
  [
    'one agent with more than is told',
    [note({ keyOutputs: ['1', '2', '3', '4', '5', '6'] })],
    '1\n2\n3\n4\n5\n… and 1 more',
  ],
  ['one agent with nothing but what it confirmed', [note({ confirmed: ['c'] })], 'c'],
  [
    'several agents: their findings, and no summary of one of them',
    [note({ summary: 'Mine.', keyOutputs: ['x'] }), note({ agent: 'Fix', summary: 'Mine!', keyOutputs: ['y'] })],
    'Spec: x\nFix: y',
  ],
  [
    'several agents: each has its turn, five lines in all',
    [note({ keyOutputs: ['1', '2', '3', '4', '5', '6'] }), note({ agent: 'Fix', keyOutputs: ['a', 'b'] })],
    'Spec: 1\nFix: a\nSpec: 2\nFix: b\nSpec: 3\n… and 3 more',
  ],
  [
    'several agents with nothing but what they confirmed',
    [note({ confirmed: ['c'] }), note({ agent: 'Fix', confirmed: ['d'] })],
    'Spec: c\nFix: d',
  ],
  ['several agents that found nothing', [note(), note({ agent: 'Fix' })], ''],
  [
    'several agents: what one of them lacks, its own words stand for',
    [
      note({ keyOutputs: ['x'], confirmed: ['not told'] }),
      note({ agent: 'Fix', confirmed: ['c'], summary: 'Not told.' }),
      note({ agent: 'Ops', summary: 'Mine.' }),
    ],
    'Spec: x\nFix: c\nOps: Mine.',
  ],
  [
    'more agents than lines: each has one',
    Array.from({ length: 7 }, (_, n) => note({ agent: `A${n}`, keyOutputs: ['x', 'y'] })),
    'A0: x\nA1: x\nA2: x\nA3: x\nA4: x\nA5: x\nA6: x\n… and 7 more',
  ],
  [
    'one agent on several items: its words on each, in the order of the items',
    [
      note({ item: 'WI-10', agentId: 'a10', summary: 'Ten.' }),
      note({ item: 'WI-2', agentId: 'a2', keyOutputs: ['two'] }),
      note({ item: 'WI-1', agentId: 'a1', summary: 'One.' }),
      note({ item: 'WI-3', agentId: 'a3', summary: 'One.' }),
    ],
    'One.\ntwo\nTen.',
  ],
])('the summary of %s', (_what, notes, summary) => {
  expect(report(...notes)?.summary).toBe(summary);
});

test('what the summary leaves out is counted, and all of it is there', () => {
  const found = [note({ keyOutputs: ['1', '2', '3', '4'] }), note({ agent: 'Fix', keyOutputs: ['a', 'b'] })];
  expect(report(...found)).toMatchObject({
    leftOut: 1,
    findings: ['Spec: 1', 'Fix: a', 'Spec: 2', 'Fix: b', 'Spec: 3', 'Spec: 4'],
  });
  expect(report(note({ summary: 'Done.', keyOutputs: ['x'] }))).toMatchObject({ leftOut: 0, findings: ['Done.'] });
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
  [
    'one that is nowhere in the graph',
    'Ops',
    [{ agent: 'Ops', socket: null, allowed: false, noWay: 'it has no socket in this loadout' }],
  ],
])('the next agent is %s', (_what, nextBestAgent, proposals) => {
  const more = { by: 'Spec', refusal: null, reported: false, allowed: true, noWay: null };
  expect(report(note({ nextBestAgent }))?.proposals).toEqual(proposals.map((each) => ({ ...more, ...each })));
});

const routed = play({
  config: graph(
    {
      'Socket-1': { materia: 'Spec', parse: 'json', edges: [satisfied('Socket-2'), notSatisfied('Socket-4')] },
      'Socket-2': { materia: 'Tool', edges: [always('Socket-5')] },
      'Socket-3': { materia: 'Fix', edges: [always('end')] },
      'Socket-4': { materia: 'Fix', edges: [always('end')] },
      'Socket-5': { materia: 'Ops', edges: [always('Socket-6')] },
      'Socket-6': { materia: 'Scribe' },
      'Socket-7': { materia: 'Last', edges: [always('end')] },
    },
    {
      materia: { Spec: agent, Fix: agent, Ops: agent, Scribe: agent, Last: agent },
      loops: {
        walk: {
          sockets: ['Socket-5', 'Socket-6'],
          exits: [{ id: 'x', from: 'Socket-6', condition: 'always', targetSocketId: 'Socket-7' }],
        },
      },
    },
  ),
  hold: true,
}).cast.rules;

test.each<[string, string, string, string, string | null]>([
  ['by an edge', 'Socket-1', 'Socket-4', 'Socket-4', null],
  ['by an edge to one of its sockets', 'Socket-1', 'Fix', 'Socket-4', null],
  ['through a utility', 'Socket-1', 'Ops', 'Socket-5', null],
  ['by the exit of a loop', 'Socket-6', 'Last', 'Socket-7', null],
  ['through another agent', 'Socket-1', 'Scribe', 'Socket-6', 'no edge leads there from Socket-1'],
  ['at the end of the graph', 'Socket-4', 'Ops', 'Socket-5', 'no edge leads there from Socket-4'],
])('a way to the next agent: %s', (_what, socket, nextBestAgent, at, noWay) => {
  const { materia = '' } = routed.graph.sockets[socket] ?? {};
  const reports = [note({ agent: materia, socket, nextBestAgent })];
  const [proposal] = consolidate({ reports, rules: routed })?.proposals ?? [];
  expect(proposal).toMatchObject({ socket: at, noWay, allowed: noWay === null });
});

test('what agents say of their windows is told of each', () => {
  const notes = [
    note({ contextConsumption: { tokens_used: 12, pct_window: 3.5 } }),
    note({ agent: 'Fix', item: 'WI-1', contextConsumption: { tokens_used: 7 } }),
    note({ agentId: 'a3' }),
  ];
  expect(report(...notes)?.contextConsumption).toEqual([
    { agent: 'Spec', item: null, tokens_used: 12, pct_window: 3.5 },
    { agent: 'Fix', item: 'WI-1', tokens_used: 7 },
  ]);
});

test('a proposal says whether that agent has spoken, and comes once from each', () => {
  const notes = [
    note({ nextBestAgent: 'Fix', item: 'WI-1' }),
    note({ nextBestAgent: 'Fix', item: 'WI-2', agentId: 'a2' }),
    note({ agent: 'Fix' }),
  ];
  expect(report(...notes)?.proposals).toMatchObject([{ agent: 'Fix', by: 'Spec', reported: true }]);
});

test('of several agents that a report names each is a proposal, itself left out', () => {
  const named = note({ nextBestAgent: 'Fix', alsoBestAgents: ['Spec', 'Ops', 'Fix'] });
  expect(report(named)?.proposals).toMatchObject([
    { agent: 'Fix', socket: 'Socket-2', allowed: true },
    { agent: 'Ops', socket: null, allowed: false },
  ]);
});

test('boundaries are asked with registry ids', () => {
  const refusalOf: BoundaryRefusal = (source, target) => `${source} never hands to ${target}`;
  const asked = (nextBestAgent: string) =>
    consolidate({ reports: [note({ nextBestAgent })], rules }, refusalOf)?.proposals;
  expect(asked('Fix')).toMatchObject([{ allowed: false, refusal: 'analyst never hands to engineer' }]);
  expect(asked('ops')).toMatchObject([{ socket: null, refusal: 'analyst never hands to ops' }]);
});
