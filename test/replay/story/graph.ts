// The walk through a graph: repairs, crashes, lost attempts, pauses and rework, an edge that is spent, casts that stop.
import type { Json, JsonObject } from '../../../src/kernel/json.ts';
import type { Stage } from './stage.ts';

const PARKED = {
  entry: 'Socket-1',
  sockets: {
    'Socket-1': { materia: 'Plan', edges: [{ when: 'always', to: 'Socket-2' }] },
    'Socket-2': { materia: 'Build', parse: 'text', edges: [{ when: 'always', to: 'Socket-3' }] },
    'Socket-3': {
      materia: 'Eval',
      parse: 'json',
      advance: { cursor: 'workItemIndex', items: 'state.workItems', when: 'satisfied' },
      edges: [
        { when: 'satisfied', to: 'Socket-2' },
        { when: 'not_satisfied', to: 'Socket-2', maxTraversals: 1, then: 'park' },
      ],
    },
    'Socket-4': { materia: 'Review', parse: 'json' },
  },
  loops: {
    items: {
      sockets: ['Socket-2', 'Socket-3'],
      consumes: { from: 'Socket-1', output: 'workItems' },
      exits: [{ id: 'done', from: 'Socket-3', condition: 'satisfied', targetSocketId: 'Socket-4' }],
    },
  },
};

/** Two streams, of which one fails: the loop is left with what the other did. */
const STREAMS = {
  entry: 'Socket-1',
  sockets: {
    'Socket-1': { materia: 'Split', edges: [{ when: 'always', to: 'Socket-2' }] },
    'Socket-2': { materia: 'Ready', parse: 'text', edges: [{ when: 'always', to: 'Socket-3' }] },
    'Socket-3': {
      materia: 'Eval',
      parse: 'json',
      advance: { cursor: 'workItemIndex', items: 'state.workItems', when: 'satisfied' },
      edges: [{ when: 'always', to: 'Socket-3' }],
    },
    'Socket-4': { materia: 'Review', parse: 'json' },
  },
  loops: {
    streams: {
      sockets: ['Socket-3'],
      consumes: { from: 'Socket-1' },
      parallel: { maxConcurrency: 2, barrier: 'settled' },
      exits: [{ id: 'exit:Socket-3:always', from: 'Socket-3', condition: 'always', targetSocketId: 'Socket-4' }],
    },
  },
};

