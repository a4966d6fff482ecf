// Programs that run `baton` in namespaces of their own: under another host name, or with process ids of their own. Only root
// may make them. A machine that cannot is told so in the output, and fails the build where CI is set.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const BATON = fileURLToPath(new URL('../../bin/baton', import.meta.url));

/** Begins a command line that runs `baton` on a host of this name. */
export function onHost(name: string): readonly string[] {
  return ['unshare', '--uts', 'sh', '-c', 'hostname "$0" && exec "$@"', name, BATON];
}

/** Begins a command line that runs `baton` with process ids of its own, with or without a `/proc` that shows them. */
export function inNamespace(hasOwnProc = true): readonly string[] {
  return ['unshare', '--pid', '--fork', '--kill-child', ...(hasOwnProc ? ['--mount-proc'] : []), BATON];
}

/** Why a namespace cannot be made here, or null. */
export function whyNot(...args: readonly string[]): string | null {
  const { status, stderr, error } = spawnSync('unshare', [...args, 'true'], { encoding: 'utf8' });
  if (status === 0) return null;
  const why = `unshare ${args.join(' ')} does not work here: ${error?.message ?? stderr.trim()}`;
  if (process.env.CI === 'true') throw new Error(why);
  console.warn(`skipped: ${why}`);
  return why;
}
