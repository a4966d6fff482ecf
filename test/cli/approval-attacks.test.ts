// What was approved is changed a little before it runs, in every way we could think of: each time it is refused with the part
// that differs, through the command line and through the hook. The unchanged command runs, once.
import { hash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callerIdentity } from '../../src/access/who-acts.ts';
import { approvalsIn } from '../../src/approvals/open-approvals.ts';
import { readPolicy } from '../../src/approvals/risk.ts';
import { logIdentity, openSealKey, sealDecision } from '../../src/approvals/seal.ts';
import { sealRequest } from '../../src/approvals/seal-request.ts';
import { presentedAs } from '../../src/approvals/use-approval.ts';
import { dialects } from '../../src/dialects/index.ts';
import { Decider } from '../../src/engine/decider.ts';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import { SqliteLog } from '../../src/log/sqlite/log.ts';
import { logFileIn } from '../../src/log/sqlite/open.ts';
import { shellLine } from '../../src/shell/programs.ts';
import { asBlock, reportOf } from '../reports.ts';
import { asProcesses, BATON, baton, flow, json, project, put as putIn, type Ran, read, untilWritten } from './baton.ts';

const HOUR_MS = 3_600_000;
const dir = realpathSync(mkdtempSync(join(tmpdir(), 'baton-attack-')));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const at = (...names: string[]) => join(dir, ...names);
const ENV = {
  ...{ PATH: `${at('tools')}:${process.env.PATH}`, HOME: dir, LANG: 'C.UTF-8', TERM: 'dumb', TZ: 'UTC' },
  ...{ DEPLOY_ENV: 'blue', BATON_CONFIG: at('user') },
};
/** What brings other code or another target, and was never handed over. */
const STRANGE = {
  ...{ LD_PRELOAD: '', BASH_ENV: at('evil/deploy'), GIT_SSH_COMMAND: 'evil', TF_CLI_ARGS_apply: '-destroy' },
  ...{
    GIT_CONFIG_PARAMETERS: 'x',
    XDG_CONFIG_HOME: at('other'),
    AWS_PROFILE: 'production',
    TAR_OPTIONS: '--to-command=x',
  },
  ...{ EDITOR: 'evil', AWS_ENDPOINT_URL_S3: 'http://evil', ALL_PROXY: 'http://evil', NODE_OPTIONS: '--import=evil' },
  ...{ BATON_USER_NODE_OPTIONS: '--import=evil', 'BASH_FUNC_deploy%%': '() { evil; }' },
};
const CONFIG = { materia: {}, loadouts: {}, approvals: { env: ['DEPLOY_ENV', 'UNSET'], hook: 'deny' } };
/** The accent is one character here and can be two; the file is read. */
const ARGV = ['deploy', '--target', 'prod', '-r', 'caf\u00e9', 'config.json'];
const PUSH = ['git', 'push', 'origin', 'main'];
const LIST = ['deploy one', 'deploy two', 'deploy one'];

const ids: Record<string, string> = {};

beforeAll(async () => {
  for (const folder of ['.baton/state', 'tools/real', 'work/sub', 'other', 'user', 'evil'])
    mkdirSync(at(folder), { recursive: true, mode: 0o700 });
  put('.baton/config.json', JSON.stringify(CONFIG));
  program('tools/real/deploy-1', 'the approved one');
  program('tools/real/deploy-2', 'another one');
  program('evil/deploy', 'an evil one');
  put('tools/show-env', '#!/bin/sh\nexec /usr/bin/env\n');
  chmodSync(at('tools/show-env'), 0o755);
  symlinkSync('real/deploy-1', at('tools/deploy'));
  symlinkSync('work', at('here'));
  symlinkSync('/bin/sh', at('tools/interpreter'));
  put('tools/script', '#!/usr/bin/env interpreter\necho "the script" >> ../ran.log\n');
  chmodSync(at('tools/script'), 0o755);
  put('work/Makefile', 'all:\n\techo all\ninclude rules.mk\n');
  put('work/rules.mk', 'y:\n');
  put('work/package.json', '{"scripts":{"x":"true"}}');
  for (const name of ['hooks', 'objects', 'refs/heads']) mkdirSync(at('work/.git', name), { recursive: true });
  put('work/.git/HEAD', 'ref: refs/heads/main\n');
  put('work/.git/config', '[remote "origin"]\n\turl = ../mirror\n[include]\n\tpath = ../settings.conf\n');
  put('work/settings.conf', '');
  put('work/config.json', '{"replicas": 3}');
  put('other/config.json', '{"replicas": 3}');
  await mintAll();
}, 120_000);

