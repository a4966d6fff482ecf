// Whether a process was started by a server of ours. Only such a server asks for tokens, so only what it started may act
// for the holder of one; what an environment says can be said by anybody.
import { readlinkSync, realpathSync } from 'node:fs';
import { ancestorsOf, commandOf, HAS_PROC } from '../agents/process/process-identity.ts';

/** `program` is the script that this process runs, which must be the server's too. */
export function isServed(pid = process.pid, program = process.argv[1] ?? ''): boolean {
  return ancestorsOf(pid).some((above) => runsOurNode(above.pid) && isServer(commandOf(above.pid), program));
}

/** The nearest `baton mcp` above, listening or not; null for none. */
export function serverAbove(pid = process.pid, program = process.argv[1] ?? ''): number | null {
  const isOurs = (above: number) => runsOurNode(above) && (argsOf(commandOf(above), program)?.includes('mcp') ?? false);
  return ancestorsOf(pid).find((above) => isOurs(above.pid))?.pid ?? null;
}

/** Whether a command line is that of a server that listens. */
export function isServer(command: string, program: string): boolean {
  const args = argsOf(command, program) ?? [];
  return args.includes('mcp') && args.some((word) => word === '--http' || word.startsWith('--http='));
}

/** The arguments of our program in a command line; null for the command line of another program. */
function argsOf(command: string, program: string): readonly string[] | null {
  const [, ...rest] = command.split(command.includes('\0') ? '\0' : ' ');
  const at = rest.findIndex((word) => !word.startsWith('--disable-warning=') && word !== '--no-warnings');
  return at !== -1 && isSameFile(rest[at] ?? '', program) ? rest.slice(at + 1) : null;
}

function runsOurNode(pid: number): boolean {
  if (!HAS_PROC) return true;
  try {
    return readlinkSync(`/proc/${pid}/exe`) === realpathSync(process.execPath);
  } catch {
    return false; // It ended, or is another user's.
  }
}

function isSameFile(one: string, other: string): boolean {
  try {
    return one.startsWith('/') && realpathSync(one) === realpathSync(other);
  } catch {
    return false;
  }
}
