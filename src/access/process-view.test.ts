// How the system tells about processes: in `/proc`, and by `ps` on macOS.
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { HAS_PROC } from '../agents/process/process-identity.ts';
import {
  isFromOlderTerminal,
  isReaper,
  processFromProc,
  processView,
  pseudoTerminal,
  viewOfPs,
} from './terminal-origin.ts';

test.each([
  ['/usr/lib/systemd/systemd\0--user\0', true],
  ['systemd\0--log-level=info\0--user\0', true],
  ['/usr/lib/systemd/systemd\0--system\0', false],
  ['/bin/sh\0-c\0systemd --user\0', false],
  ['', false],
])('%j takes up what others leave behind: %s', (command, is) => {
  expect(isReaper(command)).toBe(is);
});

const STAT = '7 (a) b) S 3 7 5 34819 7 0 0 0 0 0 0 0 0 0 20 0 1 0 4242 0 0';

test('a line of /proc is read, whatever the program is called', () => {
  expect(processFromProc(7, STAT, 'Name:\ta\nUid:\t1000\t0\t0\t0\n')).toEqual({
    ...{ pid: 7, ppid: 3, uid: 0, name: 'a) b', session: 5, terminal: '34819', start: 4242 },
  });
  expect(processFromProc(7, STAT.replace('34819', '0'), 'Uid:\t1\t1\t1\t1\n')?.terminal).toBeNull();
  expect(processFromProc(7, '', '')).toBeNull();
});

test.each([
  ['34819', 3],
  ['34816', 0],
  ['1083400', 264],
  ['1025', null],
  ['0', null],
])('device %s is the pseudo-terminal %s', (device, index) => {
  expect(pseudoTerminal(device)).toBe(index);
});

test.runIf(HAS_PROC && spawnSync('script', ['--version']).status === 0)(
  'the program that made a pseudo-terminal holds it, and its shell does not',
  () => {
    const view = processView();
    const code = `const v = (await import(${JSON.stringify(import.meta.resolve('./terminal-origin.ts'))})).processView();
const own = v.process(process.pid);
let at = own; const held = [];
while (at && at.pid > 1 && held.length < 4) { held.push([at.name, v.holdsTerminal(at.pid, own.terminal)]); at = v.process(at.ppid); }
console.log(JSON.stringify(held));`;
    const node = `${process.execPath} --disable-warning=ExperimentalWarning --input-type=module -e '${code.replaceAll("'", '"')}'`;
    const { stdout } = spawnSync('script', ['-qec', node, '/dev/null'], { encoding: 'utf8' });
    const held = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as [string, boolean | null][];
    expect(held.find(([name]) => name === 'script')?.[1]).toBe(true);
    expect(held[0]?.[1]).toBe(false);
    expect(view.process(1)?.isReaper).toBe(true);
    expect(view.process(0)).toBeNull();
  },
);

/** What `ps -A -o pid= -o ppid= -o uid= -o tty= -o lstart= -o comm=` prints on macOS. */
const MACOS = `    1     0     0 ??       Mon Jun  1 08:00:00 2026     /sbin/launchd
  400     1   501 ??       Mon Jun  1 08:10:00 2026     /System/Applications/Utilities/Terminal.app/Contents/MacOS/Terminal
  410   400     0 ttys000  Mon Jun  1 12:00:00 2026     login
  411   410   501 ttys000  Mon Jun  1 12:00:00 2026     -zsh
  412   411   501 ttys000  Mon Jun  1 12:00:05 2026     node
  500     1   501 ??       Mon Jun  1 11:00:00 2026     script
  501   500   501 ttys001  Mon Jun  1 11:00:01 2026     login
  502   501   501 ttys001  Mon Jun  1 11:00:01 2026     node
  600     1     0 ??       Mon Jun  1 12:30:00 2026     sshd: ann [priv]
  601   600   501 ??       Mon Jun  1 12:30:00 2026     sshd: ann@ttys002
  602   601   501 ttys002  Mon Jun  1 12:30:01 2026     -zsh
  603   602   501 ttys002  Mon Jun  1 12:31:00 2026     node
`;

test.each([
  ['a new tab of an older terminal', 412, true],
  ['an orphan in `script`, with a `login` of its own', 502, false],
  ['a new ssh login', 603, true],
  ['a process that is gone', 700, false],
])('on macOS %s: %s is a person: %s', (_, pid, is) => {
  const before = Date.parse('2026-06-01T10:00:00Z') / 10;
  const question = { pid, before, needsTerminal: true, isSameNamespace: false };
  expect(isFromOlderTerminal(question, viewOfPs(MACOS))).toBe(is);
});
