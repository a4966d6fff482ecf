import { expect, test } from 'vitest';
import type { Packet } from '../kernel/cast/packet.ts';
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
  expect(secretsFor(materia(more), env)).toEqual(values);
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
