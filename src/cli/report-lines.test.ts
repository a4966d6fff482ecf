import { expect, test } from 'vitest';
import type { CastView } from '../engine/view.ts';
import type { Consolidation, Proposal } from '../kernel/turn/consolidation.ts';
import { reportLines } from './report-lines.ts';

const proposal = (over: Partial<Proposal>): Proposal => ({
  ...{ agent: 'A', by: 'B', socket: 'Socket-1', allowed: true, noWay: null, refusal: null, reported: false },
  ...over,
});
const EMPTY: Consolidation = {
  ...{ agents: ['A', 'B'], reports: [], ownership: [], confirmed: [], suspected: [], conflicts: [], openGaps: [] },
  ...{ crossLayerImpacts: [], verification: [], rollbacks: [], proposals: [], contextConsumption: [], summary: '' },
};

test.each([
  ['to an agent that has not spoken', {}, ['proposed  A (by B): a way leads there, to Socket-1']],
  ['to one that has spoken, and may again', { reported: true }, []],
  [
    'to one that has spoken, where no way leads there',
    { reported: true, allowed: false, noWay: 'no edge leads there from Socket-2' },
    ['proposed  A (by B): no edge leads there from Socket-2'],
  ],
  [
    'to one that has spoken, where the boundaries are against it',
    { reported: true, allowed: false, refusal: 'never' },
    ['proposed  A (by B): the boundaries refuse it: never'],
  ],
] as const)('a proposal %s', (_name, over, lines) => {
  const view = { report: { ...EMPTY, proposals: [proposal(over)] } } as unknown as CastView;
  expect(reportLines(view, 'baton')).toEqual(lines);
});