function put(name: string, text: string): void {
  writeFileSync(at(name), text);
}

function program(name: string, what: string): void {
  put(name, `#!/bin/sh\necho "${what} $*" >> ${at('ran.log')}\n`);
  chmodSync(at(name), 0o755);
}

/** Asks and decides in this process, at any time of the past, so that each attack costs one process only. */
async function mintAll(): Promise<void> {
  let now = Date.now() - 10 * 24 * HOUR_MS;
  const log = new SqliteLog(logFileIn(at('.baton/state')));
  const decider = await Decider.open(log, dialects, { now: () => now });
  const [policy, key] = [
    readPolicy({ dir: at('.'), configFile: at('.baton/config.json'), env: ENV }),
    openSealKey(ENV),
  ];
  if ('allow' in policy || 'allow' in key) throw new Error('no policy or no key');
  const requester = callerIdentity(process.env, process.pid, Date.now()).name;
  const scene = {
    requester,
    cwd: at('here'),
    env: ENV,
    handed: [],
    policy,
    key,
    area: null,
    log: logIdentity(at('.baton/state')),
  };
  const ask = async (name: string, request: JsonObject) => {
    const sealed = sealRequest(request, { ...scene, now });
    expect((await decider.submit({ kind: 'approval.request', sealed, from: null }, 'agent')).verdict.code).toBe('OK');
    ids[name] = sealed.id;
  };
  const decide = async (name: string, choice: 'approve' | 'reject') => {
    const approval = (await approvalsIn(log))[id(name)];
    const sealing = approval && sealDecision(approval, { choice }, { by: 'user:ann', now, key });
    if (!sealing || 'allow' in sealing) throw new Error('no seal');
    const input = { kind: 'approval.decide', id: id(name), choice, reason: '', isAgent: false, ...sealing } as const;
    expect((await decider.submit(input, 'user:ann')).verdict.code).toBe('OK');
  };
  const line = (more: string) => ({ exact_content: `${shellLine(ARGV)} ${more}` });
  await ask('expired', line('expired'));
  await ask('granted long ago', line('granted'));
  await decide('granted long ago', 'approve');
  now = Date.now() - 60_000;
  await ask('base', { exact_content: shellLine(ARGV) });
  await ask('environment', { exact_content: 'show-env' });
  await ask('script', { exact_content: 'script' });
  await ask('make', { exact_content: 'make all' });
  await ask('npm', { exact_content: 'npm run x' });
  await ask('git', { exact_content: 'git push origin main' });
  await ask('pending', line('pending'));
  await ask('rejected', line('rejected'));
  await ask('crashed', line('crashed'));
  await ask('list', { command_set: LIST.map((command) => ({ command })) });
  await ask('shell', { exact_content: `${shellLine(ARGV)} | cat > out.txt` });
  await ask('look-alike of the program', { exact_content: 'deploy only' });
  for (const name of [
    'base',
    'environment',
    'script',
    'make',
    'npm',
    'git',
    'crashed',
    'list',
    'shell',
    'look-alike of the program',
  ])
    await decide(name, 'approve');
  await decide('rejected', 'reject');
  const crashed = (await approvalsIn(log))[id('crashed')];
  if (!crashed) throw new Error('not there');
  const executor = { host: hostname(), pid: 4_000_000, startTime: 'long ago' };
  const presented = presentedAs(crashed, [...ARGV, 'crashed'], scene);
  const began = await decider.submit({ kind: 'approval.use', id: crashed.id, requester, presented, executor }, 'agent');
  expect(began.verdict.code).toBe('OK');
  await decider.close();
}

function id(name: string): string {
  return ids[name] ?? name;
}

const swapped = (index: number, word: string) => ARGV.map((one, at) => (at === index ? word : one));
const ran = () => (existsSync(at('ran.log')) ? readFileSync(at('ran.log'), 'utf8').trim().split('\n') : []);

type Attack = {
  readonly approval?: string;
  readonly argv?: readonly string[];
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Done before, and taken back after. */
  readonly change?: () => () => void;
};

function changed(name: string, text: string): () => () => void {
  return () => {
    const before = readFileSync(at(name));
    writeFileSync(at(name), text);
    return () => writeFileSync(at(name), before);
  };
}

function added(name: string, text: string): () => () => void {
  return () => {
    writeFileSync(at(name), text);
    return () => unlinkSync(at(name));
  };
}

/** Moves a file away, puts something in its place, and puts it back. */
function replaced(name: string, by: (path: string) => void): () => () => void {
  return () => {
    renameSync(at(name), at('aside'));
    by(at(name));
    return () => {
      rmSync(at(name), { recursive: true, force: true });
      renameSync(at('aside'), at(name));
    };
  };
}

