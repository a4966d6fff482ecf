// The sandbox of a materia, where people ask for one: the program sees the file system as it is, has a temporary folder of
// its own, and may change the folder it works in only if its tools may. The network is there for tools that may change
// something and for programs whose model is behind it. Where the sandbox cannot be started the attempt fails; nothing runs
// outside of one that was asked for.
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Place } from '../engine/ports.ts';
import { PRESENT, runnerCan } from '../kernel/capabilities.ts';
import type { Materia, Tools } from '../kernel/graph/config.ts';
import { fileOf } from './find-file.ts';
import { privateFolders } from './private-folders.ts';

const OWN_SPACES = ['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'];

type Variables = Readonly<Record<string, string | undefined>>;

type Confined = Pick<Materia, 'sandbox'> & { readonly tools?: Tools; readonly runner?: string };

/** Tools that change something, in the names of all programs; a rule such as `Bash(git *)` counts as its tool. */
const WRITING = /^(?:edit|multiedit|write|notebookedit|bash|agent|task|workflow)(?:\(|$)/i;

/**
 * The command that runs `argv` as the materia says: in its sandbox, or as it is where it names none. `env` is the
 * environment of the program; a utility has no folder of its own to be found by it.
 */
export function confined(
  argv: readonly string[],
  materia: Confined,
  { cwd, configDir }: Pick<Place, 'cwd' | 'configDir'>,
  env: Variables = {},
): readonly string[] {
  if (materia.sandbox !== 'bwrap') return argv;
  const project = dirname(configDir);
  const own = privateFolders(materia.runner ?? '', env);
  const around = own.filter(({ folder }) => [project, cwd].some((path) => path === folder || isBelow(folder, path)));
  const governing = [...new Set([cwd, project])].flatMap((folder) =>
    ['.baton', '.git'].map((name) => join(folder, name)),
  );
  return [
    ...['bwrap', '--die-with-parent', '--new-session', ...OWN_SPACES],
    ...(mayWrite(materia) || runnerCan(PRESENT, materia.runner, 'asksProvider') ? [] : ['--unshare-net']),
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp', '--setenv', 'TMPDIR', '/tmp'],
    // What comes later counts: programs and the project stay readable where they lie in the hidden folder, and the work
    // can be done.
    ...programFolders(argv, cwd).flatMap((folder) => ['--ro-bind-try', folder, folder]),
    // A folder of the program's own may lie around the project as well as in it.
    ...around.flatMap(({ mounts }) => mounts),
    ...hiddenTops([project, cwd]).flatMap((folder) => ['--ro-bind-try', folder, folder]),
    ...['--ro-bind-try', project, project, mayWrite(materia) ? '--bind' : '--ro-bind', cwd, cwd],
    ...own.flatMap((one) => (around.includes(one) ? [] : one.mounts)),
    // What governs the agents, and what leads git to its repository, is nobody's to change where they work either.
    ...governing.flatMap((folder) => (isBelow(cwd, folder) ? ['--ro-bind-try', folder, folder] : [])),
    ...['--chdir', cwd, '--', ...argv],
  ];
}

/** A utility names no tools: it is there to do something. Checks that a turn runs write caches. */
function mayWrite({ tools }: Confined): boolean {
  if (tools === undefined || tools === 'coding' || tools === 'readAndRun') return true;
  return typeof tools === 'object' && tools.tools.some((name) => WRITING.test(name));
}

/** Where the program and our own Node lie, if that is in the hidden folder: the links to them, and what they lead to. */
function programFolders([program = '']: readonly string[], cwd: string): readonly string[] {
  const own = fileOf(program, process.env.PATH, cwd);
  const files = [process.execPath, ...(own === null ? [] : [own])];
  const folders = files.flatMap((file) => [dirname(file), installedIn(realpathSync(file))]);
  return [...new Set(folders)].filter((folder) => folder.startsWith('/tmp/'));
}

/** A package needs those beside it too. */
function installedIn(file: string): string {
  const at = file.indexOf('/node_modules/');
  return at === -1 ? dirname(file) : file.slice(0, at + '/node_modules'.length);
}

/** The folders with git's own files above these paths, where they lie in the hidden folder. */
function hiddenTops(paths: readonly string[]): readonly string[] {
  return paths.flatMap((path) => {
    for (let at = dirname(path); at.startsWith('/tmp/'); at = dirname(at))
      if (existsSync(join(at, '.git'))) return [at];
    return [];
  });
}

function isBelow(folder: string, path: string): boolean {
  return path.startsWith(`${folder}/`);
}
