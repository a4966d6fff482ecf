// One process whose clock is wrong writes into the log of others. The log never goes back in time, and what they do is still
// judged and dated by their own clocks.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { CastView } from '../../src/app/views/shown-cast.ts';
import { baton, flow, type How, injecting, json, project, put, start, untilWritten } from './baton.ts';
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

/** Commands whose clock goes by as many milliseconds as the file says at that moment. */
function settable(file: string): How {
  const code = `import { readFileSync } from 'node:fs'; const now = Date.now;
Date.now = () => { try { return now() + Number(readFileSync(${JSON.stringify(file)}, 'utf8')); } catch { return now(); } };`;
  return injecting(code);
}

const DAY = 86_400_000;

/** Two turns, of which the first works until it is told to go on. */
function slow(maxDurationMs: number): string {
  const first = 'echo up > up; while [ ! -e go ]; do sleep 0.05; done; echo done';
  const worker = (script: string) => ({
    prompt: 'Work.',
    runner: 'command',
    command: ['sh', '-c', script],
    tools: 'none',
  });
  const config = flow(
    { A: worker(first), B: worker('echo done') },
    {
      'Socket-1': { materia: 'A', parse: 'text', edges: [{ when: 'always', to: 'Socket-2' }] },
      'Socket-2': { materia: 'B', parse: 'text' },
    },
  );
  return project({ 'c.json': { ...config, budget: { maxDurationMs } } });
}

test('a clock that is set a day forward while a cast runs does not use up its hour', async () => {
  const dir = slow(3_600_000);
  const how = settable(join(dir, 'offset'));
  const cast = start(dir, ['cast', '--file', 'c.json', '--in-place', '--json', 'x'], how);
  await untilWritten(dir, 'up');
  put(dir, { offset: String(DAY) });
  put(dir, { go: '' });
  const view = json<CastView>(await cast.ended);
  expect([view.status, view.code, view.path.length]).toEqual(['completed', null, 2]);
  expect(view.elapsedMs).toBeLessThan(3_600_000);
  const entries = json<{ at: string }[]>(await baton(dir, ['log', '--after', '0', '--json'], how));
  const span = Date.parse(entries.at(-1)?.at ?? '') - Date.parse(entries[0]?.at ?? '');
  expect(span).toBeGreaterThan(DAY - 60_000);
  const [listed] = json<CastView[]>(await baton(dir, ['casts', '--json'], how));
  expect(listed?.elapsedMs).toBe(view.elapsedMs);
});

test('a clock that is set a day back while a cast runs does not make its budget endless', async () => {
  const dir = slow(4_000);
  const how = settable(join(dir, 'offset'));
  const cast = start(dir, ['cast', '--file', 'c.json', '--in-place', '--json', 'x'], how);
  await untilWritten(dir, 'up');
  put(dir, { offset: String(-DAY) });
  const view = json<CastView>(await cast.ended);
  expect([view.status, view.code]).toEqual(['failed', 'BUDGET_EXHAUSTED']);
  const entries = json<{ clock?: string }[]>(await baton(dir, ['log', '--after', '0', '--json'], how));
  expect(entries.some(({ clock }) => clock !== undefined)).toBe(true);
  expect(view.elapsedMs).toBeGreaterThanOrEqual(4_000);
  expect(view.elapsedMs).toBeLessThan(60_000);
});