/** The log before anything was used, in another place: a home for state has one folder for each workspace. */
function copied(): () => void {
  const name = `${basename(dir)}-${hash('sha256', dir, 'hex').slice(0, 8)}`;
  cpSync(at('.baton/state'), at('copy', name), { recursive: true });
  return () => rmSync(at('copy'), { recursive: true });
}

const MISMATCH = 'APPROVAL_MISMATCH';

/** The attack, the code, and the part of the difference. */
const ATTACKS: readonly (readonly [string, Attack, string, string?])[] = [
  [
    'the arguments in another order',
    { argv: ['deploy', '-r', 'caf\u00e9', '--target', 'prod', 'config.json'] },
    MISMATCH,
    'argument 1',
  ],
  ['two arguments swapped', { argv: swapped(2, '-r').with(3, 'prod') }, MISMATCH, 'argument 2'],
  ['a flag added at the end', { argv: [...ARGV, '--force'] }, MISMATCH, 'argument 6'],
  ['a flag added at the front', { argv: ARGV.toSpliced(1, 0, '--force') }, MISMATCH, 'argument 1'],
  ['an argument left out', { argv: ARGV.toSpliced(5, 1) }, MISMATCH, 'argument 5'],
  ['everything left out', { argv: ['deploy'] }, MISMATCH, 'argument 1'],
  ['a flag in another case', { argv: swapped(3, '-R') }, MISMATCH, 'argument 3'],
  ['a value in another case', { argv: swapped(2, 'Prod') }, MISMATCH, 'argument 2'],
  ['a flag and its value in one word', { argv: ['deploy', '--target=prod', ...ARGV.slice(3)] }, MISMATCH, 'argument 1'],
  ['two arguments as one', { argv: ['deploy', '--target', 'prod -r', ...ARGV.slice(4)] }, MISMATCH, 'argument 2'],
  ['an argument in quotes', { argv: swapped(2, '"prod"') }, MISMATCH, 'argument 2'],
  ['a space behind', { argv: swapped(2, 'prod ') }, MISMATCH, 'argument 2'],
  ['an empty argument', { argv: [...ARGV, ''] }, MISMATCH, 'argument 6'],
  ['a redirection', { argv: [...ARGV, '>', 'out'] }, MISMATCH, 'argument 6'],
  ['errors sent elsewhere', { argv: [...ARGV, '2>&1'] }, MISMATCH, 'argument 6'],
  ['a pipe', { argv: [...ARGV, '|', 'sh'] }, MISMATCH, 'argument 6'],
  ['a semicolon', { argv: [...ARGV, ';', 'rm', 'x'] }, MISMATCH, 'argument 6'],
  ['a second command', { argv: [...ARGV, '&&', 'rm', 'x'] }, MISMATCH, 'argument 6'],
  ['in the background', { argv: [...ARGV, '&'] }, MISMATCH, 'argument 6'],
  ['a substitution', { argv: swapped(2, '$(id)') }, MISMATCH, 'argument 2'],
  ['a shell around it', { argv: ['bash', '-c', shellLine(ARGV)] }, MISMATCH, 'argument 0'],
  ['a login shell around it', { argv: ['sh', '-lc', shellLine(ARGV)] }, MISMATCH, 'argument 0'],
  ['env around it', { argv: ['env', 'X=1', ...ARGV] }, MISMATCH, 'argument 0'],
  ['sudo before it', { argv: ['sudo', ...ARGV] }, MISMATCH, 'argument 0'],
  ['the program by its whole path', { argv: swapped(0, at('tools/deploy')) }, MISMATCH, 'argument 0'],
  ['the program by a relative path', { argv: swapped(0, '../tools/deploy') }, MISMATCH, 'argument 0'],
  ['another program', { argv: swapped(0, 'rm') }, MISMATCH, 'argument 0'],
  ['a line break in an argument', { argv: swapped(2, 'prod\n') }, MISMATCH, 'argument 2'],
  ['a tab in an argument', { argv: swapped(2, 'pr\tod') }, MISMATCH, 'argument 2'],
  ['the same accent in two characters', { argv: swapped(4, 'cafe\u0301') }, MISMATCH, 'argument 4'],
  ['a Cyrillic letter', { argv: swapped(2, 'pr\u043ed') }, MISMATCH, 'argument 2'],
  ['a letter of full width', { argv: swapped(2, '\uff50rod') }, MISMATCH, 'argument 2'],
  ['a character without width', { argv: swapped(2, 'pro\u200bd') }, MISMATCH, 'argument 2'],
  ['text that runs backwards', { argv: swapped(2, '\u202eprod') }, MISMATCH, 'argument 2'],
  ['another dash', { argv: swapped(1, '\u2010\u2010target') }, MISMATCH, 'argument 1'],
  ['a space that does not break', { argv: swapped(2, 'prod\u00a0') }, MISMATCH, 'argument 2'],
  ['a look-alike of the file', { argv: swapped(5, 'c\u043enfig.json') }, MISMATCH, 'argument 5'],
  ['a detour to the same file', { argv: swapped(5, './config.json') }, MISMATCH, 'argument 5'],
  ['another folder', { cwd: at('other') }, MISMATCH, 'folder'],
  ['a folder below', { cwd: at('work/sub') }, MISMATCH, 'folder'],
  ['a folder above', { cwd: dir }, MISMATCH, 'folder'],
  [
    'a link to the folder that leads elsewhere now',
    { change: replaced('here', (path) => symlinkSync('other', path)) },
    MISMATCH,
    'folder',
  ],
  ['an edited file', { change: changed('work/config.json', '{"replicas": 30}') }, MISMATCH, 'file'],
  ['a file with one more line break', { change: changed('work/config.json', '{"replicas": 3}\n') }, MISMATCH, 'file'],
  ['a deleted file', { change: replaced('work/config.json', () => undefined) }, MISMATCH, 'file'],
  [
    'a folder in place of the file',
    { change: replaced('work/config.json', (path) => mkdirSync(path)) },
    MISMATCH,
    'file',
  ],
  [
    'a link to the same content elsewhere',
    { change: replaced('work/config.json', (path) => symlinkSync('../other/config.json', path)) },
    MISMATCH,
    'place',
  ],
  [
    'another interpreter for its first line',
    {
      change: replaced('tools/interpreter', (path) => symlinkSync('/bin/cat', path)),
      approval: 'script',
      argv: ['script'],
    },
    MISMATCH,
    'program interpreter',
  ],
  [
    'another makefile',
    { change: changed('work/Makefile', 'all:\n\tevil\n'), approval: 'make', argv: ['make', 'all'] },
    MISMATCH,
    'file',
  ],
  [
    'another included makefile',
    { change: changed('work/rules.mk', 'x:\n'), approval: 'make', argv: ['make', 'all'] },
    MISMATCH,
    'file',
  ],
  [
    'a makefile that is read first',
    { change: added('work/GNUmakefile', 'all:\n'), approval: 'make', argv: ['make', 'all'] },
    MISMATCH,
    'file',
  ],
  [
    'another package.json',
    { change: changed('work/package.json', '{"scripts":{"x":"evil"}}'), approval: 'npm', argv: ['npm', 'run', 'x'] },
    MISMATCH,
    'file',
  ],
  [
    'settings of npm that name a shell',
    { change: added('work/.npmrc', 'script-shell=evil\n'), approval: 'npm', argv: ['npm', 'run', 'x'] },
    MISMATCH,
    'file',
  ],
  [
    'another place to push to',
    {
      change: changed('work/.git/config', '[remote "origin"]\n\turl = ../evil\n[include]\n\tpath = ../settings.conf\n'),
      ...{ approval: 'git', argv: PUSH },
    },
    MISMATCH,
    'file',
  ],
  [
    'a setting of git in a file that is included',
    { change: changed('work/settings.conf', '[core]\n\tsshCommand = evil\n'), approval: 'git', argv: PUSH },
    MISMATCH,
    'file',
  ],
  [
    'a hook that git would run',
    { change: added('work/.git/hooks/pre-push', '#!/bin/sh\nevil\n'), approval: 'git', argv: PUSH },
    MISMATCH,
    'file',
  ],
  [
    'a program that was edited',
    { change: changed('tools/real/deploy-1', '#!/bin/sh\necho x\n') },
    MISMATCH,
    'program deploy',
  ],
  [
    'a program whose link leads elsewhere',
    { change: replaced('tools/deploy', (path) => symlinkSync('real/deploy-2', path)) },
    MISMATCH,
    'program deploy',
  ],
  ['a program that is gone', { change: replaced('tools/deploy', () => undefined) }, MISMATCH, 'program deploy'],
  ['another program first on the path', { env: { PATH: `${at('evil')}:${ENV.PATH}` } }, MISMATCH, 'program deploy'],
  ['a path without the program', { env: { PATH: process.env.PATH } }, MISMATCH, 'program deploy'],
  ['another home', { env: { HOME: at('other') } }, 'ENVIRONMENT_CHANGED', 'environment HOME'],
  ['a copy of the log', { env: { BATON_HOME: at('copy') }, change: copied }, MISMATCH, 'log'],
  [
    'a variable that is handed over, with another value',
    { env: { DEPLOY_ENV: 'green' } },
    'ENVIRONMENT_CHANGED',
    'environment DEPLOY_ENV',
  ],
  [
    'a variable that is handed over and not set any more',
    { env: { DEPLOY_ENV: undefined } },
    'ENVIRONMENT_CHANGED',
    'environment DEPLOY_ENV',
  ],
  [
    'a variable that is handed over and was not set',
    { env: { UNSET: 'x' } },
    'ENVIRONMENT_CHANGED',
    'environment UNSET',
  ],
  [
    'another variable and another argument',
    { env: { DEPLOY_ENV: 'green' }, argv: swapped(2, 'test') },
    MISMATCH,
    'argument 2',
  ],
  ['another requester', { env: { BATON_OWNER: 'mallory' } }, MISMATCH, 'requester'],
  ['an agent of a cast', { env: { BATON_CAST: 'c1', BATON_ATTEMPT: '1.1' } }, MISMATCH, 'requester'],
  [
    'another policy',
    {
      change: changed(
        '.baton/config.json',
        JSON.stringify({ ...CONFIG, approvals: { ...CONFIG.approvals, tiers: { deploy: 'T0' } } }),
      ),
    },
    MISMATCH,
    'policy',
  ],
  ['another key', { env: { BATON_CONFIG: at('other-user') } }, MISMATCH, 'seal key'],
  ['the approval of another command', { approval: 'look-alike of the program' }, MISMATCH, 'argument 1'],
  ['a command that is not on the list', { approval: 'list', argv: ['deploy', 'three'] }, MISMATCH, 'argument 1'],
  ['the line of a shell without the shell', { approval: 'shell' }, MISMATCH, 'argument 0'],
  [
    'one more step in the line of a shell',
    { approval: 'shell', argv: ['bash', '-c', `${shellLine(ARGV)} | cat > out.txt; id`] },
    MISMATCH,
    'argument 2',
  ],
  ['what nobody has decided', { approval: 'pending', argv: [...ARGV, 'pending'] }, 'APPROVAL_PENDING'],
  ['what was rejected', { approval: 'rejected', argv: [...ARGV, 'rejected'] }, 'APPROVAL_REJECTED'],
  ['what nobody decided in time', { approval: 'expired', argv: [...ARGV, 'expired'] }, 'APPROVAL_EXPIRED'],
  ['what was granted too long ago', { approval: 'granted long ago', argv: [...ARGV, 'granted'] }, 'APPROVAL_EXPIRED'],
  ['what was cut off by a crash', { approval: 'crashed', argv: [...ARGV, 'crashed'] }, 'OUTCOME_UNKNOWN'],
  ['an id that nobody knows', { approval: `P-${'0'.repeat(32)}` }, 'UNKNOWN_APPROVAL'],
  ['an id of another shape', { approval: '../../P-1' }, 'UNKNOWN_APPROVAL'],
];

