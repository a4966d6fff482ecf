// Who sits at a terminal that is older than the agents, and who only has one. Each row is the way from a command up to the
// first process, as real systems have it. The first attempt started at 100.
import { expect, test } from 'vitest';
import { isFromOlderTerminal, type OriginProcess, type ProcessView } from './terminal-origin.ts';

const FIRST_ATTEMPT = 100;
const USER = 1000;

type Row = {
  readonly name: string;
  readonly start: number;
  readonly uid?: number;
  /** Leads a session of its own. */
  readonly leads?: true;
  readonly terminal?: string;
  readonly holds?: string | 'unseen';
  readonly isReaper?: true;
  readonly isFromOutside?: true;
};

/** The first row is the command; each row is the child of the next one, and the last one of the first process. */
function viewOf(rows: readonly Row[]): ProcessView {
  const processes = rows.map((row, at): OriginProcess => {
    const leader = rows.findIndex((one, index) => index >= at && one.leads === true);
    return {
      pid: 10 + at,
      ppid: row.isFromOutside ? 0 : at + 1 < rows.length ? 11 + at : 1,
      uid: row.uid ?? USER,
      name: row.name,
      session: leader === -1 ? 10 + at : 10 + leader,
      terminal: row.terminal ?? null,
      start: row.start,
      isReaper: row.isReaper === true,
    };
  });
  return {
    process: (pid) => processes.find((one) => one.pid === pid) ?? null,
    holdsTerminal(pid, terminal) {
      const { holds } = rows[pid - 10] ?? {};
      return holds === 'unseen' ? null : holds === terminal;
    },
    logins: ['sshd', 'sshd-session', 'login', 'su'],
  };
}

const t = { terminal: 'T' } as const;
const baton: Row = { name: 'baton', start: 200, ...t };
const shell = (start: number): Row => ({ name: 'bash', start, leads: true, ...t });
const systemd: Row = { name: 'systemd', start: 5, isReaper: true, leads: true };

const PEOPLE: readonly [string, readonly Row[]][] = [
  ['a shell that was open before', [baton, shell(50), { name: 'xterm', start: 49, holds: 'T' }]],
  ['a shell that was open before, whose terminal hides', [baton, shell(50), { name: 'screen', start: 49, uid: 0 }]],
  ['a new tab', [baton, shell(150), { name: 'gnome-terminal-', start: 40, holds: 'T', leads: true }, systemd]],
  ['a new pane of a multiplexer', [baton, shell(150), { name: 'tmux: server', start: 40, holds: 'T', leads: true }]],
  [
    'a new terminal from the desktop',
    [
      baton,
      shell(150),
      { name: 'xterm', start: 149, holds: 'T' },
      { name: 'gnome-shell', start: 20, leads: true },
      systemd,
    ],
  ],
  [
    'a new ssh login',
    [
      baton,
      shell(150),
      { name: 'sshd', start: 149, holds: 'unseen' },
      { name: 'sshd', start: 148, uid: 0, leads: true },
    ],
  ],
  [
    'a new ssh login of root',
    [
      { ...baton, uid: 0 },
      { ...shell(150), uid: 0 },
      { name: 'sshd-session', start: 149, uid: 0, holds: 'T', leads: true },
      { name: 'sshd', start: 9, uid: 0, leads: true },
    ],
  ],
  [
    'a login at the console',
    [baton, { name: 'bash', start: 150, ...t }, { name: 'login', start: 149, uid: 0, leads: true, ...t }],
  ],
  [
    'a new terminal after `su`',
    [
      baton,
      { name: 'bash', start: 160, ...t },
      { name: 'su', start: 155, uid: 0, ...t },
      shell(150),
      { name: 'kitty', start: 149, holds: 'T' },
      systemd,
    ],
  ],
  [
    '`script` in an older terminal',
    [
      { ...baton, terminal: 'U' },
      { name: 'sh', start: 170, leads: true, terminal: 'U' },
      { name: 'script', start: 169, holds: 'U', ...t },
      shell(50),
    ],
  ],
  ['`docker exec -it`', [baton, { ...shell(150), isFromOutside: true }]],
];