const config: JsonObject = {
  activeLoadout: 'Work',
  budget: { maxTokens: 1_000, warnAtPercent: 50 },
  limits: { modelSilenceMs: 600_000 },
  worktree: { link: ['node_modules'], mainCheckout: 'warn' },
  checkers: { tests: { command: ['npm', 'test'], when: 'merge' } },
  materia: {
    Plan: { tools: 'none', prompt: 'Plan it.', generator: true },
    Split: { tools: 'none', prompt: 'Split it.', generator: true, parallel: true },
    Ready: { tools: 'none', prompt: 'Get ready.', parallelSafe: true },
    Build: { tools: 'none', prompt: 'Build {{item.title}}.' },
    Stamp: { type: 'utility', command: ['stamp'], parse: 'json', once: true },
    Eval: { tools: 'none', prompt: 'Evaluate it.' },
    Maintain: { tools: 'none', prompt: 'Tidy up.' },
    Review: { tools: 'readAndRun', prompt: 'Is the whole thing right?' },
  },
  loadouts: {
    Streams: STREAMS,
    Work: {
      entry: 'Socket-1',
      sockets: {
        'Socket-1': { materia: 'Plan', assign: { plan: '$.context' }, edges: [{ when: 'always', to: 'Socket-2' }] },
        'Socket-2': { materia: 'Build', parse: 'text', edges: [{ when: 'always', to: 'Socket-3' }] },
        'Socket-3': { materia: 'Stamp', assign: { stamps: '$.stamps' }, edges: [{ when: 'always', to: 'Socket-4' }] },
        'Socket-4': {
          materia: 'Eval',
          parse: 'json',
          strict: true,
          edges: [
            { when: 'satisfied', to: 'Socket-5' },
            { when: 'not_satisfied', to: 'Socket-2', maxTraversals: 2 },
          ],
        },
        'Socket-5': {
          materia: 'Maintain',
          parse: 'json',
          advance: { cursor: 'workItemIndex', items: 'state.workItems', when: 'satisfied' },
          edges: [{ when: 'always', to: 'Socket-2' }],
        },
        'Socket-6': {
          materia: 'Review',
          parse: 'json',
          edges: [
            { when: 'satisfied', to: 'end' },
            { when: 'not_satisfied', to: 'Socket-1', maxTraversals: 1 },
          ],
        },
      },
      loops: {
        items: {
          sockets: ['Socket-2', 'Socket-3', 'Socket-4', 'Socket-5'],
          consumes: { from: 'Socket-1', output: 'workItems' },
          exits: [{ id: 'done', from: 'Socket-5', condition: 'satisfied', targetSocketId: 'Socket-6' }],
        },
      },
    },
    Park: PARKED,
    Given: {
      inputs: { severity: { enum: ['low', 'high'], default: 'low' } },
      entry: 'Socket-1',
      sockets: { 'Socket-1': { materia: 'Build', parse: 'text' } },
    },
    Ask: {
      entry: 'Socket-1',
      sockets: {
        'Socket-1': { materia: 'Build', parse: 'text', edges: [{ when: 'always', to: 'Socket-2' }] },
        'Socket-2': {
          materia: 'Eval',
          parse: 'json',
          edges: [
            { when: 'satisfied', to: 'end' },
            { when: 'not_satisfied', to: 'Socket-1', maxTraversals: 1, then: 'ask' },
          ],
        },
      },
    },
    Sort: {
      entry: 'Socket-1',
      sockets: {
        'Socket-1': {
          materia: 'Eval',
          parse: 'json',
          schema: { type: 'object', properties: { severity: { enum: ['low', 'high', 'critical'] } } },
          edges: [
            { when: { field: 'severity', is: 'critical' }, to: 'Socket-1', maxTraversals: 2 },
            { when: { field: 'severity', in: ['high'] }, to: 'Socket-2' },
            { when: { field: 'severity', isNot: 'high' }, to: 'end' },
          ],
        },
        'Socket-2': {
          materia: 'Review',
          contract: 'gaia',
          edges: [{ when: { field: 'ownership_assessment', is: 'owned_here' }, to: 'Socket-1', maxTraversals: 1 }],
        },
      },
    },
    Round: {
      entry: 'Socket-1',
      sockets: {
        'Socket-1': { materia: 'Build', parse: 'text', edges: [{ when: 'always', to: 'Socket-2' }] },
        'Socket-2': {
          materia: 'Eval',
          parse: 'json',
          assign: { verdict: '$' },
          edges: [
            { when: 'satisfied', to: 'end' },
            { when: 'not_satisfied', to: 'Socket-1', maxTraversals: 1 },
          ],
        },
      },
    },
  },
};

/** Long enough to be kept beside the log, by its digest. */
export const LONG =
  'Every example shows title and context only; what else an item may hold stands in the reference. '.repeat(5);
const no = { satisfied: false, context: 'The README still links to it.' };
const yes = { satisfied: true };

const work = {
  Plan: [
    'I would rather not.',
    {
      workItems: [
        { title: 'Sparse payloads', context: LONG },
        { title: 'Stale syntax', context: 'Drop it — 🧹.' },
      ],
      context: LONG,
    },
    { workItems: [{ title: 'One more', context: 'Just this.' }], context: 'Once more.' },
  ],
  Build: [
    { $turn: { fail: 'crash' } },
    { $turn: { output: 'Documented.', usage: { input: 300, output: 250, cost: 0.25 } } },
    'Dropped.',
    'Dropped the link too.',
    '$repeat',
  ],
  Eval: [yes, no, yes, '$repeat'],
  Maintain: [yes, '$repeat'],
  Review: [no, yes],
};

