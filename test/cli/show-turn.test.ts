// `baton show CAST --turn N`, and the closing words of a cast whose agents report with a status.
import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { CastView } from '../../src/app/views/shown-cast.ts';
import type { TurnDetail } from '../../src/app/views/turn-detail.ts';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import { asBlock, type Parts, type PlanStatus, reportOf } from '../reports.ts';
import { agent, always, baton, CHECKOUT, flow, json, project, put, read } from './baton.ts';

const gaia = { parse: 'json', contract: 'gaia' };
const TWO = flow(
  { Spec: agent, Fix: agent },
  {
    'Socket-1': { materia: 'Spec', ...gaia, edges: [always('Socket-2')] },
    'Socket-2': { materia: 'Fix', ...gaia, edges: [always('end')] },
  },
);
const says = (status: PlanStatus, parts: Parts = {}, commands?: Json) => ({
  $turn: { output: asBlock(reportOf(status, parts)), ...(commands === undefined ? {} : { commands }) },
});
const cast = (dir: string, agents: Readonly<Record<string, Json>>, ...more: string[]) => {
  put(dir, { 'cast.json': TWO, 'agents.json': agents });
  return baton(dir, ['cast', '--file', 'cast.json', '--agents', 'agents.json', ...more, 'find the fault']);
};
const shared = (parts: Readonly<Record<string, Json>>): Parts => ({
  more: {
    consolidation_report: {
      ...{ ownership_assessment: 'owned_here', confirmed_findings: ['x'], suspected_findings: ['none'] },
      ...{ conflicts: ['none'], open_gaps: ['none'], next_best_agent: 'none', ...parts },
    },
  },
});

test('one turn in full, and text of agents cannot act on the terminal', async () => {
  const dir = project();
  const asks = says('NEEDS_INPUT', { next_action: 'tabs \u001b[31mor spaces?' });
  const done = says('COMPLETE', {
    key_outputs: ['the clock was wrong'],
    commands_run: [{ command: 'npm test', result: 'ok' }],
    more: { rollback_executed: 'git revert 1a2b', memory_suggestions: ['use UTC'] },
  });
  await cast(dir, { Spec: [asks, { $answer: 'tabs' }, done], Fix: [says('COMPLETE')] });
  const { stdout, code } = await baton(dir, ['show', 'latest', '--turn', '1']);
  expect(code).toBe(0);
  expect(stdout).not.toContain('\u001b');
  const parts = ['step      Spec', 'INPUT', '"goal": "find the fault"', 'attempt 1', 'attempt 2', 'reports'];
  const rest = ['NEEDS_INPUT', 'exchange', ': tabs', 'evidence', '`npm test` -> ok', 'memory', 'use UTC', 'rollback'];
  for (const part of [...parts, ...rest]) expect(stdout).toContain(part);
  const detail = json<TurnDetail>(await baton(dir, ['show', '--turn', '1', '--json']));
  expect(detail).toMatchObject({
    turn: 1,
    commands: null,
    reports: [{}, { evidence: { key_outputs: ['the clock was wrong'] } }],
  });
});

test('a report that blocked its turn is there with its evidence', async () => {
  const dir = project();
  await cast(dir, { Spec: [says('BLOCKED', { open_gaps: ['no key'], commands_run: ['ls'] }, ['pwd'])] });
  const detail = json<TurnDetail>(await baton(dir, ['show', '--turn', '1', '--json']));
  expect(detail).toMatchObject({
    reports: [{ note: { status: 'BLOCKED' }, evidence: { open_gaps: ['no key'] } }],
    commands: { notRun: ['ls'], unnamed: ['pwd'] },
  });
});

