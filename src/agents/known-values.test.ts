import { expect, test } from 'vitest';
import type { Packet } from '../kernel/cast/packet.ts';
import { withoutValues } from '../kernel/credential.ts';
import type { Materia } from '../kernel/graph/config.ts';
import { secretsFor, withoutKnownValues } from './hidden-texts.ts';

const RANDOM = 'zq8Kd02mXn4vTr7pLs1W';
const materia = (more: object) => ({ type: 'agent', ...more }) as unknown as Materia;

test.each<[string, object, Record<string, string>, readonly string[]]>([
  ['the name says it', { env: ['MY_TOKEN'] }, { MY_TOKEN: 'hunter2hunter2' }, ['hunter2hunter2']],
  ['the value says it', { env: ['FOO'] }, { FOO: RANDOM }, [RANDOM]],
  ['the key of a model', { keyVariable: 'OTHER' }, { OTHER: RANDOM }, [RANDOM]],
  ['a region', { env: ['REGION'] }, { REGION: 'eu-central-1' }, []],
  ['a path', { env: ['CARGO_HOME'] }, { CARGO_HOME: '/home/Ann/.cargo2' }, []],
  ['too short to be told apart', { env: ['MY_KEY'] }, { MY_KEY: 'true' }, []],
  ['not given to it', {}, { MY_TOKEN: RANDOM }, []],
  [
    'the longest first',
    { env: ['A_KEY', 'B_KEY'] },
    { A_KEY: 'aaaaaaaa', B_KEY: 'aaaaaaaab' },
    ['aaaaaaaab', 'aaaaaaaa'],
  ],
  ['all of a utility', { type: 'utility' }, { MY_TOKEN: RANDOM, FOO: `${RANDOM}a`, X: 'y' }, [`${RANDOM}a`, RANDOM]],
  ['what a utility lists', { type: 'utility', env: ['FOO'] }, { MY_TOKEN: RANDOM, FOO: `${RANDOM}a` }, [`${RANDOM}a`]],
])('what an agent was given is kept out of what it says: %s', (_what, more, env, values) => {
  const found = secretsFor(materia(more), env);
  expect(found.filter((each) => Object.values(env).includes(each))).toEqual(values);
  if (values.length === 0) expect(found).toEqual([]);
});

test('outputs, reasons and notes are stored without it', async () => {
  const packet = { materia: materia({ env: ['FOO'] }) } as unknown as Packet;
  const answer = { kind: 'output', output: `foo=${RANDOM}`, agent: { commands: [`curl -H ${RANDOM}`] } } as const;
  const runner = { run: async () => answer, recover: async () => ({ ...answer, kind: 'fault' }) as never };
  const { run } = withoutKnownValues({ runnerFor: () => runner }, { FOO: RANDOM }).runnerFor(packet);
  const place = { cwd: '/', configDir: '/', attemptDir: '/s/attempts/c-1.1' };
  expect(await run(packet, place, AbortSignal.abort())).toEqual({
    kind: 'output',
    output: 'foo=[secret:env]',
    agent: { commands: ['curl -H [secret:env]'] },
  });
});

const PASSWORD = 'p4ss/w0rd+long';
const KEY = `-----BEGIN KEY-----\nMIIEowIBAAKCAQEA0123456789\nabcdefghijklmnopqrstuvwx\n-----END KEY-----`;

test.each<[string, Record<string, string>, string, string]>([
  ['base64', { MY_TOKEN: RANDOM }, Buffer.from(RANDOM).toString('base64'), RANDOM],
  ['base64 after a name', { MY_TOKEN: RANDOM }, Buffer.from(`ann:${RANDOM}`).toString('base64'), RANDOM],
  ['base64 after another name', { MY_TOKEN: RANDOM }, Buffer.from(`anna:${RANDOM}:x`).toString('base64'), RANDOM],
  ['base64 for the web', { MY_PASSWORD: '?>?>?>?>~~~' }, Buffer.from('x?>?>?>?>~~~').toString('base64url'), '?>?>'],
  ['hex', { MY_TOKEN: RANDOM }, Buffer.from(RANDOM).toString('hex'), RANDOM],
  ['an address', { MY_PASSWORD: PASSWORD }, encodeURIComponent(PASSWORD), PASSWORD],
  ['one line of a key', { MY_KEY: KEY }, '#5 abcdefghijklmnopqrstuvwx', 'abcdefghijklmnopqrstuvwx'],
  [
    'the password of an address',
    { DATABASE_URL: 'postgres://ann:hunter2hunter2@db/x' },
    'as hunter2hunter2',
    'hunter2hunter2',
  ],
  ['the same, decoded', { DB: `redis://:${encodeURIComponent(PASSWORD)}@h` }, `as ${PASSWORD}`, PASSWORD],
])('a secret is hidden in other forms, too: %s', (_what, env, printed, secret) => {
  const left = withoutValues(printed, secretsFor(materia({ type: 'utility' }), env));
  expect(left).toContain('[secret:env]');
  for (const each of [
    left,
    ...['base64', 'hex'].map((form) => Buffer.from(left.replace('[secret:env]', ''), form as 'hex')),
  ]) {
    expect(each.toString()).not.toContain(secret.slice(0, 6));
  }
});
