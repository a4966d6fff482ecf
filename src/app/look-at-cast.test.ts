import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { always, graph } from '../../test/loadouts.ts';
import { play } from '../../test/play.ts';
import { lookerWith } from '../access/actor.ts';
import { thisDriver } from '../engine/lease.ts';
import type { Entry } from '../kernel/fact.ts';
import type { JsonObject } from '../kernel/json.ts';
import { SqliteLog } from '../log/sqlite/log.ts';
import { logFileIn } from '../log/sqlite/open.ts';
import type { CastNews } from './look-at-cast.ts';
import type { OperationName } from './operations/table.ts';
import { answer } from './perform.ts';
import { makeStateFolder, Workspace } from './workspace.ts';

const LINE = graph(
  { 'Socket-1': { materia: 'First', edges: [always('Socket-2')] }, 'Socket-2': { materia: 'Then' } },
  { materia: { First: { prompt: 'Say.', tools: 'none' }, Then: { prompt: 'Go on.', tools: 'none' } } },
);
const { entries: WHOLE, cast: PLAYED } = play({ config: LINE, agents: { First: ['one'], Then: ['two'] } });
const MIDDLE = WHOLE.findIndex(({ fact }) => fact.kind === 'turn.accepted');

const open: Workspace[] = [];
afterEach(async () => {
  for (const workspace of open.splice(0)) await workspace.close();
});

async function workspaceWith(entries: readonly Entry[]): Promise<Workspace> {
  const dir = mkdtempSync(join(tmpdir(), 'follow-'));
  const located = { dir, configFile: join(dir, '.baton/config.json'), stateDir: join(dir, '.baton/state') };
  const workspace = new Workspace(located, { env: {} });
  open.push(workspace);
  makeStateFolder(workspace);
  await append(workspace, entries);
  return workspace;
}

/** As another process does it. */
async function append({ stateDir }: Workspace, entries: readonly Entry[]): Promise<void> {
  const log = new SqliteLog(logFileIn(stateDir));
  const { seq } = await log.head();
  await log.commit(seq, { decide: () => entries.map(({ fact, by, at }) => ({ fact, by, at: Date.parse(at) })) });
  await log.close();
}

async function ask(workspace: Workspace, name: OperationName, given: JsonObject = {}, signal?: AbortSignal) {
  const news: CastNews[] = [];
  const verdict = await answer(workspace, name, given, {
    actor: lookerWith(null),
    signal: signal ?? new AbortController().signal,
    onEvent: (event) => event.kind === 'value' && news.push(event.value as CastNews),
  });
  return { verdict, news };
}

test('a cast that is over is told at once, whole and in order', async () => {
  const { verdict, news } = await ask(await workspaceWith(WHOLE), 'cast.watch', { turns: true });
  expect(verdict).toMatchObject({ allow: true, details: { cast: PLAYED.id, status: 'completed', stands: true } });
  expect(verdict.details.turns).toHaveLength(2);
  const told = news.flatMap((one) => (one.kind === 'entries' ? one.entries : []));
  expect(told.map(({ fact }) => fact.kind)).toEqual(WHOLE.map(({ fact }) => fact.kind));
});

test('what is appended meanwhile is told, and its end ends the waiting', async () => {
  const workspace = await workspaceWith(WHOLE.slice(0, MIDDLE));
  await workspace.castStore().lease('takeCast', PLAYED.id, thisDriver());
  const waiting = ask(workspace, 'cast.watch');
  setTimeout(() => void append(workspace, WHOLE.slice(MIDDLE)), 100);
  const { verdict, news } = await waiting;
  expect(verdict).toMatchObject({ allow: true, details: { status: 'completed', stands: true } });
  expect(news.length).toBeGreaterThan(1);
});

test.each<[string, JsonObject, AbortSignal | undefined]>([
  ['when its time is over', { timeout_seconds: 0.2 }, undefined],
  ['when the caller leaves', {}, AbortSignal.timeout(200)],
])('waiting ends %s, and the cast goes on', async (_, given, signal) => {
  const workspace = await workspaceWith(WHOLE.slice(0, MIDDLE));
  await workspace.castStore().lease('takeCast', PLAYED.id, thisDriver());
  const { verdict } = await ask(workspace, 'cast.wait', given, signal);
  expect(verdict).toMatchObject({ allow: true, details: { status: 'running', stands: false } });
});

test('nobody waits in vain for a cast without a driver, or for none', async () => {
  const workspace = await workspaceWith(WHOLE.slice(0, MIDDLE));
  const { verdict } = await ask(workspace, 'cast.wait', { timeout_seconds: 60 });
  expect(verdict).toMatchObject({ code: 'NOT_ALLOWED_NOW', details: { status: 'running', stands: false } });
  expect((await ask(workspace, 'cast.wait', { cast: 'nobody' })).verdict.code).toBe('UNKNOWN_CAST');
});

test('why and status answer in process', async () => {
  const workspace = await workspaceWith(WHOLE);
  expect((await ask(workspace, 'cast.why')).verdict).toMatchObject({
    allow: true,
    details: { cast: PLAYED.id, status: 'completed', commands: [{ command: `baton show ${PLAYED.id}` }] },
  });
  expect((await ask(workspace, 'status')).verdict.details).toMatchObject({ open: [], ended: [{ cast: PLAYED.id }] });
});