const ROWS = ATTACKS.map(([name, attack, code, difference]) => ({ name, attack, code, difference }));

test.each(ROWS)('$name is refused', async ({ attack, code, difference }) => {
  const undo = attack.change?.() ?? (() => undefined);
  const before = ran();
  try {
    const { cwd = at('here'), argv = ARGV } = attack;
    const args = ['exec', '--json', '--approval', id(attack.approval ?? 'base'), '--', ...argv];
    const done = await baton(cwd, args, { env: { ...ENV, ...attack.env } });
    expect(refusal(done)).toEqual([1, code]);
    if (difference !== undefined) expect(differencesIn(done)).toContain(difference);
    expect(ran()).toEqual(before);
  } finally {
    undo();
  }
});

test('a command starts from an empty environment, with what was handed over and nothing else', async () => {
  const env = { ...ENV, ...STRANGE, LANG: 'de_DE.UTF-8', TERM: 'xterm', TZ: 'Asia/Tokyo', LC_ALL: 'C' };
  const done = await baton(at('here'), ['exec', '--approval', id('environment'), '--', 'show-env'], { env });
  const seen = Object.fromEntries(
    done.stdout
      .trim()
      .split('\n')
      .map((line) => line.split(/=(.*)/s).slice(0, 2)),
  );
  // A shell makes the last ones by itself.
  const { PWD: _pwd, OLDPWD: _old, SHLVL: _level, _: _last, ...given } = seen;
  const { BATON_CONFIG: _config, ...expected } = ENV;
  expect([done.code, given]).toEqual([0, expected]);
});

