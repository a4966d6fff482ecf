// A workspace opened by a program: what is refused is a verdict, who leaves ends only his own waiting, and close closes.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type CastEvent, type OpenWorkspace, openWorkspace } from '../../src/index.ts';
import { agent, always, baton, flow, json, project } from '../cli/baton.ts';

const config = flow({ A: agent }, { 'Socket-1': { materia: 'A', parse: 'json', edges: [always('end')] } });
const slow = { A: [{ $turn: { output: '{"satisfied":true}', delayMs: 60_000 } }] };
const environment = (dir: string, more = {}) => ({ PATH: process.env.PATH, HOME: dir, TMPDIR: dir, ...more });

async function all(events: AsyncIterable<CastEvent>): Promise<CastEvent[]> {
  const found: CastEvent[] = [];
  for await (const event of events) found.push(event);
  return found;
}

test.each<[string, (workspace: OpenWorkspace) => Promise<unknown>, string, object?]>([
  ['a cast of a loadout that is not there', (open) => open.cast('do it', { loadout: 'Nobody' }), 'BAD_USAGE'],
  ['an empty request', (open) => open.cast(''), 'BAD_USAGE'],
  ['a cast by an agent', (open) => open.cast('do it'), 'APPROVER_IS_AGENT', { BATON_CAST: 'c' }],
  ['waiting by an agent', (open) => open.wait('latest'), 'APPROVER_IS_AGENT', { BATON_CAST: 'c' }],
  ['waiting for no time that there is', (open) => open.wait('latest', { timeoutMs: Number.NaN }), 'BAD_USAGE'],
  ['a cast that never was', (open) => open.show('nobody'), 'UNKNOWN_CAST'],
  ['waiting for it', (open) => open.wait('nobody'), 'UNKNOWN_CAST'],
  ['a task that never was', (open) => open.task.claim('T-9', { owner: 'ann' }), 'LEDGER_INCONSISTENT'],
  ['a sign of life for no claim', (open) => open.task.heartbeat(), 'BAD_USAGE'],
])('%s is refused with a verdict', async (_, work, code, more) => {
  const dir = project({ '.baton/config.json': config });
  expect(await work(openWorkspace(dir, { env: environment(dir, more) }))).toMatchObject({ allow: false, code });
});

test('a folder that is not there, and a workspace that was closed, are refused in every way', async () => {
  const dir = project();
  const closed = openWorkspace(dir);
  await closed.close();
  for (const [open, code] of [
    [closed, 'NOT_ALLOWED_NOW'],
    [openWorkspace(join(dir, 'nowhere')), 'BAD_USAGE'],
  ] as const) {
    const refusal = { allow: false, code };
    expect(await open.casts()).toMatchObject(refusal);
    expect(await open.wait('latest')).toMatchObject(refusal);
    expect(await open.task.create({})).toMatchObject(refusal);
    expect(await open.command(['casts'])).toMatchObject({ exit: null, value: refusal });
    expect(await all(open.events('latest'))).toMatchObject([{ kind: 'end', verdict: refusal }]);
  }
});

test('who leaves ends only his own waiting: the cast goes on', async () => {
  const dir = project({ '.baton/config.json': config, 'agents.json': slow });
  const open = openWorkspace(dir, { env: environment(dir) });
  const started = await open.cast('do it', { agents: 'agents.json' });
  if (!started.allow) throw new Error(started.reason);
  const { cast } = started.details;
  expect(await open.wait(cast, { timeoutMs: 300 })).toMatchObject({ allow: true, details: { stands: false } });
  for await (const event of open.events(cast)) {
    expect(event).toMatchObject({ kind: 'fact', fact: { kind: 'cast.started', cast } });
    break;
  }
  const leaving = all(open.events(cast));
  const waiting = open.wait(cast);
  await open.close();
  expect((await leaving).at(-1)).toMatchObject({ kind: 'end' });
  expect(await waiting).toMatchObject({ details: { stands: false } });
  expect(json(await baton(dir, ['show', cast, '--json']))).toMatchObject({ status: 'running' });
});
