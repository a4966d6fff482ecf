// The sandbox of a materia, where people ask for one: the program sees the file system as it is and may change only the
// folder it works in, has a temporary folder of its own, and reaches the network only if its tools may change code. Where
// the sandbox cannot be started the attempt fails; nothing runs outside of one that was asked for.
import { dirname, isAbsolute, join } from 'node:path';
import type { Place } from '../engine/ports.ts';
import type { Materia } from '../kernel/graph/config.ts';

const OWN_SPACES = ['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'];

/** The command that runs `argv` as the materia says: in its sandbox, or as it is where it names none. */
export function confined(
  argv: readonly string[],
  materia: Pick<Materia, 'sandbox'> & { readonly tools?: unknown },
  { cwd, configDir }: Pick<Place, 'cwd' | 'configDir'>,
): readonly string[] {
  if (materia.sandbox !== 'bwrap') return argv;
  const project = dirname(configDir);
  const governing = [...new Set([cwd, project])].flatMap((folder) =>
    ['.baton', '.git'].map((name) => join(folder, name)),
  );
  return [
    ...['bwrap', '--die-with-parent', '--new-session', ...OWN_SPACES],
    ...(materia.tools === 'coding' ? [] : ['--unshare-net']),
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp', '--setenv', 'TMPDIR', '/tmp'],
    // What comes later counts: programs and the project stay readable where they lie in the hidden folder, and the work
    // can be done.
    ...programFolders(argv).flatMap((folder) => ['--ro-bind-try', folder, folder]),
    ...['--ro-bind-try', project, project, '--bind', cwd, cwd],
    ...governing.flatMap((folder) => (isBelow(cwd, folder) ? ['--ro-bind-try', folder, folder] : [])),
    ...['--chdir', cwd, '--', ...argv],
  ];
}

/** Where the program and our own Node lie, if that is in the hidden folder. */
function programFolders([program = '']: readonly string[]): readonly string[] {
  const files = [process.execPath, ...(isAbsolute(program) ? [program] : [])];
  return [...new Set(files.map((file) => dirname(file)))].filter((folder) => folder.startsWith('/tmp/'));
}

/** What governs the agents, and what leads git to its repository, is nobody's to change where they work either. */
function isBelow(folder: string, path: string): boolean {
  return path.startsWith(`${folder}/`);
}
