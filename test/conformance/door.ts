// What every way to reach the desk promises. A suite: it is run with the desk in this thread and behind a worker.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Change, Door } from '../../src/engine/door.ts';
import { type Driver, thisDriver } from '../../src/engine/driver.ts';
import { StorageError } from '../../src/engine/storage-error.ts';
import type { Request } from '../../src/kernel/input.ts';
import { packet, RUN } from '../../src/kernel/ledger/fixtures/book.ts';
import { startOf } from './round.ts';

const LIMIT = { timeout: 60_000 };
/** Longer than a slow machine takes to pass a message on. */
const POLL = { timeout: 30_000, interval: 5 };
/** A driver in another process namespace: it cannot be looked at from here. */
const elsewhere = (pid: number): Driver => ({ ...thisDriver(), host: 'elsewhere.invalid', pid, namespace: 'pid:[1]' });

export function doorPromises(name: string, open: (folder: string) => Promise<Door>): void {
  describe(`the promises of a door: ${name}`, LIMIT, () => {
    let folder: string;
    let door: Door;
    beforeEach(async () => {
      folder = mkdtempSync(join(tmpdir(), 'baton-door-'));
      door = await open(folder);
    });
    afterEach(async () => {
      await door.close();
      rmSync(folder, { recursive: true, force: true });
    });

    const submit = (request: Request, through = door) => through.submit(request, 'test');
    const output = (turn: number, text: string): Request => ({
      kind: 'attempt.output',
      cast: 'c',
      turn,
      attempt: 1,
      output: text,
    });
    const budget = (maxTokens: number): Request => ({ kind: 'budget.change', cast: 'c', maxTokens });
    const abort: Request = { kind: 'cast.abort', cast: 'c', reason: 'test' };

    test('an input is answered with its verdict, a refusal too', async () => {
      expect(await submit(startOf('c'))).toMatchObject({ allow: true, code: 'OK' });
      expect(await submit(startOf('c'))).toMatchObject({ allow: false });
      expect(await submit({ kind: 'cast.pause', cast: 'nobody', reason: '' })).toMatchObject({
        allow: false,
        code: 'UNKNOWN_CAST',
      });
    });

    test('the ledger is a copy of what stands at the head of the log', async () => {
      await submit({ kind: 'task.create', packet: packet('T-1') });
      await submit({ kind: 'task.claim', task: 'T-1', owner: 'ann' });
      const ledger = await door.ledger();
      expect(ledger.tasks[`${RUN}/T-1`]).toMatchObject({ status: 'in_progress', owner: 'ann', fence: 1 });
      expect(await door.ledger(RUN)).toEqual(ledger);
    });

    test('what was answered can be read', async () => {
      await submit(startOf('c', { build: 'long '.repeat(200) }));
      await submit(abort);
      const entries = await door.read({ after: 0, cast: 'c' });
      expect(entries.map(({ fact }) => fact.kind)).toEqual([
        'cast.started',
        'turn.started',
        'attempt.started',
        'cast.aborted',
      ]);
      expect((await door.lifecycle()).map(({ fact }) => fact.kind)).toEqual(['cast.started', 'cast.aborted']);
      expect((await door.head()).seq).toBe(4);
      expect(await door.cast('c')).toMatchObject({ id: 'c', status: 'aborted', turnsStarted: 1 });
      expect(await door.cast('nobody')).toBeNull();
    });

    test('a follower first hears how the cast stands, before it is told that it follows', async () => {
      await submit(startOf('c'));
      const changes: Change[] = [];
      await door.follow('c', true, (change) => changes.push(change));
      expect(changes).toHaveLength(1);
      expect(changes[0]).toMatchObject({ cast: 'c', status: 'running', entries: [] });
      expect(changes[0]?.owed.map(({ key }) => key)).toEqual(['dispatch:1.1']);
    });

    test('a follower of a cast that does not exist yet hears of its start', async () => {
      const changes: Change[] = [];
      await door.follow('c', true, (change) => changes.push(change));
      expect(changes).toEqual([]);
      await submit(startOf('other'));
      await submit(startOf('c'));
      await expect.poll(() => changes.length, POLL).toBe(1);
      expect(changes[0]?.entries.map(({ fact }) => fact.kind)).toEqual([
        'cast.started',
        'turn.started',
        'attempt.started',
      ]);
    });

    test('the packet of a dispatch comes once, however often the dispatch is named', async () => {
      const changes: Change[] = [];
      await door.follow('c', false, (change) => changes.push(change));
      await submit(startOf('c'));
      await submit(budget(1_000));
      await submit(budget(2_000));
      await submit(output(1, 'Built.'));
      await expect.poll(() => changes.length, POLL).toBe(4);
      const told = changes.flatMap(({ owed }) =>
        owed.map(({ key, packet }) => `${key} ${packet ? packet.socket : '-'}`),
      );
      expect(told).toEqual(['dispatch:1.1 Socket-1', 'dispatch:1.1 -', 'dispatch:1.1 -', 'dispatch:2.1 Socket-2']);
      expect(changes.every(({ entries }) => entries.length === 0)).toBe(true);
      expect(changes[0]?.owed[0]?.packet).toMatchObject({
        cast: 'c',
        turn: 1,
        attempt: 1,
        scripted: { turn: 'Built as asked.' },
      });
    });

    test('every follower gets packets and entries of its own', async () => {
      const packets = { one: 0, other: 0 };
      const kinds: string[] = [];
      await door.follow('c', false, ({ owed }) => {
        packets.one += owed.filter(({ packet }) => packet).length;
      });
      await submit(startOf('c'));
      await door.follow('c', true, ({ owed, entries }) => {
        packets.other += owed.filter(({ packet }) => packet).length;
        kinds.push(...entries.map(({ fact }) => fact.kind));
      });
      await submit(output(1, 'Built.'));
      await submit(output(2, '{"satisfied":true}'));
      await expect.poll(() => kinds.at(-1), POLL).toBe('cast.completed');
      expect(packets).toEqual({ one: 2, other: 2 });
      expect(kinds.filter((kind) => kind === 'turn.accepted')).toHaveLength(2);
      expect(kinds).not.toContain('cast.started');
    });

    test('who stops following hears no more, and stopping again disturbs nobody', async () => {
      const heard = { early: 0, late: 0 };
      const stop = await door.follow('c', false, () => heard.early++);
      await submit(startOf('c'));
      await expect.poll(() => heard.early, POLL).toBe(1);
      stop();
      await door.follow('c', false, () => heard.late++);
      stop();
      await submit(budget(1_000));
      await expect.poll(() => heard.late, POLL).toBe(2);
      expect(heard.early).toBe(1);
    });

    test('a follower hears of what is submitted at another door', async () => {
      await submit(startOf('c'));
      const heard: Change[] = [];
      await door.follow('c', true, (change) => heard.push(change));
      const other = await open(folder);
      await submit(abort, other);
      await expect.poll(() => heard.at(-1)?.status, POLL).toBe('aborted');
      expect(heard.flatMap(({ entries }) => entries.map(({ fact }) => fact.kind))).toEqual(['cast.aborted']);
      expect(heard.at(-1)?.owed).toEqual([]);
      await other.close();
    });

    test('an input that cannot be decided is refused with an error, and the door goes on', async () => {
      const results = await Promise.allSettled([
        submit({ ...startOf('x'), rules: null } as unknown as Request),
        submit(startOf('c')),
      ]);
      expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
      expect(await submit(abort)).toMatchObject({ allow: true });
    });

    test('a cast has one driver at a time', async () => {
      const me = thisDriver();
      expect(await door.driverOf('c')).toBeNull();
      expect(await door.takeCast('c', me)).toMatchObject({ ...me, fence: 1 });
      expect(await door.driverOf('c')).toMatchObject({ ...me, sight: 'runs' });
      const parent: Driver = { ...me, pid: process.ppid, startTime: 'unknown' };
      expect(await door.takeCast('c', parent)).toMatchObject(me);
      await door.releaseCast('c', parent);
      expect(await door.driverOf('c')).toMatchObject(me);
      await door.releaseCast('c', me);
      expect(await door.driverOf('c')).toBeNull();
      expect(await door.driverOf('other')).toBeNull();
    });

    test('of several who want a cast at the same moment one gets it', async () => {
      const doors = [door, await open(folder), await open(folder)];
      const far = doors.map((_, index): Driver => elsewhere(index + 1));
      const drivers = await Promise.all(doors.map((own, index) => own.takeCast('c', far[index] as Driver)));
      expect(new Set(drivers.map(({ pid }) => pid)).size).toBe(1);
      for (const own of doors.slice(1)) await own.close();
    });

    test('a driver that ended, or whose number another process has now, is replaced', async () => {
      const me = thisDriver();
      const pid = spawnSync(process.execPath, ['--version']).pid;
      const gone: Driver = { ...me, pid, startTime: me.startTime };
      const reused: Driver = { ...me, startTime: `${me.startTime}0` };
      for (const dead of [gone, reused]) {
        expect(await door.takeCast('c', dead)).toMatchObject(dead);
        expect(await door.driverOf('c')).toBeNull();
        expect(await door.takeCast('c', me)).toMatchObject({ ...me, after: dead });
        await door.releaseCast('c', me);
      }
    });

    test('a driver that cannot be looked at counts as running while its lease holds', async () => {
      const far = elsewhere(1);
      const { until, fence } = await door.takeCast('c', far);
      expect(Number(until) - Date.now()).toBeGreaterThan(50_000);
      expect(await door.takeCast('c', thisDriver())).toMatchObject(far);
      expect(await door.driverOf('c')).toMatchObject({ ...far, sight: 'unseen' });
      expect(await door.takeCast('c', thisDriver(), fence)).toMatchObject({ ...thisDriver(), after: far });
    });

    test('a driver that lost its cast can commit nothing more, and hears who has it', async () => {
      await submit(startOf('c'));
      const [me, next] = [thisDriver(), elsewhere(2)];
      const { fence } = await door.takeCast('c', me);
      expect([await door.lostCast('c'), await door.lostCast('other')]).toEqual([null, null]);
      expect(await submit(startOf('mine'))).toMatchObject({ allow: true });
      const other = await open(folder);
      expect(await other.takeCast('c', next, fence)).toMatchObject({ ...next, fence: fence + 1 });
      const lost = { code: 'LEASE_LOST', details: { cast: 'c', fence, holder: next } };
      const before = await door.head();
      expect(await submit(abort)).toMatchObject(lost);
      expect(await door.lostCast('c')).toMatchObject(lost);
      await door.releaseCast('c', me);
      expect([await door.head(), await other.driverOf('c')]).toMatchObject([before, next]);
      expect((await door.cast('c'))?.status).toBe('running');
      expect(await submit(abort, other)).toMatchObject({ allow: true });
      await other.close();
    });

    test('who drives no cast needs no lease: a person aborts a cast that another process drives', async () => {
      await submit(startOf('c'));
      await door.takeCast('c', elsewhere(1));
      const other = await open(folder);
      expect(await submit(abort, other)).toMatchObject({ allow: true });
      await other.close();
    });

    test('a fault of the storage keeps its code', async () => {
      const file = join(folder, 'in-the-way');
      writeFileSync(file, '');
      const opening = open(file);
      await expect(opening).rejects.toBeInstanceOf(StorageError);
      await expect(opening).rejects.toMatchObject({ code: 'STORAGE_FAILED' });
    });

    test('a closed door refuses, and may be closed again', async () => {
      await submit(startOf('c'));
      await door.close();
      await expect(submit(abort)).rejects.toThrow();
      await expect(door.cast('c')).rejects.toThrow();
      await door.close();
    });
  });
}