test('what of a report could not be taken is told: as it comes, in the log, and with its turn', async () => {
  const dir = project();
  const more = {
    memorialize_suggestions: [{ description: 'd' }, 5],
    memory_suggestions: 'notalist',
    update_contracts: [{ contract: 'services' }],
    context_consumption: { tokens_used: 1200, pct_window: 6.5 },
  };
  const ran = await cast(dir, { Spec: [says('COMPLETE', { more })], Fix: [says('COMPLETE')] });
  const turn = await baton(dir, ['show', '--turn', '1']);
  for (const told of [
    'update_contracts[0]: not an object with contract and payload',
    'memorialize_suggestions[0]: body missing, skipped',
    'memorialize_suggestions[1]: not an object, skipped',
    'memory_suggestions: expected array, got a string',
  ]) {
    expect(ran.stderr).toContain(`! ${told}`);
    expect(turn.stdout).toContain(`! ${told}`);
  }
  expect((await baton(dir, ['log', '--after', '0'])).stdout).toContain('(not taken as it was: update_contracts[0]:');
  expect(ran.stdout).toContain('window    Spec: 1200 tokens, 6.5 % of the window');
  const view = json<CastView>(await baton(dir, ['show', '--json']));
  expect(view.report?.contextConsumption).toEqual([{ agent: 'Spec', item: null, tokens_used: 1200, pct_window: 6.5 }]);
});

/** The contract's name for the row of a turn that was no task; the numbers are for planners. */
const ROW = expect.stringMatching(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);

test('a blocked agent is told what it lacks, with words, and goes on in the same turn', async () => {
  const dir = project();
  const blocked = await cast(dir, {
    Spec: [says('BLOCKED', { open_gaps: ['no key'] }), says('COMPLETE')],
    Fix: [says('COMPLETE')],
  });
  expect([blocked.code, blocked.stdout]).toEqual([4, expect.stringContaining('AGENT_BLOCKED')]);
  const rows = async () => json<readonly JsonObject[]>(await baton(dir, ['task', 'list', '--json']));
  const isSound = async () => {
    expect(await baton(dir, ['reconcile'])).toMatchObject({ code: 0 });
    const { stdout: input } = await baton(dir, ['bundle']);
    expect(await baton(dir, ['validate', 'operator/bundle'], { input })).toMatchObject({ code: 0 });
  };
  expect(await rows()).toMatchObject([{ task_id: ROW, status: 'blocked' }]);
  await isSound();
  expect((await baton(dir, ['task', 'list'])).stdout).toContain('no key');
  expect((await baton(dir, ['status'])).stdout).toContain('no key');
  for (const args of [['--turn', '1'], [' '], ['--file', '-']]) {
    const empty = await baton(dir, ['answer', 'latest', ...args], { input: ' \n' });
    expect([empty.code, empty.stderr]).toEqual([2, expect.stringContaining('the answer is empty')]);
  }
  const done = await baton(dir, ['answer', 'latest', 'it is in the drawer', '--json']);
  expect(json<CastView>(done)).toMatchObject({ status: 'completed', path: [{ visit: 1 }, { visit: 1 }] });
  const { exchange } = json<TurnDetail>(await baton(dir, ['show', '--turn', '1', '--json']));
  expect(exchange.map(({ from, text }) => [from, text])).toEqual([
    ['agent', 'no key'],
    ['person', 'it is in the drawer'],
  ]);
  expect(await rows()).toMatchObject([{ task_id: ROW, status: 'done' }]);
  await isSound();
});

test.each([
  [['--turn', '9'], 'has no turn 9'],
  [['--turn', '0'], 'must be the number of a turn'],
  [['--turn', '1', '--turns'], 'not both'],
])('%j is wrong usage', async (options, told) => {
  const dir = project();
  await cast(dir, { Spec: [says('COMPLETE')], Fix: [says('COMPLETE')] });
  const ran = await baton(dir, ['show', 'latest', ...options]);
  expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining(told)]);
});

