// How it looks: plain lines where nobody watches, a moving line in a terminal, colours unless they are unwanted, and
// nothing in a text that could act on the terminal.
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { agent, always, BATON, baton, cast, flow, json, project } from './baton.ts';

const ESC = '\u001b';
const MOVE = `${ESC}[J`;
const pair = flow(
  { A: agent },
  {
    'Socket-1': { materia: 'A', parse: 'text', edges: [always('Socket-2')] },
    'Socket-2': { materia: 'A', parse: 'text' },
  },
);
const files = {
  'c.json': pair,
  'a.json': { A: [{ $turn: { output: '1', delayMs: 700, usage: { input: 10, output: 2 } } }, '2'] },
};
const casting = 'cast --file c.json --agents a.json x';
/** `script` of util-linux runs a command in a terminal of its own. */
const hasScript = spawnSync('script', ['--version']).status === 0;

function inTerminal(dir: string, args: string, env: NodeJS.ProcessEnv = {}, input = '') {
  const how = { program: ['script'], env: { TERM: 'xterm', ...env }, input };
  return baton(dir, ['-qec', `'${BATON}' ${args}`, '/dev/null'], how);
}

test('where standard error is no terminal there are plain lines', async () => {
  const { stdout, stderr } = await baton(project(files), casting.split(' '));
  expect(`${stdout}${stderr}`).not.toContain(ESC);
  expect(stderr).not.toContain('\r');
  expect(stderr.trim().split('\n')).toHaveLength(5);
  expect(stderr).toMatch(/^ {2}✓ A \(Socket-1\) · \S+ s · 12 tokens$/m);
  expect(stderr).toMatch(/^ {2}✓ A \(Socket-2\) · \S+ s$/m);
});

test.skipIf(!hasScript)(
  'in a terminal the lines of steps move and end in place, in colours (needs script of util-linux)',
  async () => {
    const { code, stdout } = await inTerminal(project(files), casting);
    expect(code).toBe(0);
    expect(stdout.split(MOVE).length).toBeGreaterThan(3);
    expect(stdout).toMatch(/▸.* A \(Socket-1\)/);
    expect(stdout).toContain(`${ESC}[32m✓${ESC}[0m A (Socket-1)`);
  },
);

test.skipIf(!hasScript)(
  'NO_COLOR keeps the moving line and drops the colours (needs script of util-linux)',
  async () => {
    const { stdout } = await inTerminal(project(files), casting, { NO_COLOR: '1' });
    expect(stdout).toContain(MOVE);
    expect(stdout).not.toContain(`${ESC}[3`);
    expect(stdout).toContain('✓ A (Socket-1)');
  },
);

test.skipIf(!hasScript)('a dumb terminal gets no escape sequence at all (needs script of util-linux)', async () => {
  const { code, stdout } = await inTerminal(project(files), casting, { TERM: 'dumb' });
  expect(code).toBe(0);
  expect(stdout).toContain('✓ A (Socket-1)');
  expect(stdout).not.toContain(ESC);
});

test.skipIf(!hasScript)('with --json nothing moves, even in a terminal (needs script of util-linux)', async () => {
  const { stdout } = await inTerminal(project(files), `${casting} --json`);
  expect(stdout).not.toContain(MOVE);
});

test.skipIf(!hasScript).each([
  ['y', 'completed'],
  ['n', 'failed'],
])('at a spent edge continue asks first; %s: the cast %s (needs script of util-linux)', async (answer, status) => {
  const rounds = flow(
    { A: agent },
    {
      'Socket-1': { materia: 'A', parse: 'json', edges: [{ when: 'not_satisfied', to: 'Socket-1', maxTraversals: 1 }] },
    },
  );
  const no = { satisfied: false, context: 'no' };
  const dir = project();
  expect((await cast(dir, rounds, { A: [no, no, { satisfied: answer === 'y' }] })).code).toBe('EDGE_BUDGET_EXHAUSTED');
  const { stdout } = await inTerminal(dir, 'continue', {}, `${answer}\n`);
  expect(stdout).toContain('Give it as much again? [y/N]');
  expect(json(await baton(dir, ['show', '--json'])).status).toBe(status);
});

test.skipIf(!hasScript)(
  'in a conversation a misspelt command is not said to the agent (needs script of util-linux)',
  async () => {
    const dir = project({
      '.baton/config.json': flow(
        { Plan: { ...agent, generator: true, multiTurn: true } },
        { 'Socket-1': { materia: 'Plan' } },
      ),
      'agents.json': { Plan: ['Which colour?'] },
    });
    expect((await baton(dir, ['cast', '--agents', 'agents.json', 'plan it'])).code).toBe(4);
    const { stdout } = await inTerminal(dir, 'talk latest', {}, '/help\n/quit\n');
    expect(stdout).toContain('There is no /help here: /continue ends');
    expect(json<{ lines: unknown[] }>(await baton(dir, ['talk', 'latest', '--json'])).lines).toHaveLength(1);
  },
);

test('text of agents and of people cannot act on the terminal', async () => {
  const evil = `${ESC}[2Jcleared\u0007\u009b31m\u202eesrever`;
  const dir = project();
  const config = flow({ A: { ...agent, label: evil } }, { 'Socket-1': { materia: 'A', parse: 'json' } });
  await cast(dir, config, { A: [`{"${evil}": `, `{"${evil}": 1`] }, '--', evil);
  const shown = await Promise.all(
    [['show'], ['casts'], ['status'], ['log'], ['watch']].map((args) => baton(dir, args)),
  );
  const told = await baton(dir, ['recast']);
  const all = [...shown, told].map(({ stdout, stderr }) => stdout + stderr).join('');
  expect(all).toContain('cleared');
  expect([ESC, '\u0007', '\u009b', '\u202e'].filter((char) => all.includes(char))).toEqual([]);
});
