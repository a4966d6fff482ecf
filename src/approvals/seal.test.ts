// The key of a user and the seals it makes: who may use which key, and what each seal holds for.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import type { Approval } from '../kernel/approval/state.ts';
import { findSealKey, logIdentity, openSealKey, sealDecision, sealedGrant, sealKey } from './seal.ts';

let folder = '';
beforeEach(() => {
  const root = mkdtempSync(join(tmpdir(), 'baton-seal-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  folder = join(root, 'config');
});

const env = () => ({ BATON_CONFIG: folder });
const file = () => join(folder, 'approval-key');

function opened() {
  const key = openSealKey(env());
  if ('allow' in key) throw new Error(key.reason);
  return key;
}

test('the key is made once, for its owner alone, and nothing else is left beside it', () => {
  const { id } = opened();
  expect([statSync(folder).mode & 0o777, statSync(file()).mode & 0o777]).toEqual([0o700, 0o600]);
  expect(readdirSync(folder)).toEqual(['approval-key']);
  expect(opened().id).toBe(id);
});

test('looking for a key makes none', () => {
  expect([findSealKey(env()), existsSync(folder)]).toEqual([null, false]);
  const { id } = opened();
  expect(findSealKey(env())?.id).toBe(id);
  chmodSync(file(), 0o644);
  expect(findSealKey(env())).toBe(null);
});

test.each<[string, () => void, string]>([
  ['a folder that others may read', () => chmodSync(folder, 0o755), 'chmod 700'],
  ['a key that others may read', () => chmodSync(file(), 0o640), 'chmod 600'],
  ['a key that others may write', () => chmodSync(file(), 0o602), 'chmod 600'],
  ['a file that holds less than a key', () => writeFileSync(file(), 'ab12'), 'holds no key'],
  ['a file that holds more than a key', () => writeFileSync(file(), `${'a'.repeat(64)}b`), 'holds no key'],
  [
    'a folder in its place',
    () => {
      rmSync(file());
      mkdirSync(file(), { mode: 0o700 });
    },
    'cannot be used',
  ],
])('%s is refused with the way out', (_, spoil, reason) => {
  opened();
  spoil();
  expect(openSealKey(env())).toMatchObject({
    allow: false,
    code: 'KEY_UNSAFE',
    reason: expect.stringContaining(reason),
  });
});

test('a log is told from its copy and from one that was put in its place', () => {
  mkdirSync(folder);
  const log = join(folder, 'log.sqlite');
  expect(logIdentity(folder)).toBe(`${log}\nabsent`);
  writeFileSync(log, 'a');
  const first = logIdentity(folder);
  writeFileSync(join(folder, 'other'), 'a');
  renameSync(join(folder, 'other'), log);
  expect(first).toMatch(/log\.sqlite\n\d+:\d+$/);
  expect(logIdentity(folder)).not.toBe(first);
});

const [NOW, GRANT_MS] = [1_000, 500];
const key = sealKey(Buffer.alloc(32, 1));
const executor = { host: 'h', pid: 7, startTime: '1' };

/** An approval under `key`; only what a decision looks at. */
function approval(over: Partial<Approval> = {}): Approval {
  const sealed = { id: 'A-1', keyId: key.id, grantMs: GRANT_MS, commands: [] };
  return { id: 'A-1', sealed, since: 0, from: null, grant: null, uses: {}, ...over } as unknown as Approval;
}

function decided(of: Approval, more: object = {}) {
  return sealDecision(of, { choice: 'approve', again: false, ...more } as Parameters<typeof sealDecision>[1], {
    by: 'ann',
    now: NOW,
    key,
  });
}

/** The approval as a decision under `by` leaves it. */
function granted(by = key, uses: Approval['uses'] = {}): Approval {
  const grant = { by: 'ann', at: NOW, until: NOW + GRANT_MS, reason: '' };
  const mac = sealedGrant(approval({ grant }), by)?.mac ?? '';
  return approval({ grant: { ...grant, mac }, uses });
}

test('a yes holds for a while, a no from now on, and the two seals differ', () => {
  const yes = decided(approval());
  const no = decided(approval(), { choice: 'reject' });
  expect([yes, no]).toMatchObject([{ sealing: { until: NOW + GRANT_MS } }, { sealing: { until: NOW } }]);
  const macs = [yes, no].map((one) => ('sealing' in one ? one.sealing?.decision.mac : null));
  expect(new Set(macs).size).toBe(2);
  expect(macs).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/), expect.stringMatching(/^[0-9a-f]{64}$/)]);
});

test('under another key a yes is refused, and a no needs no seal', () => {
  const others = approval({ sealed: { ...approval().sealed, keyId: 'other' } });
  expect(decided(others)).toMatchObject({ allow: false, code: 'DECISION_UNSEALED', details: { approval: 'A-1' } });
  expect(decided(others, { choice: 'reject' })).toEqual({});
});

test('a yes that was appended by hand is told from one that has the seal of the key', () => {
  expect(sealedGrant(approval(), key)).toBe(null);
  expect(decided(approval())).not.toHaveProperty('isUnsealed');
  expect(decided(granted())).not.toHaveProperty('isUnsealed');
  expect(decided(granted(sealKey(Buffer.alloc(32, 2))))).toMatchObject({ isUnsealed: true });
});

test.each<[string, boolean, readonly object[], boolean]>([
  ['a second yes after its executor was lost', true, [executor], true],
  ['a second yes while its executor may run', true, [], false],
  ['a second yes that does not ask for it', false, [executor], false],
])('%s: the lost command may run again: %j', (_, again, gone, isSealed) => {
  const uses = { 0: { at: 1, round: 3, executor, phase: 'started' } } as unknown as Approval['uses'];
  const verdict = decided(granted(key, uses), { again, gone });
  const text = 'sealing' in verdict ? (verdict.sealing?.decision.text ?? '') : '';
  expect(text.includes('"again":[[0,3]]')).toBe(isSealed);
});