test('ids that are cut short, or written otherwise, name nothing', async () => {
  const whole = id('base');
  for (const word of [whole.slice(0, 9), whole.toUpperCase(), `${whole} `, `${whole}0`, '']) {
    const done = await baton(at('here'), ['exec', '--json', `--approval=${word}`, '--', ...ARGV], { env: ENV });
    expect([word, done.code === 0]).toEqual([word, false]);
  }
});

function refusal(done: Ran): Json[] {
  const { allow, code, reason } = json(done);
  if (allow !== false || !done.stderr.includes(String(code)) || reason === '') throw new Error(done.stderr);
  return [done.code, code ?? null];
}

function differencesIn(done: Ran): string[] {
  const { differences } = json<{ details: { differences: { part: string; name: string }[] } }>(done).details;
  return differences.flatMap(({ part, name }) => [part, `${part} ${name}`]);
}

const EXEC = `${BATON} exec --approval`;

/** Lines of an agent's shell: what the hook says of them, and the difference that it tells. */
const LINES: readonly (readonly [string, (id: string) => string, string, string?])[] = [
  [
    'the arguments in another order',
    (id) => `${EXEC} ${id} -- deploy -r prod --target café config.json`,
    MISMATCH,
    'argument 1:',
  ],
  [
    'a redirection',
    (id) => `${EXEC} ${id} -- ${shellLine(ARGV)} > out.txt`,
    MISMATCH,
    'line after: approved nothing, given " > out.txt"',
  ],
  [
    'a pipe',
    (id) => `${EXEC} ${id} -- ${shellLine(ARGV)} | sh`,
    MISMATCH,
    'line after: approved nothing, given " | sh"',
  ],
  [
    'a second command',
    (id) => `${EXEC} ${id} -- ${shellLine(ARGV)}; rm config.json`,
    MISMATCH,
    'line after: approved nothing, given "; rm config.json"',
  ],
  [
    'a command before it',
    (id) => `cd ../other && ${EXEC} ${id} -- ${shellLine(ARGV)}`,
    MISMATCH,
    'line before: approved nothing, given "cd ../other && "',
  ],
  [
    'a variable before it',
    (id) => `DEPLOY_ENV=green ${EXEC} ${id} -- ${shellLine(ARGV)}`,
    MISMATCH,
    'line before: approved nothing, given "DEPLOY_ENV=... "',
  ],
  [
    'a substitution',
    (id) => `${EXEC} ${id} -- deploy --target $(cat x) -r café config.json`,
    MISMATCH,
    'given "$(cat x) -r caf',
  ],
  ['a variable in an argument', (id) => `${EXEC} ${id} -- deploy --target "$T" -r café config.json`, MISMATCH],
  [
    'in the background',
    (id) => `${EXEC} ${id} -- ${shellLine(ARGV)} &`,
    MISMATCH,
    'line after: approved nothing, given " &"',
  ],
  ['a shell around it', (id) => `bash -c '${EXEC} ${id} -- deploy'`, MISMATCH, 'given "bash -c \''],
  [
    'sudo before it',
    (id) => `sudo ${EXEC} ${id} -- ${shellLine(ARGV)}`,
    MISMATCH,
    'line before: approved nothing, given "sudo "',
  ],
  [
    'another program of the same name',
    (id) => `${at('evil')}/baton exec --approval ${id} -- ${shellLine(ARGV)}`,
    MISMATCH,
    'program ',
  ],
  [
    'no character at all in an argument',
    (id) => `${EXEC} ${id} -- deploy --target 'pr\u0000od' -r café config.json`,
    MISMATCH,
  ],
  [
    'a line break and another command',
    (id) => `${EXEC} ${id} -- ${shellLine(ARGV)}\nrm config.json`,
    MISMATCH,
    'line after: approved nothing, given "\\u{a}rm config.json"',
  ],
  ['a Cyrillic letter', (id) => `${EXEC} ${id} -- deploy --target pr\u043ed -r café config.json`, MISMATCH],
  ['another option', (id) => `${EXEC} ${id} -C ../other -- ${shellLine(ARGV)}`, MISMATCH, 'given "-C ../other"'],
  ['no end of the options', (id) => `${EXEC} ${id} ${shellLine(ARGV)}`, MISMATCH, 'line: approved "--", given nothing'],
  ['what nobody has decided', () => `${EXEC} ${id('pending')} -- ${shellLine(ARGV)} pending`, 'APPROVAL_PENDING'],
  ['what was rejected', () => `${EXEC} ${id('rejected')} -- ${shellLine(ARGV)} rejected`, 'APPROVAL_REJECTED'],
  ['the same without an approval', () => shellLine([...ARGV, 'new']), 'APPROVAL_NEEDED'],
  ['what can never be approved', () => 'rm --recursive ~', 'COMMAND_REFUSED'],
  ['a disk that is made anew', () => 'mkfs.ext4 /dev/sda1', 'COMMAND_BLOCKED'],
  ['approving it itself', (id) => `${BATON} approve ${id}`, 'COMMAND_BLOCKED'],
];

