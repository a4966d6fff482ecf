// One process whose clock is wrong writes into the log of others. The log never goes back in time, and what they do is still
// judged and dated by their own clocks.
import { expect, test } from 'vitest';
import type { CastView } from '../../src/engine/view.ts';
import { baton, flow, json, project, start, untilWritten } from './baton.ts';
import { ask, create, later, RUN, rows } from './ledger-story.ts';

const HOURS = 2 * 3600;
/** It is refused, and the refusal is in the log. */
const disturb = (dir: string) => ask(dir, ['task', 'claim', 'T-99', '--owner', 'eve'], later(HOURS));

async function putOff(dir: string, ms: number): Promise<void> {
  const delta = {
    task_id: 'T-1',
    status: 'blocked',
    owner: 'ann',
    reason: 'not yet',
    delta_id: 'd-1',
    retry_after_ms: ms,
  };
  const input = JSON.stringify([delta]);
  expect(await ask(dir, ['task', 'apply', '-', '--run', RUN], { input })).toMatchObject({ allow: true });
}

test('a cast does not fail by the clock of another, and its agents keep their time', async () => {
  const worker = { prompt: 'Work.', runner: 'command', command: ['sh', '-c', 'echo up > up; sleep 2; echo done'] };
  const config = flow(
    { A: { ...worker, tools: 'coding' }, B: { ...worker, tools: 'coding' } },
    {
      'Socket-1': { materia: 'A', parse: 'text', edges: [{ when: 'always', to: 'Socket-2' }] },
      'Socket-2': { materia: 'B', parse: 'text', edges: [{ when: 'always', to: 'end' }] },
    },
  );
  const dir = project({ 'c.json': { ...config, budget: { maxDurationMs: 600_000 } } });
  const cast = start(dir, ['cast', '--file', 'c.json', '--in-place', '--json', 'x']);
  await untilWritten(dir, 'up');
  expect((await disturb(dir)).allow).toBe(false);
  const view = json<CastView>(await cast.ended);
  expect([view.status, view.code]).toEqual(['completed', null]);
  expect(view.elapsedMs).toBeLessThan(600_000);
  expect((await baton(dir, ['audit', 'verify'])).code).toBe(0);
});

test('what was put off is put off for as long as was said, before and after the log was dated ahead', async () => {
  const dir = project();
  await create(dir, 'T-1');
  await putOff(dir, 3_600_000);
  await disturb(dir);
  const early = await ask(dir, ['task', 'claim', 'T-1', '--owner', 'ann']);
  expect(early).toMatchObject({ allow: false, code: 'NOT_ALLOWED_NOW' });
  expect((await ask(dir, ['task', 'claim', 'T-1', '--owner', 'ann'], later(3_700))).allow).toBe(true);

  const other = project();
  await create(other, 'T-1');
  await disturb(other);
  await putOff(other, 5_000);
  expect((await ask(other, ['task', 'claim', 'T-1', '--owner', 'ann'])).code).toBe('NOT_ALLOWED_NOW');
  expect((await ask(other, ['task', 'claim', 'T-1', '--owner', 'ann'], later(60))).allow).toBe(true);
  expect(await rows(other)).toMatchObject([{ status: 'in_progress', owner: 'ann' }]);
});
