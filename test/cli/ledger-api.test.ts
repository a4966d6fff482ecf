// Signs of life by API: what `baton heartbeat` does, a client of `baton mcp` does over HTTP.
import { expect, test } from 'vitest';
import { overHttp } from '../mcp/client.ts';
import { project } from './baton.ts';
import { ask, codesIn, create, later, rows } from './ledger-story.ts';

test('over HTTP a heartbeat with the fence of the claim is heard, and one with an older fence is refused', async () => {
  const dir = project();
  await create(dir, 'T-1');
  const { ask: call } = await overHttp(dir);
  const claimed = await call('task_claim', { task: 'T-1', owner: 'ann' });
  expect(claimed).toMatchObject({ allow: true, details: { fence: 1 } });
  const beat = (fence: number, owner = 'ann') => call('heartbeat', { task: 'T-1', owner, fence });
  const first = await beat(1);
  expect(first).toMatchObject({ allow: true, details: { task: 'T-1', fence: 1, timeout_seconds: 60 } });
  expect(await rows(dir)).toMatchObject([{ last_heartbeat_at: first.details.last_heartbeat_at }]);

  // Its owner sleeps through its own timeout; another claims the task.
  expect(await ask(dir, ['watchdog'], later(62))).toMatchObject({ code: 'R-WD-001' });
  expect(await beat(1)).toMatchObject({ allow: false, code: 'CONCURRENCY_CONFLICT' });
  const again = await call('task_next', { owner: 'bob' });
  expect(again).toMatchObject({ allow: true, details: { task: 'T-1', fence: 2 } });
  expect(await beat(1)).toMatchObject({ allow: false, code: 'CONCURRENCY_CONFLICT' });
  expect(await beat(2)).toMatchObject({ allow: false, code: 'CONCURRENCY_CONFLICT' }); // Ann with the token of bob.
  expect(await beat(2, 'bob')).toMatchObject({ allow: true, details: { fence: 2 } });
  const refusals = (await codesIn(dir)).filter((code) => code === 'CONCURRENCY_CONFLICT');
  expect(refusals).toHaveLength(3);
});
