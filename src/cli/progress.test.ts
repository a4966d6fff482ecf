import { expect, test, vi } from 'vitest';
import { always, graph } from '../../test/loadouts.ts';
import { play } from '../../test/play.ts';
import { asBlock, reportOf } from '../../test/reports.ts';
import type { Change } from '../engine/door.ts';
import { progressFor } from './progress.ts';
import { codeIn, storyteller } from './story.ts';

const CONFIG = graph(
  { 'Socket-1': { materia: 'Spec', parse: 'json', contract: 'gaia', edges: [always('end')] } },
  { materia: { Spec: { tools: 'none', prompt: 'Find it.' } } },
);
const inLoop = (metric: number) =>
  asBlock(reportOf('COMPLETE', { more: { loop_state: { iteration: 1, max_iterations: 2, metric, threshold: 0.9 } } }));

/** What is told of a cast while it runs. */
function linesOf(entries: Change['entries']): readonly string[] {
  const lines: string[] = [];
  const screen = vi.spyOn(process.stderr, 'write').mockImplementation((text) => lines.push(String(text)) > 0);
  const progress = progressFor({ env: {}, json: true } as never, 'c');
  progress.take({ entries } as Change);
  progress.stop();
  screen.mockRestore();
  return lines;
}

test('what its own loop holds goes on, and what breaks its contract is refused and given back', () => {
  const { entries } = play({ config: CONFIG, agents: { Spec: [inLoop(0.2), 'no block', inLoop(0.95)] } });
  const why = 'COMPLETE is held, round 1 of 2: at iteration 1 of 2 the metric is 0.2, below its threshold of 0.9';
  const [held, broken] = linesOf(entries).filter((line) => /goes on|refused/.test(line));
  expect(held).toContain(`… goes on Socket-1 Spec: ${why} ·`);
  expect(broken).toMatch(/✗ refused Socket-1 Spec: .* \(one repair turn\)/);
  const told = storyteller();
  const story = entries.map((entry) => [codeIn(entry.fact), told(entry)]);
  expect(story).toContainEqual(['LOOP_STATE_INCOMPLETE', `Socket-1 Spec goes on with its loop: ${why}`]);
});
