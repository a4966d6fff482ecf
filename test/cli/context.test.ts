// Shared knowledge through the command line: a person sets it, looks at it, sees how it came to be, and puts it back; an
// agent writes it with its report.
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import { agent, baton, cast, flow, json, project, put } from './baton.ts';

type Row = { readonly kind: string } & JsonObject;

const verdict = async (dir: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  json<{ allow: boolean; code: string; details: JsonObject }>(
    await baton(dir, ['context', ...args, '--json'], { env }),
  );
const shown = async (dir: string, ...args: string[]) =>
  json<JsonObject>(await baton(dir, ['context', 'show', ...args, '--json']));

/** A workspace in which `services` was written three times. */
async function written(): Promise<string> {
  const dir = project({
    'a.json': { web: { port: 80 }, list: ['b'] },
    'b.json': { list: ['a', 'b'] },
    'c.json': { web: null },
  });
  for (const file of ['a.json', 'b.json']) expect((await verdict(dir, ['set', 'services', file])).code).toBe('OK');
  expect((await verdict(dir, ['set', 'services', 'c.json', '--replace'])).code).toBe('OK');
  return dir;
}

test('a section is merged into, replaced, looked at and put back, and its history tells all of it', async () => {
  const dir = await written();
  expect(await shown(dir, 'services')).toMatchObject({
    section: 'services',
    version: 3,
    by: expect.stringMatching(/^user:/),
    value: { web: null },
  });
  expect(json<JsonObject[]>(await baton(dir, ['context', 'show', '--json']))).toMatchObject([
    { section: 'services', version: 3 },
  ]);
  const diff = async (...versions: string[]) =>
    json(await baton(dir, ['context', 'diff', 'services', ...versions, '--json']));
  expect(await diff()).toMatchObject({ from: 2, to: 3 });
  expect(await diff('1', '2')).toEqual({
    section: 'services',
    from: 1,
    to: 2,
    changes: [{ path: 'list[]', after: 'a' }],
  });
  expect((await diff('0', '1')).changes).toHaveLength(2);
  expect(await verdict(dir, ['revert', 'services', '--to', '2', '--reason', 'a mistake'])).toMatchObject({
    allow: true,
    details: { to: 2, version: 4 },
  });
  expect((await shown(dir, 'services')).value).toEqual({ web: { port: 80 }, list: ['b', 'a'] });
  const history = json<JsonObject[]>(await baton(dir, ['context', 'history', 'services', '--json']));
  expect(history.map(({ version, what }) => [version, what])).toEqual([
    [1, 'written, 2 changes'],
    [2, 'written, 1 change'],
    [3, 'replaced, 2 changes'],
    [4, 'back to 2: a mistake'],
  ]);
  // The values themselves, null among them, and no member on the side where there is none.
  expect(history.map(({ changes }) => changes)).toEqual([
    [
      { path: 'list', after: ['b'] },
      { path: 'web', after: { port: 80 } },
    ],
    [{ path: 'list[]', after: 'a' }],
    [
      { path: 'list', before: ['b', 'a'] },
      { path: 'web', before: { port: 80 }, after: null },
    ],
    [
      { path: 'web', before: null, after: { port: 80 } },
      { path: 'list', after: ['b', 'a'] },
    ],
  ]);
  expect((await verdict(dir, ['revert', 'services', '--to', '1'])).code).toBe('OK');
});

test('people see the same in words', async () => {
  const dir = await written();
  const said = async (...args: string[]) => (await baton(dir, ['context', ...args])).stdout;
  expect(await said()).toMatch(/^section +version +written +by +bytes\nservices +3 /);
  expect(await said('show', 'services')).toBe('{\n  "web": null\n}\n');
  expect(await said('diff', 'services', '1', '2')).toBe('+ list[]: a\n');
  expect(await said('history', 'services')).toMatch(/replaced, 2 changes/);
  expect(await said('set', 'services', 'c.json')).toBe('services holds all of it already\n');
});

test('a section that the configuration names is there before anybody has written to it', async () => {
  const dir = project({ '.baton/config.json': { materia: {}, loadouts: {}, context: { sections: { people: {} } } } });
  const known = { section: 'people', version: 0, by: null, value: {} };
  for (const isBegun of [false, true]) {
    if (isBegun) {
      put(dir, { 'a.json': { web: { port: 80 } } });
      await baton(dir, ['context', 'set', 'services', 'a.json']);
    }
    const all = json<readonly JsonObject[]>(await baton(dir, ['context', 'show', '--json']));
    expect(all.map(({ section }) => section)).toEqual(isBegun ? ['people', 'services'] : ['people']);
    expect(all[0]).toMatchObject(known);
    expect(await shown(dir, 'people')).toMatchObject(known);
    expect(json(await baton(dir, ['context', 'history', 'people', '--json']))).toEqual([]);
    expect(json(await baton(dir, ['context', 'diff', 'people', '--json']))).toMatchObject({
      from: 0,
      to: 0,
      changes: [],
    });
    for (const to of ['0', '1'])
      expect([to, (await verdict(dir, ['revert', 'people', '--to', to])).code]).toEqual([to, 'UNKNOWN_VERSION']);
  }
  const diff = await baton(dir, ['context', 'diff', 'services', '--json']);
  expect(json(diff).changes).toEqual([{ path: 'web', after: { port: 80 } }]);
});

test('an empty workspace knows nothing, and nothing is created by looking', async () => {
  const dir = project();
  expect(json(await baton(dir, ['context', 'show', '--json']))).toEqual([]);
  expect((await verdict(dir, ['show', 'x'])).code).toBe('UNKNOWN_SECTION');
  expect((await baton(dir, ['casts', '--json'])).stdout).toBe('[]\n');
});

const REFUSED: [string, string[], NodeJS.ProcessEnv, string][] = [
  ['a section that is not there', ['show', 'nope'], {}, 'UNKNOWN_SECTION'],
  ['the history of none', ['history', 'nope'], {}, 'UNKNOWN_SECTION'],
  ['a difference to a version that never was', ['diff', 'services', '1', '9'], {}, 'UNKNOWN_VERSION'],
  ['back to a version that never was', ['revert', 'services', '--to', '9', '--reason', 'x'], {}, 'UNKNOWN_VERSION'],
  ['back to the present', ['revert', 'services', '--to', '3', '--reason', 'x'], {}, 'UNKNOWN_VERSION'],
  ['a file that is no JSON', ['set', 'services', 'bad.json'], {}, 'NOT_JSON'],
  ['a file that holds a list', ['set', 'services', 'list.json'], {}, 'PAYLOAD_NOT_OBJECT'],
  ['a name that cannot be', ['set', 'memory', 'a.json'], {}, 'SECTION_NAME_INVALID'],
  ['a section that is too large', ['set', 'services', 'big.json'], {}, 'SECTION_TOO_LARGE'],
  ['an agent that sets', ['set', 'services', 'a.json'], { BATON_ATTEMPT: '1.1' }, 'APPROVER_IS_AGENT'],
  [
    'an agent that puts back',
    ['revert', 'services', '--to', '1', '--reason', 'x'],
    { BATON_ATTEMPT: '1.1' },
    'APPROVER_IS_AGENT',
  ],
];

test('what cannot be done is refused with its code', async () => {
  const dir = await written();
  put(dir, { 'bad.json': '{', 'list.json': [1], 'big.json': { text: 'x'.repeat(70_000) } });
  for (const [name, args, env, code] of REFUSED) {
    const ran = await baton(dir, ['context', ...args, '--json'], { env });
    expect([name, json(ran).code, ran.code]).toEqual([name, code, 1]);
  }
  expect(await shown(dir, 'services')).toMatchObject({ version: 3 });
});

test.each([
  [['nonsense']],
  [['set', 'services']],
  [['revert', 'services', '--reason', 'x']],
  [['show', '--replace']],
  [['diff', 'services', 'one']],
])('baton context %j is wrong usage', async (args) => {
  const dir = await written();
  expect((await baton(dir, ['context', ...args])).code).toBe(2);
});

const REPORT = (updates: Json, more: JsonObject = {}) => `\`\`\`agent_contract_handoff
${JSON.stringify({
  agent_status: { plan_status: 'COMPLETE', agent_id: 'a0c0ffee', pending_steps: [], next_action: 'done' },
  evidence_report: {
    patterns_checked: [],
    files_checked: [],
    commands_run: [],
    key_outputs: [],
    verbatim_outputs: [],
    cross_layer_impacts: [],
    open_gaps: [],
    verification: { method: 'test', checks: ['npm test'], result: 'pass', details: 'fine' },
  },
  update_contracts: updates,
  ...more,
})}
\`\`\``;

const TEAM = flow(
  { Build: agent },
  { 'Socket-1': { materia: 'Build', contract: 'gaia' } },
  { context: { sections: { services: {}, infra: {} }, read: { '*': ['services'] }, write: { Build: ['services'] } } },
);

test('an agent writes what it may with its report; the rest is refused one by one and stands in the history', async () => {
  const dir = project();
  const long = 'why it is so. '.repeat(40);
  const updates = [
    { contract: 'infra', payload: { region: 'eu' } },
    { contract: 'services', payload: { web: { pod_count: 3 } } },
    { contract: 'evidence', payload: { brief_id: '7', ac_id: 'AC-1', type: 'file', artifact_path: 'proof.txt' } },
    { contract: 'services', payload: { web: { uses: 'https://github.com/Acme/IaC.git:tf/net', why: long } } },
  ];
  put(dir, { 'proof.txt': 'proof\n' });
  const view = await cast(dir, TEAM, { Build: [REPORT(updates)] });
  expect(view).toMatchObject({ status: 'completed' });
  const value = { web: { uses: 'github.com/acme/iac:tf/net', why: long } };
  expect(await shown(dir, 'services')).toMatchObject({ version: 1, by: 'Build', value });
  const history = json<JsonObject[]>(await baton(dir, ['context', 'history', 'services', '--json']));
  expect(history).toMatchObject([
    { version: null, code: 'LIVE_STATE', where: `${view.cast}:1`, by: 'Build' },
    { version: 1, where: `${view.cast}:1`, by: 'Build' },
  ]);
  const log = json<Row[]>(await baton(dir, ['log', '--json', '--after', '0']));
  expect(log.filter(({ kind }) => kind === 'context.rejected').map(({ section, code }) => [section, code])).toEqual([
    ['infra', 'WRITE_NOT_PERMITTED'],
    ['services', 'LIVE_STATE'],
  ]);
  const turn = json<JsonObject>(await baton(dir, ['show', view.cast ?? '', '--turn', '1', '--json']));
  expect(turn.deposits).toMatchObject([
    { name: `evidence:${view.cast}-1.1-1`, brief_id: 7, artifact_path: 'proof.txt', size_bytes: 6 },
  ]);
  const told = (await baton(dir, ['log', '--after', '0'])).stdout;
  expect(told).toContain(`Build deposits evidence:${view.cast}-1.1-1 (file) for AC-1 of brief 7: proof.txt`);
  expect(json<JsonObject[]>(await baton(dir, ['context', 'show', '--json']))).toMatchObject([{ section: 'services' }]);
  // What a cast has left to the others is not erased with its own texts.
  expect((await baton(dir, ['gc', '--older-than', '0m', '--json'])).code).toBe(0);
  expect(await shown(dir, 'services')).toMatchObject({ value });
});

test('evidence that leads out of the folder is refused with all other evidence, and the cast goes on', async () => {
  const dir = project();
  symlinkSync('/etc/hostname', join(dir, 'out.txt'));
  const evidence = (payload: JsonObject) => ({
    contract: 'evidence',
    payload: { brief_id: 7, ac_id: 'AC-1', ...payload },
  });
  const updates = [
    evidence({ type: 'file', artifact_path: 'out.txt' }),
    evidence({ type: 'text', text: 'seen' }),
    { contract: 'services', payload: { port: 80 } },
  ];
  const view = await cast(dir, TEAM, { Build: [REPORT(updates)] });
  expect(view).toMatchObject({ status: 'completed' });
  const { context, deposits } = json<JsonObject>(await baton(dir, ['show', view.cast ?? '', '--turn', '1', '--json']));
  expect(deposits).toEqual([]);
  expect(context).toMatchObject([
    { section: 'evidence', written: false, code: 'EVIDENCE_OUTSIDE' },
    { section: 'evidence', written: false, code: 'EVIDENCE_WITHHELD' },
    { section: 'services', written: true },
  ]);
});

test('nothing of a report that broke its contract is written', async () => {
  const dir = project();
  const broken = REPORT([{ contract: 'services', payload: { a: 1 } }], { evidence_report: {} });
  expect(await cast(dir, TEAM, { Build: [broken, '$repeat'] })).toMatchObject({ status: 'failed' });
  expect(json(await baton(dir, ['context', 'show', '--json']))).toEqual([]);
});

test('the next cast is told what is known, and only what its agent may read', async () => {
  const dir = project({ 'a.json': { port: 8080 }, 'b.json': { region: 'eu-central-9' } });
  await verdict(dir, ['set', 'services', 'a.json']);
  await verdict(dir, ['set', 'infra', 'b.json']);
  const view = await cast(dir, TEAM, { Build: [REPORT([])] });
  const briefs = (view.turns ?? []).map(({ brief }) => brief).join('');
  expect(briefs).toContain('8080');
  expect(briefs).not.toContain('eu-central-9');
});
