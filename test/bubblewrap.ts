// Whether bubblewrap can confine programs on this machine. Where it cannot, the reason is printed and the tests of the
// sandbox are left out; on a build server that is a failure.
import { spawnSync } from 'node:child_process';

const NEEDED = ['--ro-bind', '/', '/', '--unshare-net', '--unshare-pid', 'true'];

/** Null where it can. */
export function whyNoSandbox(): string | null {
  const { status, error, stderr } = spawnSync('bwrap', NEEDED, { encoding: 'utf8' });
  if (status === 0) return null;
  const why = `bubblewrap cannot run here, so the sandbox is not tested: ${error?.message ?? stderr.trim()}`;
  if (process.env.CI === 'true') throw new Error(`${why}; install it, for example with: apt-get install bubblewrap`);
  process.stderr.write(`${why}\n`);
  return why;
}
