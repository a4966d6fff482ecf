import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { attemptNamed, makeKey } from '../agents/process/attempt-folder.ts';
import { ownIdentity } from '../agents/process/process-identity.ts';
import type { Cast } from '../kernel/cast/state.ts';
import { isVouchedFor } from './attempt.ts';
import { agentCalling } from './server-callers.ts';

const folder = join(mkdtempSync(join(tmpdir(), 'baton-vouched-')), 'attempts');
mkdirSync(folder);
afterAll(() => rmSync(join(folder, '..'), { recursive: true, force: true }));

const alive = { by: 'supervisor', ...ownIdentity() };
let made = 0;

/** An attempt with a claim; answers its secret and where it lies. */
function attempt(claim: object | null, suffix = '', fence = '') {
  made += 1;
  const dir = join(folder, `c-${made}.1`);
  mkdirSync(`${dir}${suffix}`);
  if (claim) writeFileSync(join(`${dir}${suffix}`, 'claim'), JSON.stringify(claim));
  return { dir, key: makeKey(`${dir}${suffix}`, fence) };
}

test.each([
  ['that nobody has taken', null, '', false],
  ['that an engine has taken', { ...alive, by: 'engine' }, '', false],
  ['whose supervisor is gone', { ...alive, startTime: 'long ago' }, '', false],
  ['whose supervisor lives', alive, '', true],
  ['that runs once more', alive, '.again-2', true],
  ['of another name', alive, '0', false],
])('the secret of an attempt %s', (_name, claim, suffix, isBelieved) => {
  const { dir, key } = attempt(claim, suffix);
  expect(isVouchedFor(dir, { BATON_ATTEMPT_KEY: key })).toBe(isBelieved);
});

test('no secret, and that of another attempt, prove nothing', () => {
  const [one, other] = [attempt(alive), attempt(alive)];
  expect(isVouchedFor(one.dir, {})).toBe(false);
  expect(isVouchedFor(one.dir, { BATON_ATTEMPT_KEY: other.key })).toBe(false);
  expect(isVouchedFor(join(folder, 'none', 'c-1.1'), { BATON_ATTEMPT_KEY: one.key })).toBe(false);
});

const PRESENT = { phase: 'running', attempt: 1, fence: 7, socket: 'Socket-1', task: 'T-1' };

test.each<[string, Record<string, unknown>, Record<string, unknown>, string]>([
  ['is the current one', {}, {}, 'OK'],
  ['was followed by another', { attempt: 2 }, {}, 'STALE_ATTEMPT'],
  ['works under a fence that was taken over', { fence: 8 }, {}, 'STALE_ATTEMPT'],
  ['has been answered', { phase: 'accepted' }, {}, 'STALE_ATTEMPT'],
  ['belongs to a cast that was paused', {}, { status: 'paused' }, 'STALE_ATTEMPT'],
])('the token of an attempt that %s', async (_, turn, cast, code) => {
  const { dir, key } = attempt(alive, '', '7');
  const { turn: number } = attemptNamed(dir) as { turn: number };
  const stateDir = join(folder, '..');
  const castOf = async () =>
    ({ status: 'running', turns: { [number]: { ...PRESENT, ...turn } }, ...cast }) as unknown as Cast;
  const caller = await agentCalling({ stateDir, castOf }, key, null);
  expect('allow' in caller ? caller.code : 'OK').toBe(code);
  if (!('allow' in caller))
    expect(caller).toMatchObject({ role: 'operator', token: null, attempt: { cast: 'c', fence: 7, task: 'T-1', dir } });
  expect(await agentCalling({ stateDir, castOf }, `${key}x`, null)).toMatchObject({ code: 'TOKEN_UNKNOWN' });
  expect(await agentCalling({ stateDir, castOf: async () => null }, key, null)).toMatchObject({
    code: 'STALE_ATTEMPT',
  });
});

test('the token of an attempt whose supervisor is gone is none', async () => {
  const { key } = attempt({ ...alive, startTime: 'long ago' });
  const castOf = async () => ({ status: 'running', turns: { 1: PRESENT } }) as unknown as Cast;
  expect(await agentCalling({ stateDir: join(folder, '..'), castOf }, key, null)).toMatchObject({
    code: 'TOKEN_UNKNOWN',
  });
});
