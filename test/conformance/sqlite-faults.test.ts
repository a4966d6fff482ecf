// What happens when the file, the folder or the disk is not as it should be: one line that says what to do, nothing
// lost, and work goes on once it is mended.
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Append, StorageError } from '../../src/engine/ports.ts';
import { SqliteLog } from '../../src/log/sqlite/log.ts';
import { logFileIn } from '../../src/log/sqlite/open.ts';
import { faultsOf } from './chain.ts';
import { startProgram } from './program.ts';

const WRITER = fileURLToPath(new URL('./writer.ts', import.meta.url));
vi.setConfig({ testTimeout: 120_000 });

const IS_ROOT = process.getuid?.() === 0;
/** Root may write everywhere, so that it has to become somebody else to be refused. */
const NOBODY = IS_ROOT ? '65534' : '';

let folder = '';
let file = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-fault-'));
  chmodSync(folder, 0o755);
  file = logFileIn(join(folder, 'state'));
});

afterEach(() => {
  execFileSync('chmod', ['-R', 'u+rwx', folder]);
  rmSync(folder, { recursive: true, force: true });
});

function fact(reason: string): Append {
  return { fact: { kind: 'cast.paused', cast: 'c', reason }, by: 'test', at: Date.now() };
}

async function write(...reasons: string[]): Promise<void> {
  const log = new SqliteLog(file);
  await log.commit(0, { decide: () => reasons.map(fact) });
  await log.close();
}

async function faultOf(work: () => unknown): Promise<{ code: string; message: string }> {
  try {
    await work();
  } catch (error) {
    expect(error).toBeInstanceOf(StorageError);
    return { code: (error as StorageError).code, message: (error as StorageError).message };
  }
  throw new Error('nothing was wrong');
}

const open = () => new SqliteLog(file);

test('a log of a newer version is left alone', async () => {
  await write('a');
  const db = new DatabaseSync(file);
  db.exec('PRAGMA user_version = 3');
  db.close();
  const before = readFileSync(file);
  const { code, message } = await faultOf(open);
  expect(code).toBe('NEWER_LOG');
  expect(message).toBe(`${file} was written by a newer version of baton; install that version, nothing was changed`);
  expect(readFileSync(file).equals(before)).toBe(true);
  expect(existsSync(`${file}-wal`)).toBe(false);
});

test('an entry of a newer version is not misread', async () => {
  await write('a');
  const db = new DatabaseSync(file);
  db.exec(`UPDATE facts SET line = replace(line, '"v":1', '"v":2')`);
  db.close();
  const log = open();
  expect((await faultOf(() => log.read({ after: 0 }))).code).toBe('NEWER_LOG');
  expect((await faultOf(() => log.commit(0, { decide: () => [fact('b')] }))).code).toBe('NEWER_LOG');
  expect(await log.lines(1, 10)).toEqual([]);
  await log.close();
});

const restore = 'the file is damaged; restore it from a copy';

test.each<[string, () => Promise<void> | void, RegExp | string]>([
  ['a file in place of the folder', () => writeFileSync(dirname(file), ''), 'must be a folder; move the file away'],
  [
    'a file in place of a folder above',
    () => {
      file = join(file, 'state', 'log.sqlite');
      writeFile(dirname(dirname(file)), '');
    },
    'must be a folder; move the file away',
  ],
  [
    'a folder in place of the file',
    () => void mkdirSync(file, { recursive: true }),
    'it is not a plain file; move it away, or point BATON_HOME elsewhere',
  ],
  [
    'something else in the file',
    () => writeFile(file, 'not a database at all, but long enough to look at '.repeat(100)),
    restore,
  ],
  [
    'a header and then nothing',
    async () => {
      await write('a');
      writeFile(file, readFileSync(file).subarray(0, 50));
    },
    restore,
  ],
])('%s', async (_, spoil, way) => {
  await spoil();
  const { code, message } = await faultOf(open);
  expect(code).toBe('STORAGE_FAILED');
  expect(message).toMatch(way);
  expect(message.startsWith(`${file}: `)).toBe(true);
  expect(message).not.toContain('\n');
});

test('pages that were overwritten are told as damage, not as an internal fault', async () => {
  await write(...Array.from({ length: 400 }, (_, n) => `${n} ${'text '.repeat(40)}`));
  const bytes = readFileSync(file);
  bytes.fill(0xaa, 4096 * 3);
  writeFileSync(file, bytes);
  const { code, message } = await faultOf(async () => {
    const log = open();
    try {
      await log.read({ after: 0 });
    } finally {
      await log.close();
    }
  });
  expect(code).toBe('STORAGE_FAILED');
  expect(message).toContain(restore);
});

test('a line that is no JSON any more is told by its number', async () => {
  await write('a', 'b', 'c');
  const db = new DatabaseSync(file);
  // Valid for SQLite, which takes names without quotes.
  db.exec(`UPDATE facts SET line = replace(line, '"by"', 'by') WHERE seq = 2`);
  db.close();
  const log = open();
  expect(await faultOf(() => log.read({ after: 0 }))).toEqual({
    code: 'STORAGE_FAILED',
    message: `${file}: entry 2 cannot be read; ${restore}`,
  });
  await log.close();
});