function hook(line: string): Promise<Ran> {
  const event = { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command: line }, cwd: at('here') };
  return baton(at('here'), ['hook', 'PreToolUse'], { env: ENV, input: JSON.stringify(event) });
}

const HELD = LINES.map(([name, line, code, difference = '']) => ({ name, line, code, difference }));

test.each(HELD)('before a tool call, $name is refused', async ({ line, code, difference }) => {
  const { code: exit, stderr } = await hook(line(id('base')));
  expect([exit, /^baton: (\w+):/.exec(stderr)?.[1]]).toEqual([2, code]);
  expect(stderr).toContain(difference);
});

test('the unchanged command passes the hook and runs once, however often it is tried', async () => {
  unlinkIfThere('ran.log');
  const line = `${EXEC} ${id('base')} -- ${shellLine(ARGV)}`;
  expect(await hook(line)).toMatchObject({ code: 0, stderr: '' });
  const run = () => baton(at('here'), ['exec', '--json', '--approval', id('base'), '--', ...ARGV], { env: ENV });
  const all = await asProcesses(() => Promise.all([run(), run(), run()]));
  expect(all.map(({ code }) => code).sort()).toEqual([0, 1, 1]);
  expect(ran()).toEqual([`the approved one ${ARGV.slice(1).join(' ')}`]);
  expect(refusal(await run())).toEqual([1, 'APPROVAL_USED']);
  expect((await hook(line)).code).toBe(2);
});

