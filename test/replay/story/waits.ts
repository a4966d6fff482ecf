// Sockets that wait: for a time, for a command that is seen to change, and for another cast; one is ended by a person.
import { always, graph, notSatisfied, satisfied } from '../../loadouts.ts';
import type { Stage } from './stage.ts';

const WAITS = graph(
  {
    'Socket-1': { materia: 'Pause', edges: [always('Socket-2')] },
    'Socket-2': { materia: 'Green', edges: [satisfied('Socket-3'), notSatisfied('end')] },
    'Socket-3': { materia: 'Other' },
  },
  {
    materia: {
      Pause: { wait: { forMs: 3_600_000 } },
      Green: { wait: { command: ['gh', 'pr', 'checks'], pending: [8] } },
      Other: { wait: { cast: 'quest-1' } },
    },
  },
);

const EMITS = graph(
  { 'Socket-1': { materia: 'Tell' } },
  { materia: { Tell: { tools: 'none', prompt: 'Tell.', parse: 'json' } } },
);

/** Events of an output, and a sink that was down for a while. */
export async function tellOfEvents(stage: Stage): Promise<void> {
  await stage.start('emits', { config: EMITS });
  await stage.prepare('emits');
  const told = { type: 'result.pr_created', severity: 'warning', message: 'It is open.', payload: { number: 7 } };
  const more = { source: { materia: 'Tell' } };
  await stage.say(await stage.turn('emits'), { context: 'Done.', event: [{ type: 'note' }, { ...told, ...more }] });
  await stage.tell({
    kind: 'sink.stall',
    sink: 'team',
    waiting: 1_001,
    after: 7,
    reason: 'it answered with status 503',
  });
  await stage.tell({ kind: 'sink.skip', sink: 'team', event: 8, reason: 'the team knows it' });
  await stage.tell({ kind: 'sink.recover', sink: 'team', after: 9 });
}

export async function tellOfWaits(stage: Stage): Promise<void> {
  await stage.drive('waits');
  await stage.start('waits', { config: WAITS });
  stage.wait(3_600_000);
  await stage.tell({ kind: 'clock.rang', cast: 'waits' });
  const green = await stage.turn('waits');
  const not = { kind: 'wait.probed', met: null } as const;
  await stage.tell({ ...not, ...green, reason: 'gh: exit code 8 instead of 0: two checks are pending' });
  await stage.tell({ kind: 'wait.probed', ...green, met: true, reason: 'gh: exit code 0' });
  const other = await stage.turn('waits');
  await stage.tell({ kind: 'turn.decide', cast: 'waits', turn: other.turn, choice: 'rerun' });
  await stage.tell({ kind: 'turn.decide', cast: 'waits', turn: other.turn, choice: 'accept', reason: 'it is done' });
}
