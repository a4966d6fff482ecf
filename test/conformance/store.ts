// What every way to reach the decider promises. A suite: it is run with the decider in this thread and behind a worker.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Driver, thisDriver } from '../../src/engine/lease.ts';
import { StorageError } from '../../src/engine/ports.ts';
import type { CastChange, FollowQuery, Store } from '../../src/engine/store.ts';
import { noApprovals } from '../../src/kernel/approval/state.ts';
import type { Request } from '../../src/kernel/input.ts';
import { packet, RUN } from '../../src/kernel/ledger/fixtures/book.ts';
import { startOf } from './round.ts';

const LIMIT = { timeout: 60_000 };
/** Longer than a slow machine takes to pass a message on. */
const POLL = { timeout: 30_000, interval: 5 };
/** A driver in another process namespace: it cannot be looked at from here. */
const elsewhere = (pid: number): Driver => ({ ...thisDriver(), host: 'elsewhere.invalid', pid, namespace: 'pid:[1]' });

export function storePromises(name: string, open: (folder: string) => Promise<Store>): void {
  describe(`the promises of a store: ${name}`, LIMIT, () => {
    let folder: string;
    let store: Store;
    beforeEach(async () => {
      folder = mkdtempSync(join(tmpdir(), 'baton-store-'));
      store = await open(folder);
    });
    afterEach(async () => {
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    });

    const submit = (request: Request, through = store) => through.submit(request, { name: 'test' });
    /** Starts a cast that this process drives: only a driver starts attempts. */
    const begin = async (...[id, more]: Parameters<typeof startOf>) => {
      await store.lease('takeCast', id, thisDriver());
      return submit(startOf(id, more));
    };
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
      const ledger = await store.view('ledger');
      expect(ledger.tasks[`${RUN}/T-1`]).toMatchObject({ status: 'in_progress', owner: 'ann', fence: 1 });
      expect(await store.view('ledger', RUN)).toEqual(ledger);
    });

    test('a sign of life is kept by the fence of its claim', async () => {
      await submit({ kind: 'task.create', packet: packet('T-1') });
      await submit({ kind: 'task.claim', task: 'T-1', owner: 'ann' });
      const at = Date.now() + 5_000;
      expect(await store.lease('beat', { task: 'T-1', owner: 'bob', fence: 1, at })).toBe(false);
      expect(await store.lease('beat', { task: 'T-1', owner: 'ann', fence: 1, at })).toBe(true);
      expect(await store.view('beats')).toEqual(new Map([[1, expect.objectContaining({ owner: 'ann', at })]]));
    });

    test('approvals are those at the head of the log', async () => {
      expect(await store.view('approvals')).toEqual(noApprovals());
    });

    test('what was answered can be read', async () => {
      await begin('c', { build: 'long '.repeat(200) });
      await submit(abort);
      const entries = await store.read({ after: 0, cast: 'c' });
      expect(entries.map(({ fact }) => fact.kind)).toEqual([
        'cast.started',
        'turn.started',
        'attempt.started',
        'cast.aborted',
      ]);
      expect((await store.read({ after: 0, kindPrefix: 'cast.' })).map(({ fact }) => fact.kind)).toEqual([
        'cast.started',
        'cast.aborted',
      ]);
      expect((await store.view('head')).seq).toBe(4);
      expect(await store.view('cast', 'c')).toMatchObject({ id: 'c', status: 'aborted', turnsStarted: 1 });
      expect(await store.view('cast', 'nobody')).toBeNull();
    });

    test('a follower first hears how the cast stands, before it is told that it follows', async () => {
      await begin('c');
      const changes: CastChange[] = [];
      await store.watchCast('c', true, (change) => changes.push(change));
      expect(changes).toHaveLength(1);
      expect(changes[0]).toMatchObject({ cast: 'c', status: 'running', entries: [] });
      expect(changes[0]?.owed.map(({ key }) => key)).toEqual(['dispatch:1.1']);
    });

    test('a follower of a cast that does not exist yet hears of its start', async () => {
      const changes: CastChange[] = [];
      await store.watchCast('c', true, (change) => changes.push(change));
      expect(changes).toEqual([]);
      await begin('other');
      await begin('c');
      await expect.poll(() => changes.length, POLL).toBe(1);
      expect(changes[0]?.entries.map(({ fact }) => fact.kind)).toEqual([
        'cast.started',
        'turn.started',
        'attempt.started',
      ]);
    });

    test('the packet of a dispatch comes once, however often the dispatch is named', async () => {
      const changes: CastChange[] = [];
      await store.watchCast('c', false, (change) => changes.push(change));
      await begin('c');
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
      await store.watchCast('c', false, ({ owed }) => {
        packets.one += owed.filter(({ packet }) => packet).length;
      });
      await begin('c');
      await store.watchCast('c', true, ({ owed, entries }) => {
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
      const stop = await store.watchCast('c', false, () => heard.early++);
      await begin('c');
      await expect.poll(() => heard.early, POLL).toBe(1);
      stop();
      await store.watchCast('c', false, () => heard.late++);
      stop();
      await submit(budget(1_000));
      await expect.poll(() => heard.late, POLL).toBe(2);
      expect(heard.early).toBe(1);
    });

    test('a follower hears of what is submitted at another store', async () => {
      await begin('c');
      const heard: CastChange[] = [];
      await store.watchCast('c', true, (change) => heard.push(change));
      const other = await open(folder);
      await submit(abort, other);
      await expect.poll(() => heard.at(-1)?.status, POLL).toBe('aborted');
      expect(heard.flatMap(({ entries }) => entries.map(({ fact }) => fact.kind))).toEqual(['cast.aborted']);
      expect(heard.at(-1)?.owed).toEqual([]);
      await other.close();
    });

    describe('a stream', () => {
      const others = ['c', 'other'];
      /** Reads a stream until it has so many entries, and answers their numbers. */
      async function taken(count: number, query: Partial<FollowQuery>, from = store): Promise<number[]> {
        const seqs: number[] = [];
        if (count > 0) {
          for await (const entries of from.follow({ after: 0, ...query })) {
            seqs.push(...entries.map(({ seq }) => seq));
            if (seqs.length >= count) break;
          }
        }
        return seqs;
      }
      const seqsOf = async (cast?: string) => {
        const entries = await store.read({ after: 0, ...(cast === undefined ? {} : { cast }) });
        return entries.map(({ seq }) => seq);
      };

      test.each<[string, string | undefined]>([
        ['of the whole workspace', undefined],
        ['of one cast', 'c'],
      ])('%s has what was there and what any process appends, once and in order', async (_, cast) => {
        for (const id of others) await begin(id);
        const before = (await seqsOf(cast)).length;
        const writer = await open(folder);
        const query = cast === undefined ? {} : { cast };
        const reading = taken(before + (cast === undefined ? 24 : 12), query);
        for (let n = 1; n <= 12; n++) {
          for (const id of others)
            await submit({ kind: 'budget.change', cast: id, maxTokens: n }, n % 2 === 0 ? writer : store);
        }
        expect(await reading).toEqual(await seqsOf(cast));
        await writer.close();
      });

      test.each([0, 1, 3, 6])('goes on from a cursor: after entry %i', async (after) => {
        for (const id of others) await begin(id);
        const all = await seqsOf();
        expect(all).toHaveLength(6);
        expect(await taken(6 - after, { after })).toEqual(all.slice(after));
      });

      test('is read page by page where there is much of it', async () => {
        await begin('c');
        await Promise.all(Array.from({ length: 2_500 }, (_, n) => submit(budget(n + 1))));
        const pages: number[] = [];
        for await (const entries of store.follow({ after: 0 })) {
          pages.push(entries.length);
          if (entries.at(-1)?.seq === 2_503) break;
        }
        expect(pages).toEqual([1_000, 1_000, 503]);
      });

      test('ends with its signal, before and while it waits', async () => {
        await begin('c');
        expect(await taken(1, { signal: AbortSignal.abort() })).toEqual([]);
        const stop = new AbortController();
        const reading = taken(4, { signal: stop.signal });
        const isOver = reading.then(() => true);
        expect(await Promise.race([isOver, submit(budget(1)).then(() => false)])).toBe(false);
        stop.abort();
        expect((await reading).slice(0, 3)).toEqual([1, 2, 3]);
      });

      test('ends when the store is closed', async () => {
        await begin('c');
        const reading = taken(100, {});
        await submit(budget(1));
        await store.close();
        expect((await reading).length).toBeLessThanOrEqual(4);
      });
    });

    test('an input that cannot be decided is refused with an error, and the store goes on', async () => {
      const results = await Promise.allSettled([
        submit({ ...startOf('x'), rules: null } as unknown as Request),
        submit(startOf('c')),
      ]);
      expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
      expect(await submit(abort)).toMatchObject({ allow: true });
    });

    test('a cast has one driver at a time', async () => {
      const me = thisDriver();
      expect(await store.view('driver', 'c')).toBeNull();
      expect(await store.lease('takeCast', 'c', me)).toMatchObject({ ...me, fence: 1 });
      expect(await store.view('driver', 'c')).toMatchObject({ ...me, sight: 'runs' });
      const parent: Driver = { ...me, pid: process.ppid, startTime: 'unknown' };
      expect(await store.lease('takeCast', 'c', parent)).toMatchObject(me);
      await store.lease('releaseCast', 'c', parent);
      expect(await store.view('driver', 'c')).toMatchObject(me);
      await store.lease('releaseCast', 'c', me);
      expect(await store.view('driver', 'c')).toBeNull();
      expect(await store.view('driver', 'other')).toBeNull();
    });

    test('of several who want a cast at the same moment one gets it', async () => {
      const stores = [store, await open(folder), await open(folder)];
      const far = stores.map((_, index): Driver => elsewhere(index + 1));
      const drivers = await Promise.all(stores.map((own, index) => own.lease('takeCast', 'c', far[index] as Driver)));
      expect(new Set(drivers.map(({ pid }) => pid)).size).toBe(1);
      for (const own of stores.slice(1)) await own.close();
    });

    test('a driver that ended, or whose number another process has now, is replaced', async () => {
      const me = thisDriver();
      const pid = spawnSync(process.execPath, ['--version']).pid;
      const gone: Driver = { ...me, pid, startTime: me.startTime };
      const reused: Driver = { ...me, startTime: `${me.startTime}0` };
      for (const dead of [gone, reused]) {
        expect(await store.lease('takeCast', 'c', dead)).toMatchObject(dead);
        expect(await store.view('driver', 'c')).toBeNull();
        expect(await store.lease('takeCast', 'c', me)).toMatchObject({ ...me, after: dead });
        await store.lease('releaseCast', 'c', me);
      }
    });

    test('a driver that cannot be looked at counts as running while its lease holds', async () => {
      const far = elsewhere(1);
      const { until, fence } = await store.lease('takeCast', 'c', far);
      expect(Number(until) - Date.now()).toBeGreaterThan(50_000);
      expect(await store.lease('takeCast', 'c', thisDriver())).toMatchObject(far);
      expect(await store.view('driver', 'c')).toMatchObject({ ...far, sight: 'unknown' });
      expect(await store.lease('takeCast', 'c', thisDriver(), fence)).toMatchObject({ ...thisDriver(), after: far });
    });

    test('a driver that lost its cast can commit nothing more, and hears who has it', async () => {
      await submit(startOf('c'));
      const [me, next] = [thisDriver(), elsewhere(2)];
      const { fence } = await store.lease('takeCast', 'c', me);
      expect([await store.view('lost', 'c'), await store.view('lost', 'other')]).toEqual([null, null]);
      expect(await submit(startOf('mine'))).toMatchObject({ allow: true });
      const other = await open(folder);
      expect(await other.lease('takeCast', 'c', next, fence)).toMatchObject({ ...next, fence: fence + 1 });
      const lost = { code: 'LEASE_LOST', details: { cast: 'c', fence, holder: next } };
      const before = await store.view('head');
      expect(await submit(abort)).toMatchObject(lost);
      expect(await store.view('lost', 'c')).toMatchObject(lost);
      await store.lease('releaseCast', 'c', me);
      expect([await store.view('head'), await other.view('driver', 'c')]).toMatchObject([before, next]);
      expect((await store.view('cast', 'c'))?.status).toBe('running');
      expect(await submit(abort, other)).toMatchObject({ allow: true });
      await other.close();
    });

    test('who drives no cast needs no lease: a person aborts a cast that another process drives', async () => {
      await submit(startOf('c'));
      await store.lease('takeCast', 'c', elsewhere(1));
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

    test('a closed store refuses, and may be closed again', async () => {
      await submit(startOf('c'));
      await store.close();
      await expect(submit(abort)).rejects.toThrow();
      await expect(store.view('cast', 'c')).rejects.toThrow();
      await store.close();
    });
  });
}
