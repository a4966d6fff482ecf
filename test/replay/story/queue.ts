// The queue: quests that succeed, fail, go on and are done again, their order, and a schedule.
import { CAPABILITIES } from '../../../src/kernel/capabilities.ts';
import { resolve } from '../../../src/kernel/graph/resolve.ts';
import { graph } from '../../loadouts.ts';
import type { Stage } from './stage.ts';

const CONFIG = graph(
  { 'Socket-1': { materia: 'Do' } },
  { materia: { Do: { tools: 'none', prompt: 'Do it.', parse: 'text', runner: 'claude' } } },
);
const ERRAND = { loadout: null, priority: 'normal' } as const;

export async function tellOfQueue(stage: Stage): Promise<void> {
  const add = (title: string, after: readonly string[] = []) =>
    stage.tell({ kind: 'quest.add', ...ERRAND, title, request: `${title}, please`, after });
  await add('one');
  await add('two', ['Q-1']);
  const how = { runner: 'codex', inputs: { severity: 'high' } };
  await stage.tell({ kind: 'quest.add', ...ERRAND, title: 'three', request: 'three, please', how });
  await stage.tell({ kind: 'quest.move', quest: 'Q-3', to: { at: 'first' } });
  await begin(stage, 'quest-3', 'Q-3');
  await stage.prepare('quest-3');
  await stage.say(await stage.turn('quest-3'), 'Three is done.');
  await begin(stage, 'quest-1', 'Q-1');
  await stage.tell({ kind: 'cast.abort', cast: 'quest-1', reason: 'not like this' });
  await stage.tell({ kind: 'cast.recast', cast: 'quest-1' });
  await stage.tell({ kind: 'cast.abort', cast: 'quest-1', reason: 'no' });
  await stage.tell({ kind: 'quest.requeue', quest: 'Q-1', reason: 'once more' });
  await begin(stage, 'quest-1b', 'Q-1');
  await stage.prepare('quest-1b');
  await stage.say(await stage.turn('quest-1b'), 'One is done.');
  await stage.tell({ kind: 'quest.remove', quest: 'Q-2', reason: 'not needed' });
  const week = 7 * 86_400_000;
  const every = { cron: '0 3 * * 1', zone: 'Europe/Berlin', dueAt: stage.now + week };
  await stage.tell({ kind: 'quest.add', ...ERRAND, title: 'weekly', request: 'the weekly report', every, how });
  stage.wait(week);
  await stage.tell({ kind: 'quest.ring', schedule: 'S-1', next: stage.now + week });
  stage.wait(week + 1_000);
  await stage.tell({ kind: 'quest.ring', schedule: 'S-1', next: stage.now + week });
  await stage.tell({ kind: 'quest.stop', reason: 'enough for today' });
}

async function begin(stage: Stage, cast: string, id: string): Promise<void> {
  const common = { cast, request: id, loadout: 'Flow', rules: resolve(CONFIG, 'Flow'), script: null };
  const quest = { id, atOnce: 1, isNamed: true };
  await stage.tell({ kind: 'cast.start', ...common, capabilities: CAPABILITIES, quest });
}
