// Makes the pictures of README and docs: `npm run pictures`. Graphs are drawn by `baton graph`; screens are recorded in a real
// terminal, which needs tmux. Each begins from the same project, so that a new run
// differs in times and ids only.
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { BUNDLED_LOADOUTS } from '../src/app/operations/project.ts';
import { terminalPicture } from './terminal-picture.ts';

const CHECKOUT = fileURLToPath(new URL('..', import.meta.url));
const PICTURES = join(CHECKOUT, 'docs', 'pictures');
const BATON = join(CHECKOUT, 'bin', 'baton');
const NODE = dirname(process.execPath);
const ENDED = 'ended-here';

/** The templates and the bundled loadouts whose graphs are drawn. `test/pictures.test.ts` draws them again. */
export const GRAPHS = ['bugfix', 'feature', ...BUNDLED_LOADOUTS] as const;

export const graphFile = (name: string) => join(PICTURES, `graph-${name.toLowerCase()}.svg`);

/** The file of a template is called after the template where it is used. A bundled loadout is drawn by its name. */
export function graphPicture(name: string): string {
  const dir = mkdtempSync(join(tmpdir(), 'baton-graph-'));
  const file = join(dir, `${name}.yaml`);
  const isTemplate = !BUNDLED_LOADOUTS.some((each) => each === name);
  if (isTemplate) cpSync(join(CHECKOUT, 'src/bundled/templates', name, 'loadout.yaml'), file);
  const which = isTemplate ? ['--file', file] : [name];
  try {
    return execFileSync(BATON, ['graph', ...which, '--format', 'svg'], { cwd: dir, encoding: 'utf8' });
  } finally {
    rmSync(dir, { recursive: true });
  }
}

type Screen = {
  readonly title: string;
  readonly columns: number;
  readonly command: string;
  /** Taken while this is on the screen; without it, when the command has ended. */
  readonly until?: RegExp;
};

const SCREENS: Readonly<Record<string, Screen>> = {
  'terminal-demo': { title: 'baton demo', columns: 80, command: 'baton demo' },
  'terminal-lanes': {
    title: 'four items side by side at 80 columns',
    columns: 80,
    command: 'baton cast -l lanes --agents lanes.json "Give each page a search box"',
    until: /(?=[\s\S]*▸ review · 2)(?=[\s\S]*▸ build · 3)/,
  },
  'terminal-lanes-wide': {
    title: 'four items side by side at 160 columns',
    columns: 160,
    command: 'baton cast -l lanes --agents lanes.json "Give each page a search box"',
    until: /(?=[\s\S]*▸ review · 2)(?=[\s\S]*▸ build · 3)/,
  },
  'terminal-mistakes': {
    title: 'mistakes are named with their lines',
    columns: 80,
    command: 'baton check; baton cats; baton cast -l laens "Fix it"',
  },
};

const PAGES = ['Home', 'Prices', 'Help', 'Contact'];
const said = (output: unknown, delayMs: number, write?: Record<string, string>) => ({
  $turn: { output, delayMs, usage: { input: 2_400, output: 310, cost: 0.0118 }, ...(write ? { write } : {}) },
});

const PROJECT: Readonly<Record<string, unknown>> = {
  '.baton/loadouts/lanes.yaml': `steps:
  - plan: { makes: items, prompt: Plan. }
  - each: plan
    parallel: 4
    do:
      - build: { tools: write, prompt: Build. }
      - review: { tools: run, prompt: Review., reject: { to: build, max: 2, then: park } }
  - summary: { prompt: Sum up. }
`,
  'lanes.json': {
    plan: [said({ workItems: PAGES.map((page) => ({ title: `${page}: a search box`, context: page })) }, 300)],
    build: [5_000, 2_500, 9_000, 7_000].map((ms, at) =>
      said('There is a search box.', ms, { [`${PAGES[at]?.toLowerCase()}.html`]: '<search></search>\n' }),
    ),
    review: PAGES.map(() => said({ satisfied: true }, 3_000)),
    summary: [said('Each of the four pages has a search box.', 200)],
  },
};

const SLIP = 'steps:\n  - plan: { makes: items, tols: read }\n  - each: plann\n    do: [build]\n';

async function recorded({ columns, command, until }: Screen, name: string): Promise<string> {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'baton-pictures-')));
  const [dir, home] = [join(top, 'shop'), join(top, 'home')];
  const env = {
    ...{
      PATH: `${join(top, 'bin')}:${join(CHECKOUT, 'bin')}:${NODE}:/usr/bin:/bin`,
      HOME: home,
      TERM: 'screen-256color',
      LANG: 'C.UTF-8',
    },
    ...{ GIT_AUTHOR_NAME: 'You', GIT_AUTHOR_EMAIL: 'you@example.com', PS1: '$ ' },
    ...{ GIT_COMMITTER_NAME: 'You', GIT_COMMITTER_EMAIL: 'you@example.com', ANTHROPIC_API_KEY: 'key' },
  };
  const tmux = (...args: readonly string[]) => execFileSync('tmux', ['-L', name, ...args], { encoding: 'utf8', env });
  try {
    for (const folder of [dir, home]) mkdirSync(folder);
    for (const [file, content] of Object.entries(PROJECT)) put(dir, file, content);
    if (name === 'terminal-mistakes') put(dir, '.baton/loadouts/issues.yaml', SLIP);
    put(top, 'bin/claude', '#!/bin/sh\necho 2.1.0\n');
    chmodSync(join(top, 'bin', 'claude'), 0o755);
    for (const args of [
      ['init', '-q', '-b', 'main'],
      ['add', '-A'],
      ['commit', '-qm', 'begin'],
    ])
      execFileSync('git', args, { cwd: dir, env });
    tmux('-f', '/dev/null', 'new-session', '-d', '-x', String(columns), '-y', '70', '-c', dir, 'bash --norc');
    tmux('set', '-g', 'status', 'off');
    await sleep(1_000);
    tmux('send-keys', `clear; ${command}; printf '${ENDED.replace('-', '-%s')}\\n' ''`, 'Enter');
    for (let waited = 0; waited < 60_000; waited += 200) {
      await sleep(200);
      const plain = tmux('capture-pane', '-p');
      if (until ? until.test(plain) : new RegExp(`^${ENDED}$`, 'm').test(plain)) break;
    }
    const lines = tmux('capture-pane', '-p', '-e').trimEnd().split('\n');
    const end = lines.findIndex((line) => line.includes(ENDED) && !line.includes('printf'));
    const screen = lines.slice(0, end === -1 ? undefined : end).filter((line) => !line.includes('printf'));
    const shown = screen.map((line) => line.replaceAll(top, '~'));
    return [`$ ${command}`, ...shown].join('\n');
  } finally {
    try {
      tmux('kill-server');
    } catch {
      // It has ended already.
    }
    rmSync(top, { recursive: true, force: true, maxRetries: 5 });
  }
}

function put(dir: string, file: string, content: unknown): void {
  const path = join(dir, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(PICTURES, { recursive: true });
  for (const template of GRAPHS) writeFileSync(graphFile(template), graphPicture(template));
  const wanted = process.argv.slice(2);
  for (const [name, screen] of Object.entries(SCREENS)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    writeFileSync(
      join(PICTURES, `${name}.svg`),
      terminalPicture(await recorded(screen, name), screen.columns, screen.title),
    );
    console.log(name);
  }
}
