import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, afterEach, expect, test } from 'vitest';
import { makeKey } from '../agents/process/attempt-folder.ts';
import { HAS_PROC, ownIdentity } from '../agents/process/process-identity.ts';
import { agentCalling, inodesIn, isAgentAt } from './server-callers.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 500);
const CONNECT = 'require("net").connect(Number(process.argv[1]), "127.0.0.1")';
const folder = mkdtempSync(join(tmpdir(), 'baton-peer-'));
const own = join(folder, 'attempts/c-1.1');
mkdirSync(own, { recursive: true });
writeFileSync(join(own, 'claim'), JSON.stringify({ by: 'supervisor', ...ownIdentity() }));
const key = makeKey(own);
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let child: ChildProcess | null = null;
afterEach(() => void child?.kill('SIGKILL'));

test.skipIf(!HAS_PROC).each([
  ['a process of nobody', {}, false],
  ['a process of an attempt', { BATON_ATTEMPT: '1.1' }, true],
])('%s calls: an agent is at the other end: %s', async (_what, env, isAgent) => {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  child = spawn(process.execPath, ['-e', CONNECT, String(port)], { env: { PATH: process.env.PATH, ...env } });
  const [socket] = (await once(server, 'connection')) as [Socket];
  try {
    expect(isAgentAt(socket)).toBe(isAgent);
    // Only the attempt itself may show its token.
    const shown = await agentCalling({ stateDir: folder, castOf: async () => null }, key, socket);
    expect('allow' in shown && shown.code).toBe(isAgent ? 'APPROVER_IS_AGENT' : 'STALE_ATTEMPT');
  } finally {
    socket.destroy();
    server.close();
  }
});

const LINE =
  '   1: 0100007F:1F90 0100007F:A001 01 00000000:00000000 00:00000000 00000000  1000        0 4242 1 0000000000000000';

test.each([
  [0x1f90, 0xa001, ['4242']],
  [0xa001, 0x1f90, []],
  [0x1f90, 1, []],
])('from %s to %s lead %s', (from, to, inodes) => {
  expect(inodesIn(`  sl  local_address rem_address\n${LINE}\n`, from, to)).toEqual(inodes);
});

test('of any table, those rows are found that lead from the one port to the other', () => {
  const port = fc.constantFrom(1, 80, 0x1f90, 65_535);
  const row = fc.record({ from: port, to: port, inode: fc.nat(9) });
  const junk = fc.string({ maxLength: 40 }).map((text) => text.replaceAll(/[\n:]/g, ' '));
  const hex = (number: number) => number.toString(16).toUpperCase().padStart(4, '0');
  const written = ({ from, to, inode }: { from: number; to: number; inode: number }) =>
    LINE.replace('1F90', hex(from)).replace('A001', hex(to)).replace('4242', String(inode));
  fc.assert(
    fc.property(fc.array(fc.tuple(junk, row)), port, port, (rows, from, to) => {
      const table = rows.map(([text, one]) => `${text}\n${written(one)}`).join('\n');
      const meant = rows.map(([, one]) => one).filter((one) => one.from === from && one.to === to && one.inode !== 0);
      expect(inodesIn(table, from, to)).toEqual(meant.map(({ inode }) => String(inode)));
    }),
    { numRuns: RUNS },
  );
});
