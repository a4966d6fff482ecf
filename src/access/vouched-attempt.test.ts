import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { makeKey } from '../agents/process/attempt-folder.ts';
import { ownIdentity } from '../agents/process/process-identity.ts';
import { isVouchedFor } from './attempt.ts';

const folder = mkdtempSync(join(tmpdir(), 'baton-vouched-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const alive = { by: 'supervisor', ...ownIdentity() };
let made = 0;

/** An attempt with a claim; answers its secret and where it lies. */
function attempt(claim: object | null, suffix = '') {
  made += 1;
  const dir = join(folder, `c-1.${made}`);
  mkdirSync(`${dir}${suffix}`);
  if (claim) writeFileSync(join(`${dir}${suffix}`, 'claim'), JSON.stringify(claim));
  return { dir, key: makeKey(`${dir}${suffix}`) };
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
