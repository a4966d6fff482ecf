// The completion script, in a real bash.
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { baton, json, project } from './baton.ts';

async function completes(words: readonly string[]): Promise<readonly string[]> {
  const { stdout: script } = await baton(project(), ['completion', 'bash']);
  const program = `${script}
COMP_WORDS=(baton "$@"); COMP_CWORD=$#; _baton; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const ran = spawnSync('bash', ['--norc', '-c', program, 'bash', ...words], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH },
  });
  expect(ran.stderr).toBe('');
  return ran.stdout.split('\n').filter(Boolean);
}

test.each<[readonly string[], readonly string[]]>([
  [['abo'], ['abort']],
  [['-C', '/tmp', 'abo'], ['abort']],
  [['task', 'cl'], ['claim']],
  [['cast', '--age'], ['--agents']],
])('after %j it offers %j', async (words, offered) => {
  expect(await completes(words)).toEqual(offered);
});

test.each(['zsh', 'fish'])('the script for %s names every command', async (shell) => {
  const { stdout, code } = await baton(project(), ['completion', shell]);
  expect([code, ['cast', 'approve', 'graph'].filter((name) => !stdout.includes(name))]).toEqual([0, []]);
});

test('an unknown shell is wrong usage', async () => {
  const ran = await baton(project(), ['completion', 'tcsh', '--json']);
  expect([ran.code, json(ran).code]).toEqual([2, 'BAD_USAGE']);
});
