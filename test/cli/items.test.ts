// What a cast says of the items of its loops, through the real program.
import { expect, test } from 'vitest';
import type { CastView } from '../../src/app/views/shown-cast.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { crew, exit, no, notSatisfied, plan, satisfied, workflow, yes } from '../loadouts.ts';
import { baton, json, project, put } from './baton.ts';

const NAMES = ['--file', 'cast.json', '--agents', 'agents.json'];

async function ran(config: JsonObject, agents: ReturnType<typeof crew>) {
  const dir = project();
  put(dir, { 'cast.json': config, 'agents.json': agents });
  return { dir, said: await baton(dir, ['cast', ...NAMES, 'do it']) };
}

test('a loop that ends with items left is no success, and everything counts the items', async () => {
  const config = workflow({ 'sockets.Socket-4.edges': [{ when: 'always', to: 'end' }] });
  const { dir, said } = await ran(config, crew({ Plan: [plan(3)] }));
  expect(said.code).toBe(1);
  expect(said.stdout).toContain('failed (ITEMS_LEFT)\n  Maintain has no edge back into its loop');
  expect(said.stdout).toContain('  items   1 of 3 done, 2 open\n');
  const why = await baton(dir, ['why', 'latest']);
  expect(why.stdout).toContain('1 of 3 items done, 2 open.');
  const show = await baton(dir, ['show', 'latest']);
  expect(show.stdout).toMatch(/^ {2}items {3}1 of 3 done, 2 open$/m);
  const view = json<CastView>(await baton(dir, ['show', 'latest', '--json']));
  expect(view).toMatchObject({ status: 'failed', code: 'ITEMS_LEFT' });
  expect(view.items).toEqual({ total: 3, done: 1, skipped: 0, leftEarly: 0, leftOut: 0, parked: 0, open: 2 });
  const check = json<{ details: { issues: JsonObject[] } }>(await baton(dir, ['check', 'cast.json', '--json']));
  expect(check.details.issues[0]).toMatchObject({
    ...{ code: 'ITEMS_LEFT', level: 'warning', path: 'loadouts.Flow.sockets.Socket-4.edges[0]' },
  });
});

test('`edge` for `edges` is an error that names the field, and nothing is cast', async () => {
  const { said } = await ran(workflow({ 'sockets.Socket-4.edge': [], 'sockets.Socket-4.edges': undefined }), crew());
  expect(said.code).toBe(1);
  expect(`${said.stdout}${said.stderr}`).toContain('Did you mean edges?');
});

test('skipped items and items that were left early are counted as such, and rework by its limit', async () => {
  const config = workflow({
    'sockets.Socket-2.edges': [satisfied('Socket-3'), notSatisfied('Socket-2')],
    'sockets.Socket-2.parse': 'json',
    'sockets.Socket-2.advance': { cursor: 'workItemIndex', items: 'state.workItems', when: 'not_satisfied' },
    'sockets.Socket-3.edges': [satisfied('Socket-4'), notSatisfied('Socket-2', 3)],
    'sockets.Socket-4.edges': [satisfied('Socket-2'), notSatisfied('Socket-5')],
    'loops.main.exits': [exit('Socket-2', 'always', 'Socket-5'), exit('Socket-4', 'always', 'Socket-5')],
  });
  const agents = crew({
    Plan: [plan(4)],
    Build: [no('not worth it'), yes, '$repeat'],
    Eval: [no('red'), no('red'), yes, '$repeat'],
    Maintain: [yes, no('enough')],
  });
  const { dir, said } = await ran(config, agents);
  expect(said.code).toBe(0);
  expect(said.stdout).toMatch(/^ {2}items {3}1 of 4 done, 1 skipped, 2 left early\n {2}time .* for \d+ steps/m);
  expect(said.stderr.match(/round \d of \d/g)).toEqual(['round 1 of 3', 'round 2 of 3']);
  // The table of items names those that never began, too.
  expect(said.stdout).toMatch(/^Item 1 +skipped/m);
  expect(said.stdout).toMatch(/^Item 4 +left early/m);
  const show = await baton(dir, ['show', 'latest']);
  expect(show.stdout).toMatch(/T-1 +Item 1 +skipped\b/m);
  expect(show.stdout).toMatch(/T-4 +Item 4 +canceled +.*LEFT_EARLY: /m);
});
