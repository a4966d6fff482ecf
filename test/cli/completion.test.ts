// Completion, as a shell asks for it, and the scripts in real shells: bash always, zsh and fish where they are installed.
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { BUNDLED_LOADOUTS } from '../../src/app/operations/project.ts';
import { baton, json, project, put } from './baton.ts';
import { PARKING, PARKING_AGENTS } from './parking.ts';
import { repository } from './repository.ts';

/** The values that are offered. The last word is the one at the cursor; the shell picks those that begin like it. */
async function offered(dir: string, words: readonly string[]): Promise<readonly string[]> {
  const { code, stdout, stderr } = await baton(dir, ['completion', 'words', '--', ...words]);
  expect([code, stderr]).toEqual([0, '']);
  const typed = words.at(-1) ?? '';
  const values = stdout.split('\n').flatMap((line) => line.split('\t')[0] || []);
  return values.filter((value) => value.startsWith(typed));
}

const TEAM = { '.baton/loadouts/team.yaml': 'steps: [fix]\n', '.baton/prompts/fix.md': 'Fix it.' };

test.each<[readonly string[], readonly string[]]>([
  [['abo'], ['abort']],
  [['-C', '/tmp', 'abo'], ['abort']],
  [['help', 'abo'], ['abort']],
  [['--he'], ['--help']],
  [['task', 'cl'], ['claim']],
  [['task', 'claim', '--o'], ['--owner']],
  [['task', 'claim', '--owner', 'ann', '--o'], []],
  [['task', 'move', 'T-1', 'in'], ['in_progress']],
  [['task', 'list', '--status', 'ca'], ['canceled']],
  [['cast', '--age'], ['--agents']],
  [['cast', '--dry'], ['--dry-run']],
  [
    ['cast', '-l', ''],
    ['team', ...BUNDLED_LOADOUTS],
  ],
  [['cast', '--loadout=t'], ['--loadout=team']],
  [['cast', '--runner', 'cl'], ['claude']],
  [['cast', '--', '--runn'], []],
  [['link', '--runner', 'cl'], ['claude']],
  [['link', 'te'], ['team']],
  [['link', 'team', 'fi'], ['fix']],
  [['cast', '--materia', 'fi'], ['fix']],
  [['compile', 't'], ['team']],
  [['init', '--template', 'b'], ['bugfix']],
  [['init', '--agent', 'co'], ['codex']],
  [['casts', '--status', 'wa'], ['waiting']],
  [['explain', 'LOCK_C'], ['LOCK_CONFLICT']],
  [
    ['graph', '--format', ''],
    ['text', 'mermaid', 'svg'],
  ],
  [
    ['decide', '1', ''],
    ['rerun', 'accept', 'fail'],
  ],
  [
    ['completion', ''],
    ['bash', 'zsh', 'fish'],
  ],
  [['gate', 'pre-d'], ['pre-dispatch']],
  [['show', ''], []],
  [['nothing', ''], []],
])('after %j it offers %j', async (words, values) => {
  expect(await offered(project(TEAM), words)).toEqual(values);
});

test('it offers what the workspace holds: casts, parked items, tasks', async () => {
  const dir = repository({ '.baton/config.json': PARKING, 'agents.json': PARKING_AGENTS });
  const { cast } = json(await baton(dir, ['cast', '--agents', 'agents.json', '--json', 'Do: it']));
  expect(await offered(dir, ['show', ''])).toEqual(['latest', cast]);
  expect(await offered(dir, ['retry', ''])).toEqual([`${cast}:WI-1`]);
  expect(await offered(dir, ['-C', '/', 'show', ''])).toEqual([]);
  expect((await offered(dir, ['task', 'move', ''])).length).toBeGreaterThan(0);
  expect((await baton(dir, ['quest', 'add', 'Do it later', '--title', 'Later'])).code).toBe(0);
  expect(await offered(dir, ['quest', 'run', ''])).toEqual(['Q-1']);
  const { stdout } = await baton(dir, ['completion', 'words', '--', 'show', '']);
  expect(stdout).toContain(`${cast}\twaiting: Do: it\n`);
  // bash breaks words at the colon, so that only what follows it is put in.
  expect(await completes('bash', dir, `baton retry ${cast}:W`)).toEqual(['WI-1']);
});

/** How a test reads what the script of each shell offers for a line. */
const ASK = {
  bash: `COMP_LINE=$LINE; COMP_POINT=\${#LINE}; _baton; printf '%s\\n' "\${COMPREPLY[@]}"`,
  zsh: `_describe() { print -l -- "\${found[@]}" }; _files() { print files }
words=(\${(z)LINE}); [[ $LINE = *' ' ]] && words+=(''); CURRENT=$#words; PREFIX=$words[-1]; _baton`,
  fish: 'complete -C $LINE',
} as const;
type Shell = keyof typeof ASK;
const START = { bash: ['--norc'], zsh: ['-f'], fish: ['--no-config'] };

async function completes(shell: Shell, dir: string, line: string): Promise<readonly string[]> {
  const { stdout: script } = await baton(dir, ['completion', shell]);
  const before = shell === 'zsh' ? 'compdef() { : }\n' : '';
  const ran = spawnSync(shell, [...START[shell], '-c', `${before}${script}\n${ASK[shell]}`], {
    cwd: dir,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: dir, LINE: line },
  });
  expect(ran.stderr).toBe('');
  return ran.stdout.split('\n').filter(Boolean);
}

const isThere = (shell: string) => spawnSync(shell, ['--version']).error === undefined;
const SHELLS = (Object.keys(ASK) as Shell[]).filter(isThere);

test.each(SHELLS)('%s asks baton and offers what it answers', async (shell) => {
  const dir = project(TEAM);
  put(dir, { 'some.json': '{}' });
  const values = async (line: string) =>
    (await completes(shell, dir, line)).map((each) => each.split(/\t|(?<!\\):/)[0] ?? '');
  expect(await values('baton explain LOCK_C')).toContain('LOCK_CONFLICT');
  expect((await values('baton cast -l ')).toSorted()).toEqual([...BUNDLED_LOADOUTS, 'team'].toSorted());
  expect(await values(`baton -C '${dir}' compile `)).toContain('team');
  // Where nothing is known, the shell offers files.
  expect(await values('baton check some')).toEqual({ bash: [], zsh: ['files'], fish: ['some.json'] }[shell]);
});

test.each([['tcsh'], ['bash', 'zsh']])('%s is wrong usage', async (...shells) => {
  const ran = await baton(project(), ['completion', ...shells, '--json']);
  expect([ran.code, json(ran).code]).toEqual([2, 'BAD_USAGE']);
});
