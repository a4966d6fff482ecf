// Pinning a team: `registry lock` gives its agents ids and records, and `registry accept` takes an edited prompt.
import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import { baton, json, project, put, read } from './baton.ts';

const ITEMS: Json = { workItems: [{ title: 'Greet', context: 'Say hello.' }] };
const SCRIPT = { plan: [ITEMS], build: ['Built.'], review: [{ satisfied: true }], summary: ['Done.'] };

type Locked = { readonly added: readonly JsonObject[]; readonly written: readonly string[] };
const detailsOf = async (dir: string, args: readonly string[]) =>
  json<{ code: string; details: JsonObject }>(await baton(dir, [...args, '--json']));

test('registry lock is the one step to pinning: ids, manifest and lock for the agents of the short form', async () => {
  const dir = project({ 'agents.json': SCRIPT });
  await baton(dir, ['init']);
  const { added, written } = (await detailsOf(dir, ['registry', 'lock'])).details as unknown as Locked;
  expect(added.map(({ id, handsTo }) => [id, handsTo])).toEqual([
    ['plan', ['build']],
    ['build', ['review']],
    ['review', ['build', 'summary']],
    ['summary', []],
  ]);
  expect(written).toEqual([
    ...['.baton/versions/prompt-manifest.json', '.baton/versions/prompt-lock.json', '.baton/.gitattributes'],
  ]);
  expect((await baton(dir, ['check', '--strict'])).stdout).toMatch(/^ok: no issues/);
  const ran = await baton(dir, ['cast', '--agents', 'agents.json', '--json', 'Greet']);
  expect(json<JsonObject>(ran)).toMatchObject({ status: 'completed', trust: 'on' });
  expect((await detailsOf(dir, ['registry', 'lock'])).details).toMatchObject({ added: [], changed: [] });
});

test('an edit of a pinned prompt is an error of check, and registry accept takes it on', async () => {
  const dir = project({ 'agents.json': SCRIPT });
  await baton(dir, ['init']);
  await baton(dir, ['registry', 'lock']);
  put(dir, {
    '.baton/prompts/build.md': `${read(dir, '.baton/prompts/build.md')}Be quick.\n`,
    '.baton/prompts/plan.md': 'Plan.\n',
  });
  const checked = await baton(dir, ['check']);
  expect([checked.code, checked.stdout]).toEqual([
    1,
    expect.stringMatching(/PROMPT_BYTES_MISMATCH[\s\S]*registry accept build/),
  ]);
  const cast = async () => json<JsonObject>(await baton(dir, ['cast', '--agents', 'agents.json', '--json', 'Greet']));
  expect((await cast()).code).toBe('PROMPT_BYTES_MISMATCH');
  expect((await detailsOf(dir, ['registry', 'accept', 'buld'])).code).toBe('AGENT_UNKNOWN');
  const one = await baton(dir, ['registry', 'accept', 'build']);
  expect([one.code, one.stdout, one.stderr]).toEqual([
    0,
    '1 prompt accepted: build\n',
    expect.stringContaining('+ Be quick.'),
  ]);
  expect((await baton(dir, ['check'])).stdout).toMatch(/PROMPT_BYTES_MISMATCH[\s\S]*materia.plan/);
  const all = await detailsOf(dir, ['registry', 'accept']);
  expect(all).toMatchObject({
    code: 'OK',
    details: { accepted: ['plan'], released: ['plan'], versions: { plan: '1.1.0' } },
  });
  expect((await baton(dir, ['check', '--strict'])).code).toBe(0);
  expect((await cast()).status).toBe('completed');
  expect((await detailsOf(dir, ['registry', 'accept'])).details).toMatchObject({ accepted: [], released: [] });
});

test('a prompt that is written in the loadout is pinned, too, and a new step joins the registry with the next lock', async () => {
  const steps = (...more: string[]) => `steps:\n  - say: { prompt: Say hello. }\n${more.join('\n')}\n`;
  const dir = project({ '.baton/loadouts/one.yaml': steps() });
  await baton(dir, ['registry', 'lock']);
  put(dir, { '.baton/loadouts/one.yaml': steps().replace('hello', 'goodbye') });
  expect((await detailsOf(dir, ['check'])).code).toBe('PROMPT_BYTES_MISMATCH');
  expect((await detailsOf(dir, ['registry', 'accept', 'say'])).code).toBe('OK');
  put(dir, { '.baton/loadouts/one.yaml': steps('  - end-it: { prompt: End it. }').replace('hello', 'good day') });
  expect((await detailsOf(dir, ['registry', 'accept'])).details).toMatchObject({ accepted: ['say'] });
  expect((await detailsOf(dir, ['check'])).code).toBe('BOUNDARY_REFUSED');
  const { details } = await detailsOf(dir, ['registry', 'lock']);
  expect(details).toMatchObject({ added: [{ id: 'end-it', materia: 'end-it' }], widened: ['say'] });
  expect((await baton(dir, ['check', '--strict'])).code).toBe(0);
});

test('two loadouts with one name for different prompts are not locked, and both are named', async () => {
  const step = (prompt: string) => `steps: [{ say: { prompt: ${prompt} } }]`;
  const dir = project({ '.baton/loadouts/one.yaml': step('Hello.'), '.baton/loadouts/two.yaml': step('Goodbye.') });
  const { code, reason } = json<JsonObject>(await baton(dir, ['registry', 'lock', '--json']));
  expect([code, reason]).toEqual([
    'INVALID_MATERIA',
    expect.stringMatching(/one\.yaml and two\.yaml have an agent say/),
  ]);
});
