import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  type ClaimCandidate,
  dropEndedClaims,
  prepareClaim,
  preparedFor,
  readClaim,
  recordClaim,
} from './claim-record.ts';

const CLAIM = { root: 'main', owner: 'ann', task: 'T-1', seq: 10 };
const TASK = { run: 'r', id: 'T-1' };

function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'baton-claims-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** A picture whose last look at the log saw this head. */
function prepare(stateDir: string, wish: Partial<ClaimCandidate>, through: number) {
  const head = async () => ({ seq: through });
  return prepareClaim(stateDir, folder(), { root: 'main', ...wish }, { others: [], head, checkers: {} });
}

test.each<[string, Partial<ClaimCandidate>, number, boolean]>([
  ['of another folder', { root: 'lane' }, 5, false],
  ['for another owner', { owner: 'bob' }, 5, false],
  ['for another task', { owner: 'ann', task: 'T-2' }, 5, false],
  ['that was complete only after the claim', {}, 10, false],
  ['that was complete just before the claim', {}, 9, true],
  ['of a search of the same owner', { owner: 'ann' }, 5, true],
  ['for the very claim', { owner: 'ann', task: 'T-1' }, 5, true],
])('a picture %s', async (_, wish, through, fits) => {
  const dir = folder();
  await prepare(dir, wish, through);
  expect(preparedFor(dir, CLAIM) !== null).toBe(fits);
});

test('of several pictures that fit the newest is taken', async () => {
  const dir = folder();
  for (const through of [4, 7, 6]) await prepare(dir, {}, through);
  expect(preparedFor(dir, CLAIM)?.through).toBe(7);
});

test('a record that is no record is none, and one that was cut off likewise', async () => {
  const dir = folder();
  recordClaim(dir, 3, TASK, await prepare(dir, {}, 1));
  expect(readClaim(dir, 3)).toMatchObject({ run: 'r', task: 'T-1', seq: 1 });
  for (const text of ['{}', '[]', 'null', '{"snapshot":']) {
    writeFileSync(join(dir, 'claims/3.json'), text);
    expect(readClaim(dir, 3)).toBeNull();
  }
});

test('what is over is dropped; what a dead process left stays while an open claim has no record', async () => {
  const dir = folder();
  const picture = await prepare(dir, {}, 1);
  for (const fence of [1, 2]) recordClaim(dir, fence, TASK, picture);
  // No process has this number: it is larger than any system gives out.
  writeFileSync(join(dir, 'claims/before-4194999-1.json'), JSON.stringify(picture));
  const left = () => readdirSync(join(dir, 'claims')).sort();
  await dropEndedClaims(dir, async () => new Set([2, 3]));
  expect(left()).toEqual(['2.json', 'before-4194999-1.json', picture.name].sort());
  await dropEndedClaims(dir, async () => new Set([2]));
  expect(left()).toEqual(['2.json', picture.name].sort());
});
