// The environment of an agent is the list in docs/agents.md: what an agent finds stands there, and nothing else is inherited.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { AgentCall } from '../../src/agents/agent-call.ts';
import { claude } from '../../src/agents/claude.ts';
import { codex } from '../../src/agents/codex.ts';
import { USUAL } from '../../src/agents/environment.ts';
import { pi } from '../../src/agents/pi.ts';
import type { CastView } from '../../src/app/views/shown-cast.ts';
import { baton, CHECKOUT, flow, json, project } from '../cli/baton.ts';

const ROWS = readFileSync(join(CHECKOUT, 'docs/agents.md'), 'utf8')
  .split(/^An agent's environment is a list/m)[1]
  ?.split('\n## ')[0]
  ?.split('\n')
  .filter((line) => line.startsWith('| '));

/** The variables that the row of this name lists. */
function listed(name: string): readonly string[] {
  const row = ROWS?.find((line) => line.startsWith(`| ${name}`)) ?? '';
  return [...row.matchAll(/`([A-Za-z_]+)`/g)]
    .map(([, variable = '']) => variable)
    .filter((word) => /^[A-Z]|_/.test(word));
}

test('an agent finds the variables that are listed, and no others', async () => {
  const dir = project({
    'cast.json': flow(
      { A: { prompt: 'Go.', tools: 'coding', runner: 'command', command: ['env'], env: ['MINE'], parse: 'text' } },
      { 'Socket-1': { materia: 'A' } },
    ),
  });
  const set = Object.fromEntries(
    USUAL.filter((name) => !['PATH', 'HOME', 'TMPDIR'].includes(name)).map((name) => [name, '']),
  );
  const env = { ...set, MINE: 'x', SOMEBODY_ELSES_KEY: 'x', BATON_CONFIG: join(dir, 'user'), TMPDIR: dir };
  const ran = await baton(dir, ['cast', '--in-place', '--file', 'cast.json', '--json', '--turns', 'go'], { env });
  const [turn] = json<CastView>(ran).turns ?? [];
  const found = [...(turn?.output ?? '').matchAll(/^([A-Za-z_]+)=/gm)].map(([, name]) => name);
  const documented = ['of the machine', 'proxies', 'which attempt', 'where it works'].flatMap(listed);
  expect(found.sort()).toEqual([...documented, 'MINE'].sort());
});

test.each([claude, codex, pi])('what $name is given besides is listed', (program) => {
  const call = { prompt: 'x', tools: 'none', model: null, thinking: 'off', system: null, session: null } as AgentCall;
  const guard = { program: 'baton', args: [], group: null };
  const made = program.invoke(call, { baseUrl: 'http://h', mcp: { baton: { command: 'x', tools: ['y'] } }, guard });
  expect([...new Set([...program.variables, ...Object.keys(made.env)])].sort()).toEqual(
    [...listed(program.name)].sort(),
  );
});
