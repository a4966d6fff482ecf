// Loadouts of the short form through the command line: they are checked in the user's words, compiled, drawn and cast.
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { CastView } from '../../src/app/views/shown-cast.ts';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import { baton, CHECKOUT, json, project, put, read } from './baton.ts';

const BUGFIX = `defaults: { runner: claude }
steps:
  - collect: { makes: items, tools: read }
  - each: collect
    do:
      - triage: { tools: read, reject: skip }
      - fix: { tools: write }
      - review: { tools: run, reject: { to: fix, max: 3 } }
  - summary: { tools: read }
`;
const STEPS = ['collect', 'triage', 'fix', 'review', 'summary'];
const ITEMS = ['A', 'B', 'C'].map((title) => ({ title, context: title }));
const AGENTS: JsonObject = {
  collect: [{ workItems: ITEMS }],
  triage: [{ satisfied: true }, { satisfied: false }, { satisfied: false }],
  fix: ['done', 'done again'],
  review: [{ satisfied: false, context: 'not yet' }, { satisfied: true }],
  summary: ['the end'],
};

function team(files: Readonly<Record<string, Json>> = {}): string {
  const prompts = Object.fromEntries(STEPS.map((step) => [`.baton/prompts/${step}.md`, `You are ${step}.`]));
  return project({ ...prompts, '.baton/loadouts/bugfix.yaml': BUGFIX, 'agents.json': AGENTS, ...files });
}

test('the only loadout is cast without being named, and goes the documented way', async () => {
  const dir = team();
  const ran = await baton(dir, ['cast', '--agents', 'agents.json', '--in-place', '--json', 'fix it']);
  expect(ran.stderr).toMatch(/– triage · 2\/3 B · skipped/);
  const view = json<CastView>(ran);
  expect([view.status, view.loadout]).toEqual(['completed', 'bugfix']);
  expect(view.path.map(({ socket }) => Number(socket.slice('Socket-'.length)))).toEqual([1, 2, 3, 4, 3, 4, 2, 2, 5]);
  expect(view.items).toMatchObject({ done: 1, skipped: 2 });
  const drawn = (await baton(dir, ['graph', 'latest'])).stdout;
  expect(drawn).toContain('┌ for each item of collect');
  expect(drawn).toContain('not satisfied → fix (at most 3) ×1');
  expect(drawn).toContain('otherwise, next item → triage ×1');
  expect(drawn).toContain('└ when all are done → summary ×1');
  for (const command of [['log'], ['log', '--after', '20'], ['show'], ['why'], ['task', 'list']]) {
    const { stdout } = await baton(dir, command);
    expect([command, stdout]).toEqual([command, expect.not.stringMatching(/Socket-\d/)]);
  }
});

test.each<[string, string, string]>([
  ['an unknown option', 'steps: [{ fix: { tols: write } }]', 'team.yaml:1:18: '],
  [
    'a step that is not there',
    'steps:\n  - fix: { next: revew }\n  - review',
    'team.yaml:2:12: There is no step revew',
  ],
  ['a tab instead of spaces', 'steps:\n\t- fix', 'team.yaml:2:1: '],
  [
    'a prompt that is missing',
    'steps: [nowhere]',
    'team.yaml:1:9: there is no file .baton/prompts/nowhere.md; create it',
  ],
])('%s: `check` names the line, `cast` refuses with the same words', async (_, text, words) => {
  const dir = team({ '.baton/loadouts/team.yaml': text });
  const checked = json(await baton(dir, ['check', '--json']));
  const issues = (checked.details as { issues: { path: string; message: string }[] }).issues;
  expect(issues).toHaveLength(1);
  expect(issues[0]?.message).toContain(words);
  const cast = json(await baton(dir, ['cast', '-l', 'team', '--agents', 'agents.json', '--json', 'do it']));
  expect(cast).toMatchObject({ cast: null, status: 'failed', code: checked.code });
  expect(JSON.stringify(cast.issues)).toContain(JSON.stringify(words).slice(1, -1));
  const { stderr } = await baton(dir, ['cast', '-l', 'team', '--agents', 'agents.json', 'do it']);
  expect(stderr).toContain(`error ${checked.code} ${words}`);
});

