// Before the tests of the page: a browser of the system is found, or installed where that is possible, and the page is built.
// Without a browser the reason is printed and the tests are left out; on a build server that is a failure.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The program of the browser; null where there is none. */
    chromium: string | null;
  }
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

export default function setUp({ provide }: TestProject): void {
  const program = found() ?? installed();
  provide('chromium', program);
  if (program === null) leaveOut('there is no Chromium here, so the page is not tested');
  else build();
}

function found(): string | null {
  for (const name of NAMES) {
    const { stdout } = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' });
    if (stdout?.trim()) return stdout.trim();
  }
  return null;
}

/** Debian's package, where this user may install it. */
function installed(): string | null {
  const hasApt = spawnSync('sh', ['-c', 'command -v apt-get']).status === 0;
  if (process.getuid?.() !== 0 || !hasApt) return null;
  process.stderr.write('Installing chromium for the tests of the page…\n');
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  spawnSync('apt-get', ['update', '-qq'], { env });
  const { status, stderr } = spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'chromium'], {
    env,
    encoding: 'utf8',
  });
  if (status !== 0) process.stderr.write(`apt-get could not install chromium: ${stderr.trim()}\n`);
  return found();
}

function leaveOut(why: string): void {
  if (process.env.CI === 'true') throw new Error(`${why}; install it, for example with: apt-get install chromium`);
  process.stderr.write(`${why}.\n`);
}

/** What is tested is what the sources give now. */
function build(): void {
  const { status, stdout, stderr } = spawnSync('npm', ['run', '--silent', 'build:webui'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`the page could not be built\n${stderr}${stdout}`);
}