export async function tellOfGraph(stage: Stage): Promise<void> {
  // Everything that can happen on the way: a repair, a crash, a lost attempt, an outcome nobody knows, a pause, rework.
  await stage.start('work', { config, loadout: 'Work', script: work });
  const gone = { mayHaveRun: true, reason: 'the process is gone' };
  const lost = await stage.playTo('work', 'Socket-2');
  await stage.tell({ kind: 'attempt.lost', ...lost, ...gone });
  const unknown = await stage.playTo('work', 'Socket-3');
  await stage.tell({ kind: 'attempt.lost', ...unknown, ...gone });
  const decision = { choice: 'accept', output: '{"stamps":1}', reason: 'the file is there' } as const;
  await stage.tell({ kind: 'turn.decide', cast: 'work', turn: unknown.turn, ...decision });
  await stage.playTo('work', 'Socket-4');
  await stage.tell({ kind: 'cast.pause', cast: 'work', reason: 'lunch' });
  await stage.tell({ kind: 'cast.resume', cast: 'work', reason: 'back' });
  await stage.tell({ kind: 'budget.change', cast: 'work', maxTokens: 900, maxCost: 5 });
  await stage.play('work');

  // An edge that asks when it is spent: a person lets it be taken once more.
  await stage.start('asking', {
    config,
    loadout: 'Ask',
    script: { Build: ['Built.', '$repeat'], Eval: [no, no, yes] },
  });
  await stage.play('asking');
  await stage.tell({ kind: 'cast.resume', cast: 'asking', reason: 'one more round' });
  await stage.play('asking');

  // Edges that ask for the value of a field.
  const sorting = { Eval: [{ severity: 'critical', satisfied: false, context: 'Look again.' }, { severity: 'low' }] };
  await stage.start('sorting', { config, loadout: 'Sort', script: sorting });
  await stage.play('sorting');

  // Items that are parked: one is retried with a note, one is dropped.
  const parking = {
    Plan: [{ workItems: ['One', 'Two'].map((title) => ({ title, context: 'Do it.' })), context: 'Two things.' }],
    Build: ['Built.', '$repeat'],
    Eval: [no, no, no, no, yes],
    Maintain: [yes],
    Review: [yes],
  };
  await stage.start('parking', { config, loadout: 'Park', script: parking, root: 'worktrees/parking' });
  await stage.play('parking');
  await stage.tell({ kind: 'item.retry', cast: 'parking', task: 'T-1', note: 'Look at the README first.' });
  await stage.play('parking');
  await stage.tell({ kind: 'item.drop', cast: 'parking', task: 'T-2', reason: 'not needed' });
  await stage.play('parking');

  // Streams side by side: one breaks its contract, and the loop is left with the other.
  const split = [
    ['web', 0],
    ['server', 1],
  ].map(([name, at]) => ({ name, workItemIndexes: [at] }));
  const streams = {
    Split: [
      {
        workItems: ['One', 'Two'].map((title) => ({ title, context: 'Do it.' })),
        parallelSchedule: { version: 1, streams: split },
      },
    ],
    Ready: ['Ready.', '$repeat'],
    Eval: [yes, 'no', 'never'],
    Review: [yes],
  };
  await stage.start('streams', { config, loadout: 'Streams', script: streams as unknown as Record<string, Json[]> });
  await stage.play('streams');

  // Values that the loadout declares are frozen with the cast.
  const given = { data: { inputs: { severity: 'high' } }, script: { Build: ['Built.'] } };
  await stage.start('given', { config, loadout: 'Given', ...given });
  await stage.play('given');

  // An edge that is spent: worked on once more from there, then revived.
  const round = { config, loadout: 'Round' };
  await stage.start('spent', { ...round, script: { Build: ['Built.', '$repeat'], Eval: [no, no, no, yes] } });
  await stage.play('spent');
  await stage.tell({ kind: 'cast.recast', cast: 'spent' });
  await stage.play('spent');
  await stage.tell({ kind: 'cast.revive', cast: 'spent' });
  await stage.play('spent');

  // Aborted and carried on; one that fails for good; one that is still open.
  await stage.start('stopped', { ...round, script: { Build: ['Built.', '$repeat'], Eval: [yes] } });
  await stage.tell({ kind: 'cast.abort', cast: 'stopped', reason: 'the wrong thing' });
  await stage.tell({ kind: 'cast.recast', cast: 'stopped' });
  await stage.play('stopped');
  await stage.start('silent', { ...round, script: { Build: ['Built.'], Eval: ['no', 'never'] } });
  await stage.play('silent');
  await stage.start('open', { ...round, script: { Build: ['Built.', '$repeat'], Eval: [no, yes] } });
  await stage.playTo('open', 'Socket-2');
}