test('`check` speaks of steps by their names and of the lines they are written in', async () => {
  const unread = 'steps:\n  - plan: { makes: items }\n  - build: {}\n';
  const dir = team({
    '.baton/loadouts/bugfix.yaml': unread,
    '.baton/prompts/plan.md': 'Plan.',
    '.baton/prompts/build.md': 'Build.',
  });
  const { stdout } = await baton(dir, ['check']);
  expect(stdout).toContain('UNCONSUMED_GENERATOR');
  expect(stdout).toMatch(/^bugfix\.yaml:2:\d+$/m);
  expect(stdout).toContain('plan');
});

test('materia of config.json are used by name; a loadout of the same name in both is an error', async () => {
  const own = { materia: { Shared: { prompt: 'Do it.', tools: 'readOnly' } }, loadouts: {} };
  const dir = team({ '.baton/config.json': own, '.baton/loadouts/two.yaml': 'steps: [{ a: { agent: Shared } }]' });
  expect((await baton(dir, ['check'])).stdout).toContain('ok: no issues');
  const compiled = json(await baton(dir, ['compile', 'two', '--json']));
  expect(compiled).toMatchObject({
    materia: {},
    loadouts: { two: { sockets: { 'Socket-1': { materia: 'Shared' } } } },
  });
  const loadouts = { two: { entry: 'Socket-1', sockets: { 'Socket-1': { materia: 'Shared' } } } };
  put(dir, { '.baton/config.json': { ...own, loadouts } });
  expect((await baton(dir, ['check'])).stdout).toContain('config.json has a loadout two, too');
});

test('which loadout is meant has to be said where there are several', async () => {
  const dir = team({ '.baton/loadouts/other.jsonc': '{ "steps": ["summary"] } // one step' });
  const unsaid = await baton(dir, ['cast', '--agents', 'agents.json', '--json', 'do it']);
  expect(json(unsaid)).toMatchObject({ cast: null, status: 'failed' });
  expect(unsaid.stdout).toContain('bugfix');
  const said = json<CastView>(
    await baton(dir, ['cast', '-l', 'other', '--agents', 'agents.json', '--in-place', '--json', 'do it']),
  );
  expect([said.status, said.path.length]).toEqual(['completed', 1]);
  const wrong = json(await baton(dir, ['cast', '-l', 'othr', '--agents', 'agents.json', '--json', 'do it']));
  expect(wrong.reason).toContain('bugfix, other');
});

test('a loadout in TypeScript is checked in its lines, drawn and cast', async () => {
  const typed = (next: string) => `import { defineLoadout } from 'baton-run';
const steps = ['summary'] as const;
export default defineLoadout({ steps: [{ fix: { tools: 'write'${next} } }, ...steps] });
`;
  const dir = team({ '.baton/loadouts/typed.ts': typed(", next: 'sumary'") });
  expect((await baton(dir, ['check'])).stdout).toContain(
    'typed.ts:3:65  fix\n  error: There is no step sumary. Did you mean summary?',
  );
  put(dir, { '.baton/loadouts/typed.ts': typed('') });
  expect((await baton(dir, ['graph', 'typed'])).stdout).toContain('→ summary');
  const args = ['cast', '-l', 'typed', '--agents', 'agents.json', '--in-place', '--json', 'do it'];
  expect(json<CastView>(await baton(dir, args))).toMatchObject({ status: 'completed', loadout: 'typed' });
});

test('a team is drawn before its prompts are written', async () => {
  const dir = project({ 'x.yaml': 'steps: [plan, { each: plan, parallel: 2, do: [{ build: { talk: true } }] }]' });
  const { code, stdout } = await baton(dir, ['graph', '--file', 'x.yaml']);
  expect([code, stdout]).toEqual([0, expect.stringContaining('┌ for each item of plan, 2 at a time')]);
});