const OTHERS: readonly [string, readonly Row[]][] = [
  [
    'an orphan',
    [
      { name: 'baton', start: 200 },
      { name: 'sh', start: 150, leads: true },
    ],
  ],
  [
    'an orphan that the login took up',
    [{ name: 'baton', start: 200 }, { name: 'sh', start: 150, leads: true }, systemd],
  ],
  ['an orphan in `script`', [baton, shell(160), { name: 'script', start: 150, holds: 'T', leads: true }]],
  [
    'an orphan in `script` that the login took up',
    [baton, shell(160), { name: 'script', start: 150, holds: 'T', leads: true }, systemd],
  ],
  ['an orphan that made its own terminal', [baton, { ...shell(150), holds: 'T' }]],
  ['an orphan that an older program took up', [baton, { ...shell(150), holds: 'T' }, { name: 'subreaper', start: 20 }]],
  [
    'a multiplexer that an orphan started',
    [baton, shell(160), { name: 'tmux: server', start: 150, holds: 'T', leads: true }],
  ],
  [
    'a job of `at`',
    [
      baton,
      shell(160),
      { name: 'script', start: 150, holds: 'T' },
      { name: 'atd', start: 149, uid: 0 },
      { name: 'atd', start: 9, uid: 0, leads: true },
    ],
  ],
  [
    'a job of `at` that made its own terminal',
    [
      baton,
      { ...shell(150), holds: 'T' },
      { name: 'atd', start: 149, uid: 0, holds: 'unseen' },
      { name: 'atd', start: 9, uid: 0, leads: true },
    ],
  ],
  [
    'a job of `cron`',
    [
      baton,
      shell(160),
      { name: 'script', start: 150, holds: 'T' },
      { name: 'cron', start: 149, uid: 0 },
      { name: 'cron', start: 9, uid: 0, leads: true },
    ],
  ],
  ['a login program of the agent itself', [baton, shell(160), { name: 'sshd', start: 150, holds: 'T', leads: true }]],
  [
    'a login program above root',
    [
      { ...baton, uid: 0 },
      { ...shell(160), uid: 0 },
      { name: 'su', start: 150, uid: 0, holds: 'T' },
    ],
  ],
  [
    'an older shell, without a terminal',
    [
      { name: 'baton', start: 200 },
      { name: 'sh', start: 50, leads: true },
    ],
  ],
  ['a detached child of an older terminal', [{ name: 'baton', start: 200, leads: true }, shell(50)]],
];

const ask = (rows: readonly Row[], more: object = {}) =>
  isFromOlderTerminal(
    { pid: 10, before: FIRST_ATTEMPT, needsTerminal: true, isSameNamespace: true, ...more },
    viewOf(rows),
  );

test.each(PEOPLE)('%s is a person', (_, rows) => {
  expect(ask(rows)).toBe(true);
});

test.each(OTHERS)('%s is not taken for a person', (_, rows) => {
  expect(ask(rows)).toBe(false);
});

test('what seems to come from outside proves nothing in another process namespace', () => {
  expect(ask([baton, { ...shell(150), isFromOutside: true }], { isSameNamespace: false })).toBe(false);
});

test('a session without a leader counts where no terminal is needed, in the namespace of the attempts alone', () => {
  const rows: readonly Row[] = [{ name: 'baton', start: 200 }];
  const noLeader = viewOf(rows);
  const view = {
    ...noLeader,
    process: (pid: number) => {
      const one = noLeader.process(pid);
      return one && { ...one, session: 0 };
    },
  };
  const question = { pid: 10, before: FIRST_ATTEMPT, needsTerminal: false, isSameNamespace: true };
  expect(isFromOlderTerminal(question, view)).toBe(true);
  expect(isFromOlderTerminal({ ...question, isSameNamespace: false }, view)).toBe(false);
  expect(isFromOlderTerminal({ ...question, needsTerminal: true }, view)).toBe(false);
});

test('where no terminal is needed, the own session has to be older, and no other', () => {
  const relaxed = { needsTerminal: false };
  expect(
    ask(
      [
        { name: 'baton', start: 200 },
        { name: 'sh', start: 50, leads: true },
      ],
      relaxed,
    ),
  ).toBe(true);
  expect(
    ask(
      [
        { name: 'baton', start: 200 },
        { name: 'sh', start: 150, leads: true },
      ],
      relaxed,
    ),
  ).toBe(false);
  const job = [
    { name: 'baton', start: 200, leads: true },
    { name: 'cron', start: 9, leads: true },
  ] as const;
  expect(ask(job, relaxed)).toBe(false);
});

test('without any attempt a terminal is enough, and where none is needed nothing is', () => {
  const before = Number.POSITIVE_INFINITY;
  expect(ask([baton, shell(150)], { before })).toBe(true);
  // The shell that led its session has ended.
  const view = viewOf([baton, shell(150)]);
  const alone = { ...view, process: (pid: number) => (pid === 11 ? null : view.process(pid)) };
  const question = { pid: 10, before, needsTerminal: true, isSameNamespace: true };
  expect(isFromOlderTerminal(question, alone)).toBe(true);
  expect(ask([{ name: 'baton', start: 200, leads: true }], { before })).toBe(false);
  expect(ask([{ name: 'baton', start: 200, leads: true }], { before, needsTerminal: false })).toBe(true);
});

test('a session that began in the same moment as the first attempt is not older', () => {
  expect(ask([baton, shell(FIRST_ATTEMPT)])).toBe(false);
});
