// The oldest driver of this boot is kept: what is younger than it may come from an agent.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startRecord } from '../agents/process/first-attempt.ts';
import { ownIdentity, startOrder } from '../agents/process/process-identity.ts';
import { firstDriverOf, noteDriver } from './person-proof.ts';

const own = ownIdentity();

function user(record?: string): string {
  const top = mkdtempSync(join(tmpdir(), 'baton-driver-'));
  onTestFinished(() => rmSync(top, { recursive: true, force: true }));
  const folder = join(top, 'user');
  if (record !== undefined) {
    mkdirSync(folder);
    writeFileSync(join(folder, 'first-driver'), record);
  }
  return folder;
}

test('the first driver is written down for its user alone', () => {
  const folder = user();
  expect(firstDriverOf(folder)).toBeNull();
  noteDriver({ BATON_CONFIG: folder });
  expect(firstDriverOf(folder)?.start).toBe(startOrder(own.startTime));
  expect(statSync(join(folder, 'first-driver')).mode & 0o077).toBe(0);
});

test('a later driver does not take its place', () => {
  const older = startRecord({ startTime: own.startTime.replace(/\d+$/, '1') });
  const folder = user(older);
  noteDriver({ BATON_CONFIG: folder });
  expect(readFileSync(join(folder, 'first-driver'), 'utf8')).toBe(older);
});

test.each([
  ['broken', '{'],
  ['of another boot', startRecord({ startTime: `another-boot/1` })],
])('a record that is %s is replaced', (_name, record) => {
  const folder = user(record);
  noteDriver({ BATON_CONFIG: folder });
  expect(firstDriverOf(folder)?.start).toBe(startOrder(own.startTime));
});