test('a file anywhere is compiled and drawn', async () => {
  const dir = team({ 'teams/x.yaml': 'steps: [{ a: { prompt: Hello. } }, { b: { use: vcs.detect } }]' });
  expect(json(await baton(dir, ['compile', 'teams/x.yaml', '--json']))).toMatchObject({
    materia: { a: { prompt: 'Hello.' }, b: { utility: 'vcs.detect' } },
  });
  const mermaid = await baton(dir, ['graph', '--file', 'teams/x.yaml', '--format', 'mermaid']);
  expect(mermaid.stdout).toContain('Socket_1 --> Socket_2');
  const svg = await baton(dir, ['graph', 'bugfix', '--format', 'svg']);
  expect(svg.stdout).toMatch(/^<svg [\s\S]*review[\s\S]*<\/svg>\n$/);
  expect(json(await baton(dir, ['compile', '.baton/config.json', '--json'])).code).toBe('BAD_USAGE');
});

const CHECKED = 'steps:\n  - build: { tools: write, check: [unit] }\n  - polish: { tools: write }\n';
const ran = (name: string): JsonObject => ({ command: ['sh', '-c', `echo ${name} >> .baton/state/ran`] });
const PROMPTS = { '.baton/prompts/build.md': 'Build.', '.baton/prompts/polish.md': 'Polish.' };

test('a step names the checkers that run after it; the others run after every other step', async () => {
  const checkers = { unit: { ...ran('unit'), when: 'merge' }, lint: ran('lint') };
  const writes = (path: string): Json => ({ $turn: { output: 'done', write: { [path]: 'x' } } });
  const dir = team({
    ...PROMPTS,
    '.baton/config.json': { checkers },
    '.baton/loadouts/bugfix.yaml': CHECKED,
    'agents.json': { build: [writes('one')], polish: [writes('two')] },
  });
  expect((await baton(dir, ['check'])).stdout).toContain('ok: no issues');
  const view = json<CastView>(await baton(dir, ['cast', '--agents', 'agents.json', '--in-place', '--json', 'do it']));
  expect(view).toMatchObject({ status: 'completed' });
  expect(read(dir, '.baton/state/ran')).toBe('unit\nlint\n');
});

test.each<[string, Json, string, string]>([
  [
    'is misspelt',
    { unit: ran('unit') },
    'build: { tools: write, check: [unti] }',
    'There is no checker "unti". Did you mean unit?',
  ],
  ['is declared nowhere', {}, 'build: { tools: write, check: [unit] }', 'Declare it: "checkers"'],
  [
    'checks a step that changes nothing',
    { unit: ran('unit') },
    'build: { tools: read, check: [unit] }',
    'this one may change none',
  ],
])('a checker of a step that %s is told with its line', async (_what, checkers, step, words) => {
  const dir = team({
    ...PROMPTS,
    '.baton/config.json': { checkers },
    '.baton/loadouts/bugfix.yaml': `steps:\n  - ${step}\n`,
  });
  const { stdout } = await baton(dir, ['check']);
  expect(stdout).toContain(words);
  expect(stdout).toContain('bugfix.yaml:2:');
});

describe('several loadouts, and none is active', () => {
  const several = () =>
    project({
      '.baton/loadouts/one.yaml': 'steps: [{ fix: { prompt: Fix it. } }]',
      '.baton/loadouts/two.yaml': 'steps: [{ fix: { prompt: Fix it. } }]',
      'agents.json': { fix: ['done'] },
    });

  test('`check` says what a cast does, `config` says what to name', async () => {
    const dir = several();
    const { code, stderr } = await baton(dir, ['check']);
    expect([code, stderr]).toEqual([0, expect.stringMatching(/a cast asks which, or needs -l NAME: one, two\./)]);
    expect((await baton(dir, ['config'])).stdout).toMatch(/The loadouts: one, two; `\S+ config -l NAME`/);
    expect((await baton(dir, ['config', '-l', 'two'])).stdout).toContain('"two"');
  });

  test('at a terminal the person picks one', async () => {
    const dir = several();
    const typed = `(sleep 1; echo 2; sleep 3) | script -qec "${join(CHECKOUT, 'bin/baton')} cast --agents agents.json x" /dev/null`;
    const { stdout } = await baton(dir, ['-c', typed], { program: ['/bin/sh'] });
    expect(stdout).toMatch(/Which loadout\?[\s\S]*2 {2}two[\s\S]*completed/);
    expect(json<{ loadout: string }>(await baton(dir, ['show', '--json'])).loadout).toBe('two');
  });
});
