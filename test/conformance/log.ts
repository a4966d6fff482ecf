// What every adapter of the `Log` port promises. A suite: each adapter runs it with its own way of opening.
import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type Append,
  type CastQuery,
  type Commit,
  type FoundRows,
  type Log,
  NotFetched,
  type RowQuery,
  StorageError,
} from '../../src/engine/ports.ts';
import { type Entry, type Fact, timeOf } from '../../src/kernel/fact.ts';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import { faultsOf, leafOf } from './chain.ts';

/** A log under test. Each `open` is one more way into the same log, as another process has it. */
export type Bed = { open(): Log; remove(): void };

const NOON = Date.parse('2026-01-01T12:00:00.000Z');
const LONG = 'long text, '.repeat(60);

export function logPromises(name: string, makeBed: () => Bed): void {
  describe(`the promises of a log: ${name}`, { timeout: 60_000 }, () => {
    let bed: Bed;
    let log: Log;
    beforeEach(() => {
      bed = makeBed();
      log = bed.open();
    });
    afterEach(async () => {
      await log.close();
      bed.remove();
    });

    const add = (...appends: Append[]) => log.commit(0, { decide: () => appends });
    const usedBy = async (key: string, after: number) => {
      let seq: number | null = null;
      const decide: Commit['decide'] = (_, found) => {
        seq = found.once(key);
        return [];
      };
      await log.commit(after, { wanted: () => ({ once: [key], leases: [] }), decide });
      return seq;
    };
    const readAll = () => log.read({ after: 0 });
    const storedLines = () => log.lines(0, 1_000_000);
    const expectWhole = async () => expect(faultsOf(await storedLines())).toEqual([]);

    test('an empty log has a head of zeros and nothing to read', async () => {
      expect(await log.head()).toEqual({ seq: 0, hash: '0'.repeat(64) });
      expect(await readAll()).toEqual([]);
      expect(await storedLines()).toEqual([]);
      expect(await log.read({ after: 0, kindPrefix: 'cast.' })).toEqual([]);
      expect(await log.snapshot()).toBeNull();
    });

    test('entries are numbered from 1 in the order they were appended', async () => {
      const first = await add(paused('a'), paused('b'));
      const second = await add(paused('c'));
      expect([...first, ...second].map(({ seq }) => seq)).toEqual([1, 2, 3]);
      expect((await readAll()).map(reasonOf)).toEqual(['a', 'b', 'c']);
    });

    test('what a commit answers is what is read back', async () => {
      const written = await add(started('c', { text: LONG, list: [1, 'two', null, { deep: LONG }] }), paused('a'));
      expect(await readAll()).toEqual(written);
      expect(written[0]).toMatchObject({ v: 1, by: 'test', at: '2026-01-01T12:00:00.000Z', prev: '0'.repeat(64) });
    });

    test('every line is canonical JSON and holds the hash of the line before it; the head is the last hash', async () => {
      await add(started('c', { b: 1, a: { z: [], y: LONG }, é: 'ü', ﬁ: 1, '😀': 2 }), paused('a'));
      await add(paused('b'));
      const lines = await storedLines();
      expect(faultsOf(lines)).toEqual([]);
      expect(await log.head()).toEqual({ seq: 3, hash: leafOf(lines.at(-1)?.line ?? '') });
      expect((await readAll())[2]?.prev).toBe(leafOf(lines[1]?.line ?? ''));
    });

    test('lines are paged', async () => {
      await add(paused('a'), paused('b'), paused('c'));
      expect((await log.lines(1, 1)).map(({ seq }) => seq)).toEqual([2]);
      expect((await log.lines(2, 10)).map(({ seq }) => seq)).toEqual([3]);
    });

    test('the decision sees exactly the entries after the one it names, and is asked once', async () => {
      await add(paused('a'), paused('b'), paused('c'));
      const seen: (readonly Entry[])[] = [];
      await log.commit(1, {
        decide: (tail) => {
          seen.push(tail);
          return [];
        },
      });
      expect(seen.map((tail) => tail.map(reasonOf))).toEqual([['b', 'c']]);
    });

    test('the decision sees what somebody else appended in between', async () => {
      const other = bed.open();
      await add(paused('mine'));
      await other.commit(1, { decide: () => [paused('theirs')] });
      let tail: readonly Entry[] = [];
      await log.commit(1, {
        decide: (unseen) => {
          tail = unseen;
          return [paused('mine again')];
        },
      });
      expect(tail.map(reasonOf)).toEqual(['theirs']);
      expect((await other.read({ after: 0 })).map(reasonOf)).toEqual(['mine', 'theirs', 'mine again']);
      await expectWhole();
      await other.close();
    });

    test('a commit that decides nothing appends nothing', async () => {
      await add(paused('a'));
      const head = await log.head();
      expect(await log.commit(1, { decide: () => [] })).toEqual([]);
      expect(await log.head()).toEqual(head);
    });

    test('the rows that a decision may look up are asked for once, with the entries after the one it names', async () => {
      const other = bed.open();
      await add(paused('a'), withKeys('b', 'k1'));
      await other.lease('l1', () => 'theirs');
      const calls: string[] = [];
      await log.commit(1, {
        wanted: (tail) => {
          calls.push(`wanted after ${tail.map(reasonOf)}`);
          return { once: ['k1', 'k2', 'k1'], leases: ['l1', 'l2'] };
        },
        decide: (tail, found) => {
          const rows = [...['k1', 'k2'].map(found.once), ...['l1', 'l2'].map(found.lease)];
          calls.push(`decide after ${tail.map(reasonOf)} with ${rows.map(String)}`);
          return [];
        },
      });
      expect(calls).toEqual(['wanted after b', 'decide after b with 2,null,theirs,null']);
      await other.close();
    });

    test.each<[string, Commit['wanted'], (found: FoundRows) => unknown]>([
      ['a key, and none was named', undefined, (found) => found.once('k')],
      ['a lease, and none was named', undefined, (found) => found.lease('l')],
      ['another key', () => ({ once: ['k'], leases: ['K'] }), (found) => found.once('K')],
      ['another lease', () => ({ once: ['L'], leases: ['l'] }), (found) => found.lease('L')],
    ])('a row that was not fetched cannot be looked up: %s', async (_, wanted, look) => {
      await add(withKeys('a', 'k', 'K'));
      for (const name of ['l', 'L']) await log.lease(name, () => 'value');
      const head = await log.head();
      const refusal = log.commit(1, {
        ...(wanted ? { wanted } : {}),
        decide: (_, found) => [paused(`${look(found)}`)],
      });
      await expect(refusal).rejects.toBeInstanceOf(NotFetched);
      await expect(refusal).rejects.toThrow('was not fetched');
      await expect(log.changeLeases(['l'], (held) => [{ name: 'l', value: held('L') }])).rejects.toThrow(NotFetched);
      expect([await log.head(), await log.lease('l', (now) => now)]).toEqual([head, 'value']);
      await add(paused('b'));
      await expectWhole();
    });

    const nothing = () => ({ once: [], leases: [] });
    const broken = () => {
      throw new Error('no');
    };
    test.each<[string, Commit]>([
      ['the decision throws', { decide: broken }],
      ['naming the rows throws', { wanted: broken, decide: () => [paused('x')] }],
      ['the decision throws after rows were fetched', { wanted: nothing, decide: broken }],
      ['a later fact is no JSON', { decide: () => [paused('x'), started('c', { n: Number.NaN })] }],
      ['a later fact has no time', { decide: () => [paused('x'), { ...paused('y'), at: Number.NaN }] }],
    ])('all or nothing: %s', async (_, commit) => {
      await add(paused('a'));
      const head = await log.head();
      await expect(log.commit(1, commit)).rejects.toThrow();
      expect(await log.head()).toEqual(head);
      expect((await readAll()).map(reasonOf)).toEqual(['a']);
      await add(paused('b'));
      expect((await readAll()).map(({ seq }) => seq)).toEqual([1, 2]);
      await expectWhole();
    });

    test('time never decreases, whatever the clocks of the writers say', async () => {
      const other = bed.open();
      await add({ ...paused('a'), at: NOON + 5_000 });
      await other.commit(0, {
        decide: () => [
          { ...paused('b'), at: NOON },
          { ...paused('c'), at: NOON + 9_000 },
        ],
      });
      await add({ ...paused('d'), at: NOON + 1_000 });
      expect((await readAll()).map(({ at }) => at.slice(17, 23))).toEqual(['05.000', '05.000', '09.000', '09.000']);
      await expectWhole();
      await other.close();
    });

    test('what a clock far behind the log said stands in the line, and comes back', async () => {
      await add({ ...paused('a'), at: NOON + 7_200_000 });
      await add({ ...paused('b'), at: NOON + 7_200_000, clock: NOON });
      const read = await readAll();
      expect(read.map(({ clock }) => clock)).toEqual([undefined, new Date(NOON).toISOString()]);
      expect(read.map(timeOf)).toEqual([NOON + 7_200_000, NOON]);
      expect(read[1]?.at).toBe(read[0]?.at);
      await expectWhole();
    });

    test.each([
      ['256 bytes stay in the line', 'x'.repeat(256), true],
      ['257 bytes leave it', 'x'.repeat(257), false],
      ['bytes count, not characters: 128 of two bytes stay', 'é'.repeat(128), true],
      ['bytes count, not characters: 129 of two bytes leave', 'é'.repeat(129), false],
      ['86 of three bytes leave', '€'.repeat(86), false],
    ])('%s, and come back', async (_, text, inLine) => {
      await add(started('c', { text }));
      const [stored] = await storedLines();
      expect(stored?.line.includes(text)).toBe(inLine);
      expect(dataOf((await readAll())[0])).toEqual({ text });
    });

    test('the same long text may stand in one fact twice, and in several', async () => {
      await add(started('a', { one: LONG, two: [LONG] }), started('b', { one: LONG }));
      expect((await readAll()).map(dataOf)).toEqual([{ one: LONG, two: [LONG] }, { one: LONG }]);
    });

    test('an object that looks like a reference to a text is data, and reads nobody else’s text', async () => {
      await add(started('victim', { secret: LONG }));
      const [line] = await storedLines();
      const reference = (JSON.parse(line?.line ?? '') as { body: { data: { secret: JsonObject } } }).body.data.secret;
      expect(Object.keys(reference)).not.toEqual([]);
      const forged: Json[] = [
        reference,
        { secret: reference, long: LONG },
        [reference],
        { $literal: reference },
        { $literal: { $literal: reference } },
        { $literal: reference, more: 1 },
        { $blob: 5 },
        { $blob: null },
        { $blob: 'sha256:0' },
        { $literal: 'text' },
        { $literal: [reference] },
        { $literal: null, $blob: reference },
        { $json: '"text"' },
        { $json: 'no json' },
        { $json: { $json: 1 } },
        { $json: reference, $literal: 1 },
      ];
      for (const value of forged) await add(started('thief', { value }));
      const [, ...read] = await readAll();
      expect(read.map((entry) => dataOf(entry).value)).toEqual(forged);
      await expectWhole();
    });

    test('a fact whose own members look like a reference is stored as it is', async () => {
      const odd = { kind: 'cast.paused', cast: 'c', reason: LONG, $blob: 'sha256:0', $literal: 1 } as unknown as Fact;
      const [written] = await add({ ...paused('a'), fact: odd });
      expect(written?.fact).toEqual(odd);
      expect((await readAll())[0]?.fact).toEqual(odd);
    });

    test.each<[string, Json]>([
      ['all planes of Unicode', 'aé€😀\u2028\u2029\ufeff\u{10ffff}'],
      ['control characters', '\u0000\u0001\b\t\n\r\u001f\u007f"\\/'],
      ['a long text with a zero in it', `${'z'.repeat(300)}\u0000${'z'.repeat(300)}`],
      ['half a character', 'a\ud800b\udc00'],
      ['half a character in a long text', `${'h'.repeat(300)}\ud83d`],
      ['two long texts that differ in half a character', [`${'h'.repeat(300)}\ud800`, `${'h'.repeat(300)}\ud801`]],
      ['half a character in a name', { 'a\ud800': { long: LONG, '\udfff': [1] } }],
      [
        'names that sort by code units',
        { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\ud83d\ude00': 5, '\u0080': 6, ö: 7 },
      ],
      [
        'names of the prototype',
        JSON.parse('{"__proto__":{"x":1},"constructor":1,"toString":null,"hasOwnProperty":[]}'),
      ],
      ['a prototype in a prototype', JSON.parse('{"__proto__":{"__proto__":"deep"}}')],
      ['numbers', [0, 1, -1, 0.1, 1e21, 1e-7, 5e-324, 1.7976931348623157e308, 9007199254740991, 333333333.3333333]],
      ['nothing much', [null, true, false, '', [], {}, { '': '' }]],
      ['names that the log uses itself', { seq: 1, prev: 'x', kind: 'y', cast: 'z', body: {}, at: null, v: 9 }],
      ['a hundred levels', nested(100)],
    ])('%s come back exactly', async (_, value) => {
      const [written] = await add(started('c', { value }));
      const [read] = await readAll();
      expect(dataOf(written).value).toStrictEqual(value);
      expect(dataOf(read).value).toStrictEqual(value);
      expect(JSON.stringify(sorted(dataOf(read).value as Json))).toBe(JSON.stringify(sorted(value)));
      await expectWhole();
    });

    test('reads after a number, at most so many, of one cast', async () => {
      await add(started('a', {}), started('b', {}), paused('1', 'a'), paused('2', 'b'), paused('3', 'a'));
      const seqs = async (query: Parameters<Log['read']>[0]) => (await log.read(query)).map(({ seq }) => seq);
      expect(await seqs({ after: 2 })).toEqual([3, 4, 5]);
      expect(await seqs({ after: 1, limit: 2 })).toEqual([2, 3]);
      expect(await seqs({ after: 0, limit: 0 })).toEqual([]);
      expect(await seqs({ after: 0, cast: 'a' })).toEqual([1, 3, 5]);
      expect(await seqs({ after: 1, cast: 'a', limit: 1 })).toEqual([3]);
      expect(await seqs({ after: 5 })).toEqual([]);
      expect(await seqs({ after: 0, cast: 'A' })).toEqual([]);
      expect(await seqs({ after: 0, cast: 'nobody' })).toEqual([]);
    });

    test.each(['12', 'null', '__proto__', 'a.b', '$.cast', '%', 'C', "it's", '😀'])(
      'a cast may be called %s',
      async (cast) => {
        await add(started(cast, {}), paused('x', 'other'), paused('y', cast));
        expect((await log.read({ after: 0, cast })).map(({ seq }) => seq)).toEqual([1, 3]);
      },
    );

    test('reads by the task of a fact, and by how its kind begins', async () => {
      await add(started('a', {}), moved('T-1', 'r1'), moved('T-10', 'r1'), paused('1', 'a'), moved('T-1', 'r2'));
      await add({ fact: { kind: 'ledger.held', by: 'ann', reason: 'T-1' }, by: 'test', at: NOON }, dropped('a'));
      const seqs = async (query: Parameters<Log['read']>[0]) => (await log.read(query)).map(({ seq }) => seq);
      expect(await seqs({ after: 0, task: 'T-1' })).toEqual([2, 5]);
      expect(await seqs({ after: 2, task: 'T-1' })).toEqual([5]);
      expect(await seqs({ after: 0, task: 'T-1', limit: 1 })).toEqual([2]);
      expect(await seqs({ after: 0, task: 'T' })).toEqual([]);
      expect(await seqs({ after: 0, kindPrefix: 'task.' })).toEqual([2, 3, 5]);
      expect(await seqs({ after: 2, kindPrefix: 'task.', limit: 1 })).toEqual([3]);
      expect(await seqs({ after: 0, kindPrefix: 'cast.' })).toEqual([1, 4]);
      expect(await seqs({ after: 0, kindPrefix: 'cast.', limit: 1 })).toEqual([1]);
      expect(await seqs({ after: 0, kindPrefix: 'cast' })).toEqual([1, 4]);
      expect(await seqs({ after: 5, kindPrefix: '' })).toEqual([6, 7]);
      expect(await seqs({ after: 0, kindPrefix: 'CAST.' })).toEqual([]);
      expect(await seqs({ after: 0, kindPrefix: '%' })).toEqual([]);
    });

    test('the facts of a run are read by its name, beside those of the cast that has it', async () => {
      await add(started('a', {}), moved('T-1', 'a'), moved('T-1', 'b'), paused('1', 'a'));
      expect((await log.read({ after: 0, cast: 'a' })).map(({ seq }) => seq)).toEqual([1, 2, 4]);
      expect((await log.read({ after: 0, cast: 'b' })).map(({ seq }) => seq)).toEqual([3]);
    });

    test('a query that names several things wants them all', async () => {
      await add(started('a', {}), dropped('a'), paused('1', 'a'), paused('2', 'b'), dropped('a'), paused('3', 'a'));
      const seqs = async (query: Parameters<Log['read']>[0]) => (await log.read(query)).map(({ seq }) => seq);
      expect(await seqs({ after: 0, cast: 'a', kindPrefix: 'turn.' })).toEqual([2, 5]);
      expect(await seqs({ after: 0, cast: 'a', kindPrefix: 'turn.', limit: 1 })).toEqual([2]);
      expect(await seqs({ after: 1, cast: 'a', kindPrefix: 'cast.', limit: 1 })).toEqual([3]);
      expect(await seqs({ after: 0, cast: 'a', task: 'T-1' })).toEqual([]);
      await add(moved('T-1', 'r'));
      expect(await seqs({ after: 0, task: 'T-1', kindPrefix: 'task.' })).toEqual([7]);
      expect(await seqs({ after: 0, task: 'T-1', kindPrefix: 'lock.' })).toEqual([]);
    });

    test('the facts of a cast are found in a long log, from any place and in any number', async () => {
      // More than one cast, facts of none between them, and commits of every size: 3,000 facts in all.
      const casts = ['a', 'b', null, 'a', 'c'];
      let next = 0;
      while (next < 3_000) {
        const size = Math.min(3_000 - next, 1 + ((next * 7) % 400));
        const appends = Array.from({ length: size }, (_, index) =>
          ofCast(casts[(next + index) % casts.length] ?? null),
        );
        await log.commit(next, { decide: () => appends });
        next += size;
      }
      await add(paused('late', 'late'));
      const all = (await readAll()).map(({ seq, fact }) => ({ seq, cast: 'cast' in fact ? fact.cast : null }));
      for (const cast of ['a', 'b', 'c', 'late', 'nobody']) {
        const own = all.filter((each) => each.cast === cast).map(({ seq }) => seq);
        for (const after of [0, 1, 1_023, 1_024, 1_025, 2_047, 2_048, 2_500, 3_000, 3_001]) {
          for (const limit of [undefined, 1, 700]) {
            const found = await log.read({ after, cast, ...(limit === undefined ? {} : { limit }) });
            const due = own.filter((seq) => seq > after).slice(0, limit);
            expect(found.map(({ seq }) => seq)).toEqual(due);
          }
        }
      }
    });

    test('the lifecycle is told by the facts about casts themselves', async () => {
      await add(started('a', {}), dropped('a'), paused('1', 'a'));
      await add({ fact: { kind: 'snapshot.taken', through: 3, digest: 'd' }, by: 'test', at: NOON }, paused('2', 'a'));
      expect((await log.read({ after: 0, kindPrefix: 'cast.' })).map(({ seq }) => seq)).toEqual([1, 3, 5]);
      expect((await log.read({ after: 3, kindPrefix: 'cast.' })).map(({ seq }) => seq)).toEqual([5]);
    });

    test('the casts are told in short, oldest first, and by what is asked for', async () => {
      const request = `${LONG}${LONG}`;
      const start = (cast: string) => append({ ...started(cast, {}).fact, request } as Fact);
      await add(start('c-1'), start('c-2'), start('d-1'), paused('x'));
      await add(append({ kind: 'cast.completed', cast: 'c-2' } as Fact));
      await log.commit(0, {
        decide: () => [append({ kind: 'cast.failed', cast: 'd-1', code: 'AGENT_FAILED', reason: LONG } as Fact)],
      });
      const ids = async (query: CastQuery) => (await log.casts(query)).map(({ cast }) => cast);
      expect(await ids({})).toEqual(['c-1', 'c-2', 'd-1']);
      expect(await ids({ limit: 2 })).toEqual(['c-2', 'd-1']);
      expect(await ids({ limit: 0 })).toEqual([]);
      expect(await ids({ cast: 'c-1' })).toEqual(['c-1']);
      expect(await ids({ cast: 'c' })).toEqual([]);
      expect(await ids({ prefix: 'c' })).toEqual(['c-1', 'c-2']);
      expect(await ids({ isOpen: true })).toEqual(['c-1']);
      expect(await ids({ isOpen: false, limit: 1 })).toEqual(['d-1']);
      expect(await log.castCount()).toBe(3);
      expect((await log.casts({ cast: 'd-1' }))[0]).toMatchObject({
        ...{ status: 'failed', code: 'AGENT_FAILED', reason: LONG, request },
        ...{ startedAt: '2026-01-01T12:00:00.000Z', clock: { elapsedMs: 0, since: null } },
      });
    });

    test('an erased text is gone from the list of casts too', async () => {
      await add(append({ ...started('c', {}).fact, request: LONG } as Fact));
      const digest = `sha256:${createHash('sha256').update(LONG).digest('hex')}`;
      await add(append({ kind: 'blob.erased', digest, from: [1], reason: '' } as Fact));
      expect((await log.casts({}))[0]?.request).toBe('[erased]');
    });

    test('a commit that came to nothing leaves the list of casts as it was', async () => {
      await add(started('c', {}), append({ kind: 'turn.dropped', cast: 'c', turn: 1 } as Fact, ['k']));
      const twice = log.commit(0, {
        decide: () => [started('d', {}), append({ kind: 'turn.dropped', cast: 'd', turn: 1 } as Fact, ['k'])],
      });
      await expect(twice).rejects.toThrow('the key k was used up');
      expect((await log.casts({})).map(({ cast }) => cast)).toEqual(['c']);
    });

    test('what is stored is there as evidence, as it is stored', async () => {
      await add(paused(LONG), append({ kind: 'task.moved', run: 'r', task: 'T-1' } as unknown as Fact));
      const evidence = await log.evidence();
      const lines = (await storedLines()).map(({ line }) => line);
      const rows = await evidence.rows({ after: 0 });
      expect(rows.map(([seq, kind, , task, line]) => [seq, kind, task, line])).toEqual([
        [1, 'cast.paused', null, lines[0]],
        [2, 'task.moved', 'T-1', lines[1]],
      ]);
      const seqs = async (query: Omit<RowQuery, 'after'>) =>
        (await evidence.rows({ after: 0, ...query })).map(([seq]) => seq);
      expect(await seqs({ kinds: ['task.moved'] })).toEqual([2]);
      expect(await seqs({ kindPrefix: 'cast.' })).toEqual([1]);
      expect(await seqs({ cast: 'r' })).toEqual([2]);
      expect(await seqs({ holds: '"run":"r"' })).toEqual([2]);
      expect(await seqs({ limit: 1 })).toEqual([1]);
      expect([...(await evidence.textsOf(1)).values()]).toEqual([LONG]);
      expect((await evidence.texts(0, 10)).map(([id, , text]) => [id, text])).toEqual([[2 ** 20, LONG]]);
      expect((await evidence.textPlaces(0, 10)).map(([id, , bytes]) => [id, bytes])).toEqual([[2 ** 20, LONG.length]]);
      expect(await evidence.texts(2 ** 20, 10)).toEqual([]);
      expect([await evidence.changedLayout(), await evidence.faults()]).toEqual([null, []]);
      await evidence.close();
    });

    test('whoever is alone with the log reads it, and nobody appends meanwhile', async () => {
      await add(paused('a'));
      let isAlone = true;
      const reading = log.alone(async (held) => {
        const { seq } = await held.head();
        await new Promise((done) => setTimeout(done, 20));
        expect((await held.head()).seq).toBe(seq);
        isAlone = false;
        return seq;
      });
      expect(await reading).toBe(1);
      await log.commit(0, {
        decide: () => {
          expect(isAlone).toBe(false);
          return [paused('b')];
        },
      });
      expect((await log.head()).seq).toBe(2);
    });

    test('a key is used up by the fact it comes with, and stands in its line in the order of texts', async () => {
      await add(paused('none'));
      const written = await add(
        { ...paused('a'), once: ['delta:2', 'delta:10', 'é'] },
        paused('b'),
        withKeys('c', 'x'),
      );
      expect(written.map(({ once }) => once)).toEqual([['delta:10', 'delta:2', 'é'], undefined, ['x']]);
      expect(await readAll()).toEqual([...(await log.read({ after: 0, limit: 1 })), ...written]);
      const lines = (await storedLines()).map(({ line }) => (JSON.parse(line) as { once?: string[] }).once);
      expect(lines).toEqual([undefined, ['delta:10', 'delta:2', 'é'], undefined, ['x']]);
      await expectWhole();
    });

    test('no keys are not written at all', async () => {
      const [written] = await add(withKeys('a'));
      expect(Object.keys(written ?? {})).not.toContain('once');
      expect((await storedLines())[0]?.line).not.toContain('once');
    });

    test('the decision learns who used a key, the newest entries of others included, but not what it is about to append', async () => {
      const other = bed.open();
      await add(withKeys('a', 'k1'));
      await other.commit(1, { decide: () => [paused('b'), withKeys('c', 'k2', 'k3')] });
      const seen: (number | null)[] = [];
      const keys = ['k1', 'k2', 'k3', 'k4', 'K1', '', 'k'];
      await log.commit(1, {
        wanted: () => ({ once: keys, leases: [] }),
        decide: (_, found) => {
          seen.push(...keys.map(found.once));
          return [withKeys('d', 'k4')];
        },
      });
      expect(seen).toEqual([1, 3, 3, null, null, null, null]);
      expect(await usedBy('k4', 4)).toBe(4);
      await other.close();
    });

    test.each<[string, () => Append[]]>([
      ['in the log', () => [paused('x'), withKeys('y', 'new', 'used')]],
      ['in the same commit', () => [withKeys('x', 'new'), withKeys('y', 'new')]],
      ['in the same fact', () => [withKeys('x', 'new', 'new')]],
    ])('a key that is used already, %s, is refused, and the log stays as it was', async (_, decide) => {
      await add(withKeys('a', 'used'));
      const head = await log.head();
      const refusal = log.commit(1, { decide });
      await expect(refusal).rejects.toThrow(/^the key (?:used|new) was used up by entry \d$/);
      await expect(refusal).rejects.not.toBeInstanceOf(StorageError);
      expect(await log.head()).toEqual(head);
      await add(withKeys('b', 'new'));
      expect((await readAll()).map(({ seq, once }) => [seq, once])).toEqual([
        [1, ['used']],
        [2, ['new']],
      ]);
      await expectWhole();
    });

    test.each(['', '12', 'null', '__proto__', "it's", '\u0000a', '😀', 'x'.repeat(1_000), '"\\'])(
      'a key may be %j',
      async (key) => {
        await add(withKeys('a', key));
        expect((await readAll())[0]?.once).toEqual([key]);
        await expect(add(withKeys('b', key))).rejects.toThrow('was used up');
        expect(await usedBy(key, 1)).toBe(1);
        await expectWhole();
      },
    );

    test('half a character in a key counts as the one that replaces it', async () => {
      await add(withKeys('a', 'k\ud800'));
      expect((await readAll())[0]?.once).toEqual(['k\ufffd']);
      await expect(add(withKeys('b', 'k\udfff'))).rejects.toThrow('was used up');
      await expectWhole();
    });

    test('of several who race for one key, one gets it', async () => {
      const racers = ['a', 'b', 'c', 'd'].map((who) => ({ who, log: bed.open() }));
      const won = await Promise.all(
        racers.map(({ who, log: own }) =>
          own.commit(0, {
            wanted: () => ({ once: ['prize'], leases: [] }),
            decide: (_, found) => (found.once('prize') === null ? [withKeys(who, 'prize')] : []),
          }),
        ),
      );
      expect(won.filter((entries) => entries.length === 1)).toHaveLength(1);
      expect(await readAll()).toHaveLength(1);
      for (const racer of racers) await racer.log.close();
    });

    test('a watcher is called when somebody else appends, and no more once it stops', async () => {
      const other = bed.open();
      let calls = 0;
      const stop = log.watch(() => calls++);
      await other.commit(0, { decide: () => [paused('a')] });
      await expect.poll(() => calls, { timeout: 20_000 }).toBeGreaterThan(0);
      expect((await readAll()).map(reasonOf)).toEqual(['a']);
      stop();
      const before = calls;
      await other.commit(0, { decide: () => [paused('b')] });
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(calls).toBe(before);
      stop();
      await other.close();
    });

    test('a lease is looked at and changed in one step', async () => {
      expect(await log.lease('cast:c', (held) => held)).toBeNull();
      const takers = ['a', 'b', 'c', 'd'].map((who) => ({ who, log: bed.open() }));
      const held = await Promise.all(takers.map(({ who, log: own }) => own.lease('cast:c', (now) => now ?? who)));
      expect(new Set(held).size).toBe(1);
      expect(await log.lease('cast:c', (now) => now)).toBe(held[0]);
      expect(await log.lease('other', (now) => now)).toBeNull();
      await expect(
        log.lease('cast:c', () => {
          throw new Error('no');
        }),
      ).rejects.toThrow('no');
      expect(await log.lease('cast:c', (now) => now)).toBe(held[0]);
      expect(await log.lease('cast:c', () => null)).toBeNull();
      expect(await log.lease('cast:c', (now) => now)).toBeNull();
      for (const taker of takers) await taker.log.close();
    });

    test('several leases are looked at and changed in one step, or not at all', async () => {
      await log.lease('a', () => '1');
      const seen: (string | null)[] = [];
      await log.changeLeases(['a', 'b'], (held) => {
        seen.push(held('a'), held('b'));
        return [
          { name: 'a', value: null },
          { name: 'b', value: '2' },
        ];
      });
      expect(seen).toEqual(['1', null]);
      expect(await log.leases('')).toEqual([{ name: 'b', value: '2' }]);
      const broken = log.changeLeases([], () => {
        throw new Error('no');
      });
      await expect(broken).rejects.toThrow('no');
      expect(await log.leases('')).toEqual([{ name: 'b', value: '2' }]);
    });

    test('leases are listed by how their names begin', async () => {
      for (const name of ['beat:2', 'beat:10', 'beat', 'beat:', 'cast:c', 'beau', 'Beat:1', 'beat:é😀'])
        await log.lease(name, () => `of ${name}`);
      await log.lease('beat:2', () => null);
      const names = async (prefix: string) => (await log.leases(prefix)).map(({ name }) => name);
      expect(await names('beat:')).toEqual(['beat:', 'beat:10', 'beat:é😀']);
      expect(await names('x')).toEqual([]);
      expect(await names('%')).toEqual([]);
      expect(await names('')).toHaveLength(7);
      expect(await log.leases('cast:')).toEqual([{ name: 'cast:c', value: 'of cast:c' }]);
    });

    test('leases are changed together with a fact, or not at all', async () => {
      await log.lease('b', () => 'old');
      const leases = [
        { name: 'a', value: '1' },
        { name: 'b', value: null },
        { name: 'a', value: '2' },
      ];
      await log.commit(0, { decide: () => [{ ...paused('x'), leases }] });
      expect([await log.lease('a', (now) => now), await log.lease('b', (now) => now)]).toEqual(['2', null]);
      const failing = [
        { ...paused('y'), leases: [{ name: 'a', value: '3' }] },
        { ...paused('z'), at: Number.NaN },
      ];
      await expect(log.commit(1, { decide: () => failing })).rejects.toThrow();
      expect(await log.lease('a', (now) => now)).toBe('2');
      await expectWhole();
    });

    test('a decision sees the leases as they stand, whoever changed them last', async () => {
      const other = bed.open();
      await log.lease('fence:1', () => 'mine');
      await other.lease('fence:1', () => 'theirs');
      const seen: (string | null)[] = [];
      await log.commit(0, {
        wanted: () => ({ once: [], leases: ['fence:1', 'fence:2'] }),
        decide: (_, { lease }) => {
          seen.push(lease('fence:1'), lease('fence:2'));
          return [];
        },
      });
      expect(seen).toEqual(['theirs', null]);
      await other.close();
    });

    test('a lease is no fact', async () => {
      await log.lease('cast:c', () => 'me');
      expect(await log.head()).toEqual({ seq: 0, hash: '0'.repeat(64) });
    });

    test('the newest snapshot is kept; none of them is part of the chain', async () => {
      await add(paused('a'), paused('b'));
      const head = await log.head();
      await log.saveSnapshot({ through: 1, digest: 'd1', body: '{}' });
      await log.saveSnapshot({ through: 2, digest: 'd2', body: LONG });
      expect(await log.snapshot()).toEqual({ through: 2, digest: 'd2', body: LONG });
      await log.saveSnapshot({ through: 2, digest: 'd3', body: '[]' });
      await log.saveSnapshot({ through: 1, digest: 'late', body: '{}' });
      expect(await log.snapshot()).toEqual({ through: 2, digest: 'd3', body: '[]' });
      expect(await log.head()).toEqual(head);
    });

    test('the parts of a snapshot stay as long as something names them', async () => {
      const part = (body: string, ...children: string[]) => ({ body, children });
      const root = (through: number) => ({ through, digest: `d${through}`, body: `{"n":${through}}` });
      const first = new Map([
        ['p', part('P', 'q')],
        ['q', part('Q')],
        ['r', part('R')],
      ]);
      await log.saveSnapshot(root(1), { children: ['p', 'r'], parts: first });
      // What was not read is not given again.
      await log.saveSnapshot(root(2), { children: ['p', 's'], parts: new Map([['s', part('S')]]) });
      expect(['p', 'q', 'r', 's'].map((digest) => log.snapshotPart(digest))).toEqual(['P', 'Q', null, 'S']);
      await expect(log.saveSnapshot(root(3), { children: ['r'], parts: new Map() })).rejects.toThrow('not there');
      expect(await log.snapshot()).toEqual(root(2));
      await log.saveSnapshot(root(4));
      expect(['p', 'q', 's'].map((digest) => log.snapshotPart(digest))).toEqual([null, null, null]);
    });

    test('an erased text is gone from the parts of a snapshot', async () => {
      const text = `personal ${'x'.repeat(300)}`;
      await add(started('a', { text }));
      const parts = new Map([['p', { body: JSON.stringify({ text }), children: [] }]]);
      await log.saveSnapshot({ through: 1, digest: 'd', body: '{}' }, { children: ['p'], parts });
      const digest = `sha256:${createHash('sha256').update(text).digest('hex')}`;
      await add({ fact: { kind: 'blob.erased', digest, from: [1], reason: 'asked for' }, by: 'test', at: NOON });
      expect(await log.snapshot()).toBeNull();
      expect(log.snapshotPart('p')).toBeNull();
    });

    test('an erased text is gone from the entries that are named, and their lines stay as they were', async () => {
      const text = `personal ${'x'.repeat(300)}`;
      await add(started('a', { text, other: LONG }), started('b', { text }), started('c', { text, twice: [text] }));
      await log.saveSnapshot({ through: 1, digest: 'd', body: JSON.stringify({ text: `"${text}` }) });
      const lines = await storedLines();
      const digest = `sha256:${createHash('sha256').update(text).digest('hex')}`;
      await add({ fact: { kind: 'blob.erased', digest, from: [1, 3, 99], reason: 'asked for' }, by: 'test', at: NOON });
      const entries = await readAll();
      expect(entries.slice(0, 3).map(dataOf)).toEqual([
        { text: '[erased]', other: LONG },
        { text },
        { text: '[erased]', twice: ['[erased]'] },
      ]);
      expect((await storedLines()).slice(0, 3)).toEqual(lines);
      expect(await log.snapshot()).toBeNull();
      await expectWhole();
    });

    test('closing twice does no harm', async () => {
      await log.close();
      await expect(log.close()).resolves.toBeUndefined();
    });
  });
}

function paused(reason: string, cast = 'c'): Append {
  return { fact: { kind: 'cast.paused', cast, reason }, by: 'test', at: NOON };
}

function append(fact: Fact, once?: readonly string[]): Append {
  return { fact, by: 'test', at: NOON, ...(once ? { once } : {}) };
}

function withKeys(reason: string, ...once: string[]): Append {
  return { ...paused(reason), once };
}

function moved(task: string, run: string): Append {
  return { fact: { kind: 'task.moved', run, task } as unknown as Fact, by: 'test', at: NOON };
}

function ofCast(cast: string | null): Append {
  return cast === null ? moved('T-1', 'r') : dropped(cast);
}

function dropped(cast: string): Append {
  return { fact: { kind: 'turn.dropped', cast, turn: 1 }, by: 'test', at: NOON };
}

/** The fact that can hold any JSON: as the data a cast begins with. */
function started(cast: string, data: JsonObject): Append {
  const fact = { kind: 'cast.started', cast, request: '', loadout: '', rules: {}, script: null, data };
  return { fact: fact as unknown as Fact, by: 'test', at: NOON };
}

function reasonOf({ fact }: Entry): string {
  return 'reason' in fact ? fact.reason : '';
}

function dataOf(entry: Entry | undefined): JsonObject {
  if (entry?.fact.kind !== 'cast.started') throw new Error('this fact holds no data');
  return entry.fact.data;
}

function nested(levels: number): Json {
  return levels === 0 ? 'bottom' : [nested(levels - 1)];
}

/** With members in one order, own prototypes included, so that texts can be compared. */
function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const pairs = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return pairs.map(([key, member]) => [key, sorted(member)]);
}