test('a line that is gone is told by its number when its cast is read', async () => {
  await write(...Array.from({ length: 1_100 }, (_, n) => `${n}`));
  const db = new DatabaseSync(file);
  db.exec('DELETE FROM facts WHERE seq = 500');
  db.close();
  const log = open();
  expect(await faultOf(() => log.read({ after: 0, cast: 'c' }))).toEqual({
    code: 'STORAGE_FAILED',
    message: `${file}: entry 500 cannot be read; ${restore}`,
  });
  await log.close();
});

test('the first fact that is missing since the newest snapshot is told by its number', async () => {
  await write(...Array.from({ length: 30 }, (_, n) => `${n}`));
  const log = open();
  const drop = (...seqs: readonly number[]) => {
    const db = new DatabaseSync(file);
    db.exec(`DELETE FROM facts WHERE seq IN (${seqs.join(', ')})`);
    db.close();
  };
  expect(await log.firstGap()).toBeNull();
  drop(20, 25);
  expect(await log.firstGap()).toBe(20);
  await log.saveSnapshot({ through: 20, digest: 'd', body: '{}' });
  expect(await log.firstGap()).toBe(25);
  await log.saveSnapshot({ through: 27, digest: 'd', body: '{}' });
  expect(await log.firstGap()).toBeNull();
  drop(28);
  expect(await log.firstGap()).toBe(28);
  await log.saveSnapshot({ through: 30, digest: 'd', body: '{}' });
  expect(await log.firstGap()).toBeNull();
  await log.close();
});

test('a throw of who decides stays what it was', async () => {
  const log = open();
  const mine = Object.assign(new TypeError('mine'), { code: 'ERR_INVALID_ARG_TYPE' });
  await expect(
    log.commit(0, {
      decide: () => {
        throw mine;
      },
    }),
  ).rejects.toBe(mine);
  await log.close();
});

test.each<[string, () => Promise<void> | void]>([
  ['a folder that may not be written', () => void mkdirSync(dirname(file), { mode: 0o555 })],
  ['a folder that may not be entered', () => void mkdirSync(dirname(file), { mode: 0o000 })],
  ['a folder that may not be made', () => chmodSync(folder, 0o555)],
  [
    'a log that may only be read',
    async () => {
      await write('a');
      chmodSync(file, 0o444);
      chmodSync(dirname(file), 0o555);
    },
  ],
])('%s', async (_, spoil) => {
  await spoil();
  const program = startProgram(WRITER, [file, 'open', NOBODY]);
  await program.ended;
  expect(program.complaints()).toBe('');
  expect(program.said).toHaveLength(1);
  expect(program.said[0]).toMatch(/^StorageError STORAGE_FAILED: /);
  expect(program.said[0]).toContain(`make ${dirname(file)} writable for you, or point BATON_HOME elsewhere`);
});

test('a file that may not grow any more: all that was answered is there, and it goes on afterwards', async () => {
  // The shell's limit on the size of files, in blocks of 1,024 bytes.
  const wrapper = ['bash', '-c', 'ulimit -f 400; exec "$@"', 'bash'];
  const program = startProgram(WRITER, [file, 'fill', 'writer', '1000'], wrapper);
  await program.hears('ready');
  program.tell('go');
  await program.ended;
  const answered = program.said.filter((line) => /^\d+$/.test(line)).length;
  expect(answered).toBeGreaterThan(5);
  expect(program.said).toContainEqual(expect.stringMatching(/^StorageError STORAGE_FAILED: .*; .*try again/));
  expect(program.said).toContain(`readable: ${answered}`);
  const log = open();
  await log.commit(0, { decide: () => [fact('again')] });
  const lines = await log.lines(0, 10_000);
  expect(faultsOf(lines)).toEqual([]);
  expect(lines).toHaveLength(answered + 1);
  await log.close();
});

test.skipIf(!IS_ROOT)(
  'a full disk: nothing is lost, and the same opening works again when there is room (needs root to make a small disk)',
  async () => {
    mkdirSync(dirname(file));
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', dirname(file)]);
    try {
      const filler = join(dirname(file), 'filler');
      writeFileSync(filler, Buffer.alloc(500_000));
      const log = open();
      let answered = 0;
      const { code, message } = await faultOf(async () => {
        for (;;) {
          await log.commit(0, { decide: () => [fact(`${answered} ${'text '.repeat(2_000)}`), fact('beside it')] });
          answered += 2;
        }
      });
      expect(code).toBe('STORAGE_FAILED');
      expect(message).toMatch(/; free some disk space and try again, nothing was lost$/);
      expect(answered).toBeGreaterThan(0);
      expect(await log.read({ after: 0 })).toHaveLength(answered);
      expect((await log.head()).seq).toBe(answered);
      expect((await faultOf(() => log.commit(0, { decide: () => [fact('text '.repeat(2_000))] }))).code).toBe(
        'STORAGE_FAILED',
      );
      rmSync(filler);
      await log.commit(0, { decide: () => [fact('again')] });
      const lines = await log.lines(0, 10_000);
      expect(faultsOf(lines)).toEqual([]);
      expect(lines).toHaveLength(answered + 1);
      await log.close();
    } finally {
      execFileSync('umount', ['-l', dirname(file)]);
    }
  },
);

function writeFile(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}