test('the closing words of several agents: their findings, what was verified, and what has to be known beside it', async () => {
  const dir = project();
  const spec = {
    ...shared({ conflicts: ['the docs say otherwise'], next_best_agent: 'Ops' }),
    key_outputs: ['it is the clock'],
  };
  const fix = { key_outputs: ['mended'], open_gaps: ['no test on Windows'], commands_run: ['npm test'] };
  const ran = await cast(dir, { Spec: [says('COMPLETE', spec)], Fix: [says('COMPLETE', fix, ['npm run build'])] });
  expect(ran.stdout.split('\n').slice(0, 9)).toEqual([
    'summary   Spec: it is the clock',
    '          Fix: mended',
    'verified  Spec: pass: test: seen',
    '          Fix: pass: test: seen',
    'open gaps Fix: no test on Windows',
    'conflicts Spec: the docs say otherwise',
    'proposed  Ops (by Spec): it has no socket in this loadout',
    'evidence  ! Fix, turn 2, names a command that was not run: npm test',
    '          ! Fix, turn 2, ran a command it does not name: npm run build',
  ]);
  const view = json<CastView>(await baton(dir, ['show', '--json']));
  expect(view.report).toMatchObject({ agents: ['Spec', 'Fix'], ownership: [{ agent: 'Spec', text: 'owned_here' }] });
  expect(view.differences).toHaveLength(1);
});

test('a proposal that the boundaries of the registry refuse is told with the refusal', async () => {
  const dir = project();
  const proposes = says('COMPLETE', shared({ next_best_agent: 'domain-09-technical' }));
  const config = flow(
    { Spec: { tools: 'none', identity: 'domain-01-content', promptFile: '.baton/prompts/content.md' } },
    { 'Socket-1': { materia: 'Spec', ...gaia, edges: [always('end')] } },
  );
  cpSync(join(CHECKOUT, 'src/trust/fixtures/registry'), join(dir, '.baton'), { recursive: true });
  put(dir, { 'cast.json': config, 'agents.json': { Spec: [proposes] } });
  await baton(dir, ['cast', '--file', 'cast.json', '--agents', 'agents.json', 'write it']);
  const { stdout } = await baton(dir, ['show']);
  expect(stdout).toMatch(/^proposed {2}domain-09-technical \(by Spec\): the boundaries refuse it: .+$/m);
});

test('notes that wait for a person are counted until the person has decided', async () => {
  const dir = project();
  const suggests = says('COMPLETE', { more: { memory_suggestions: ['use UTC', 'no tabs'] } });
  const ran = await cast(dir, { Spec: [suggests], Fix: [says('COMPLETE')] });
  expect(ran.stdout).toContain('2 suggestions to remember; decide with: ');
  const [first] = json<TurnDetail>(await baton(dir, ['show', '--turn', '1', '--json'])).memory;
  expect((await baton(dir, ['memory', 'accept', first?.id ?? ''])).code).toBe(0);
  expect(json<CastView>(await baton(dir, ['show', '--json'])).memorySuggestions).toBe(1);
});

test('the skill files are shown, written, kept and taken back', async () => {
  const dir = project({ '.claude/skills/other/SKILL.md': 'mine\n' });
  const [file, reading] = ['handoff', 'reading'].map((name) => `.claude/skills/agent-contract-${name}/SKILL.md`) as [
    string,
    string,
  ];
  const shown = await baton(dir, ['install', 'claude', '--skill']);
  expect([shown.code, existsSync(join(dir, file))]).toEqual([2, false]);
  expect(shown.stdout).toContain(`${file} (new)`);
  const written = json(await baton(dir, ['install', 'claude', '--skill', '--yes', '--json']));
  expect(written).toEqual({ agent: 'claude', undo: false, files: [file, reading], warnings: [], written: true });
  expect(read(dir, file)).toMatch(/^---\nname: agent-contract-handoff\n/);
  expect(existsSync(join(dir, '.claude/settings.json'))).toBe(false);
  expect(json(await baton(dir, ['install', 'claude', '--skill', '--yes', '--json'])).files).toEqual([]);
  expect((await baton(dir, ['install', 'claude', '--skill', '--undo', '--yes'])).code).toBe(0);
  for (const each of [file, reading]) expect(existsSync(join(dir, each))).toBe(false);
  expect(read(dir, '.claude/skills/other/SKILL.md')).toBe('mine\n');
  expect((await baton(dir, ['install', 'codex', '--skill'])).stderr).toContain('--skill is for claude');
});
