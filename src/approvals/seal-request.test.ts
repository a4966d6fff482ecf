// What is sealed: that the same wish has the same fingerprint and another one has not, what it is bound to, and that nothing
// an agent sends breaks it.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { DEFAULT_POLICY } from '../kernel/approval/policy.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import { digestOf } from './look.ts';
import { namedBy } from './named-by.ts';
import { sealKey } from './seal-key.ts';
import { type SealScene, sealRequest } from './seal-request.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 2000);
const dir = realpathSync(mkdtempSync(join(tmpdir(), 'baton-seal-')));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
writeFileSync(join(dir, 'a.json'), '{}');
writeFileSync(join(dir, 'b.json'), '{}');
mkdirSync(join(dir, 'sub'));
writeFileSync(join(dir, 'sub', 'c'), 'c');
symlinkSync('a.json', join(dir, 'link.json'));

const key = sealKey(Buffer.alloc(32, 7));
const scene: SealScene = {
  requester: 'a1',
  cwd: dir,
  env: { PATH: '/usr/bin:/bin', HOME: dir },
  policy: DEFAULT_POLICY,
  key,
  now: 0,
  ground: null,
  log: 'log',
};
const seal = (request: JsonObject, over: Partial<SealScene> = {}) => sealRequest(request, { ...scene, ...over });
const print = (request: JsonObject, over: Partial<SealScene> = {}) => seal(request, over).fingerprint;
const base = { exact_content: 'cat a.json' };

test.each<[string, JsonObject, Partial<SealScene>]>([
  ['another argument', { exact_content: 'cat b.json' }, {}],
  ['another requester', base, { requester: 'a2' }],
  ['another folder', base, { cwd: join(dir, 'sub') }],
  ['a folder that is named', { ...base, x_cwd: 'sub' }, {}],
  ['a variable that is set', base, { env: { ...scene.env, AWS_PROFILE: 'x' } }],
  ['a variable that is named', { ...base, x_env: ['X'] }, {}],
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
  expect(command?.files[join(dir, 'a.json')]).toBe(digestOf(join(dir, 'a.json')));
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
])('%j names %s', (argv, name) => {
  expect(namedBy(argv, dir, dir, []).inputs).toContain(join(dir, name));
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

test('of a list only what changes state needs an approval', () => {
  const set = (...commands: string[]) =>
    seal({ command_set: commands.map((command) => ({ command })) }).commands.map(({ display }) => display);
  expect(set('rm a', 'ls', 'rm b')).toEqual(['rm a', 'rm b']);
  expect(set('ls', 'pwd')).toEqual([]);
  expect(seal({ command_set: ['x', null, { rationale: 'x' }] }).commands).toEqual([]);
});

const wish: JsonObject = {
  operation: 'x',
  exact_content: 'cp a.json "b c"',
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
