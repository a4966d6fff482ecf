// Casts under the lease of a driver, who measures how long they run: the entries say it, and so does each fact with which a
// cast stops running.
import { always, graph } from '../../loadouts.ts';
import type { Stage } from './stage.ts';

const DRIVEN = graph(
  {
    'Socket-1': { materia: 'Draft', edges: [always('Socket-2')] },
    'Socket-2': { materia: 'Decide' },
  },
  {
    materia: {
      Draft: { tools: 'none', prompt: 'Draft it.', parse: 'text', runner: 'claude' },
      Decide: { tools: 'none', prompt: 'Decide it.', parse: 'text', runner: 'person' },
    },
    budget: { maxDurationMs: 600_000 },
  },
);

export async function tellOfDriver(stage: Stage): Promise<void> {
  await stage.drive('driven');
  await stage.start('driven', { config: DRIVEN });
  stage.wait(2_000);
  await stage.tell({ kind: 'cast.pause', cast: 'driven', reason: 'lunch' });
  stage.wait(60_000);
  await stage.tell({ kind: 'cast.resume', cast: 'driven', reason: 'back' });
  stage.wait(1_000);
  await stage.tell({ kind: 'cast.abort', cast: 'driven', reason: 'not now' });
  await stage.tell({ kind: 'cast.recast', cast: 'driven' });
  await stage.prepare('driven');
  stage.wait(3_000);
  await stage.say(await stage.turn('driven'), 'A draft.');
  await stage.prepare('driven');
  await stage.tell({ kind: 'turn.answer', cast: 'driven', output: 'Good.' });
  await stage.drive('overrun');
  await stage.start('overrun', { config: DRIVEN });
  stage.wait(600_000);
  await stage.tell({ kind: 'clock.rang', cast: 'overrun' }, 'BUDGET_EXHAUSTED');
}