test('every command of a list runs as often as it is listed, in any order', async () => {
  unlinkIfThere('ran.log');
  const run = async (word: string) => {
    const done = await baton(at('here'), ['exec', '--json', '--approval', id('list'), '--', 'deploy', word], {
      env: ENV,
    });
    return done.code === 0 ? 'OK' : json(done).code;
  };
  const tried = ['two', 'two', 'one', 'one', 'one'];
  const codes: unknown[] = [];
  for (const word of tried) codes.push(await run(word));
  expect(codes).toEqual(['OK', 'APPROVAL_USED', 'OK', 'OK', 'APPROVAL_USED']);
  expect(ran()).toEqual(['two', 'one', 'one'].map((word) => `the approved one ${word}`));
});

test('every refusal is in the log, with the difference', async () => {
  const facts = json<readonly { fact?: JsonObject; kind?: string }[]>(
    await baton(dir, ['log', '--json', '--after', '0'], { env: ENV }),
  );
  const refused = facts.map((entry) => JSON.stringify(entry)).filter((entry) => entry.includes('approval.refused'));
  const attacks = [...ATTACKS, ...LINES].filter(
    ([, , code]) => code !== 'APPROVAL_NEEDED' && code.startsWith('APPROVAL_'),
  );
  expect(refused.length).toBeGreaterThanOrEqual(attacks.length);
  for (const [part, count] of [
    ['environment', 4],
    ['line', 9],
  ] as const) {
    expect(refused.filter((entry) => entry.includes(`"part":"${part}"`)).length).toBeGreaterThanOrEqual(count);
  }
});

function unlinkIfThere(name: string): void {
  if (existsSync(at(name))) unlinkSync(at(name));
}

const FORGER = `
import { readFileSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
const brief = readFileSync(0, 'utf8');
const { asks, waits } = JSON.parse(readFileSync('reports.json', 'utf8'));
const [id] = /P-[0-9a-f]{32}/.exec(brief) ?? [];
const say = (text) => console.log(text.replace('a0c0ffee', /exactly "(a[0-9a-f]+)"/.exec(brief)[1]));
const { PATH, HOME, BATON_CONFIG = '', BATON_CAST, BATON_ATTEMPT, BATON_ATTEMPT_KEY } = process.env;
const who = { BATON_CAST, BATON_ATTEMPT, BATON_ATTEMPT_KEY };
const exec = (id) => ['exec', '--json', '--approval', id, '--', 'touch', 'made'];
if (process.argv[2] === 'owner' && !id) say(asks);
else if (process.argv[2] === 'owner') {
  const away = spawnSync('${BATON}', exec(id), { cwd: '/', encoding: 'utf8' });
  writeFileSync('away.json', away.stdout);
  writeFileSync('stolen.json', JSON.stringify({ id, who }));
  say(waits);
} else {
  const stolen = JSON.parse(readFileSync('stolen.json', 'utf8'));
  const below = spawnSync('${BATON}', exec(stolen.id), { env: { ...process.env, ...stolen.who }, encoding: 'utf8' });
  writeFileSync('below.json', below.stdout);
  const run = '${BATON} ' + exec(stolen.id).join(' ') + ' > draft 2>/dev/null; mv draft detached.json';
  const env = { PATH, HOME, ...(BATON_CONFIG ? { BATON_CONFIG } : {}), ...stolen.who, RUN: run };
  spawnSync('sh', ['-c', 'setsid sh -c "$RUN" </dev/null >/dev/null 2>&1 &'], { env });
  for (let n = 0; n < 400; n++) {
    try { readFileSync('detached.json'); break; } catch { await new Promise((done) => setTimeout(done, 50)); }
  }
  say(waits);
}
`;

const requesterIn = (text: string) => {
  const { code, details } = JSON.parse(text) as { code: string; details: { differences: { part: string }[] } };
  return [code, details.differences[0]?.part];
};

test('what was approved for one agent runs for nobody who only says that he is that agent', async () => {
  const ours = project();
  const wish = { operation: 'o', exact_content: 'touch made', scope: 's', rollback: 'r', verification: 'v' };
  const reports = {
    asks: asBlock(reportOf('APPROVAL_REQUEST', { more: { approval_request: wish } })),
    waits: asBlock(reportOf('NEEDS_INPUT', { next_action: 'which?' })),
  };
  const gaia = { materia: 'A', contract: 'gaia', parse: 'json', edges: [{ when: 'always', to: 'end' }] };
  const casting = (role: string) => {
    const lockScope = role === 'owner' ? ['away.json', 'stolen.json'] : ['below.json', 'detached.json', 'draft'];
    const A = { prompt: 'Do it.', tools: 'none', lockScope, runner: 'command', command: ['node', 'agent.mjs', role] };
    putIn(ours, { 'cast.json': flow({ A }, { 'Socket-1': gaia }) });
    return baton(ours, ['cast', '--file', 'cast.json', '--in-place', '--json', 'do it']);
  };
  putIn(ours, { 'agent.mjs': FORGER, 'reports.json': reports });
  expect(json(await casting('owner')).code).toBe('APPROVAL_NEEDED');
  const [{ id = '' } = {}] = json<readonly { id: string }[]>(await baton(ours, ['approvals', '--json']));
  expect(json(await baton(ours, ['approve', '--json', id])).code).toBe('ANSWER_NEEDED');
  // Its own agent, from a folder outside of the workspace: the difference is the folder, and it is in the log.
  expect(requesterIn(read(ours, 'away.json'))).toEqual([MISMATCH, 'folder']);

  // The attempt that was approved has ended: a shell of whoever knows its name, with and without its old secret.
  const { who } = JSON.parse(read(ours, 'stolen.json')) as { who: Record<string, string> };
  const { BATON_ATTEMPT_KEY: _key, ...bare } = who;
  for (const env of [bare, who]) {
    const done = await baton(ours, ['exec', '--json', '--approval', id, '--', 'touch', 'made'], { env });
    expect([done.code, requesterIn(done.stdout)]).toEqual([1, [MISMATCH, 'requester']]);
    const event = { hook_event_name: 'PreToolUse', tool_name: 'Bash', cwd: ours };
    const input = JSON.stringify({ ...event, tool_input: { command: `${EXEC} ${id} -- touch made` } });
    const told = await baton(ours, ['hook', 'PreToolUse'], { env, input });
    expect([told.code, told.stderr]).toEqual([2, expect.stringContaining(MISMATCH)]);
  }

  // The agent of another cast, in its own tree and cut off from it.
  expect(json(await casting('other')).code).toBe('ANSWER_NEEDED');
  for (const name of ['below.json', 'detached.json']) {
    expect([name, requesterIn(await untilWritten(ours, name))]).toEqual([name, [MISMATCH, 'requester']]);
  }
  expect(existsSync(join(ours, 'made'))).toBe(false);
  const log = (await baton(ours, ['log', '--json', '--after', '0'])).stdout;
  expect(log.match(/"kind":"approval.refused"/g)?.length).toBeGreaterThanOrEqual(5);
  expect(log).not.toContain(who.BATON_ATTEMPT_KEY);
});
