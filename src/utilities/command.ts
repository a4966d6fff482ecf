// Runs one program with an argument list, without a shell and without input, and tells how it ended.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';

export type Ran = {
  readonly ok: boolean;
  /** There is no such program on the PATH. */
  readonly missing: boolean;
  readonly stdout: string;
  /** What went wrong, in at most a few lines; empty when nothing did. */
  readonly error: string;
};

const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;
const ERROR_CHARS_MAX = 800;

export function runCommand(program: string, args: readonly string[], cwd: string, timeoutMs = 30_000): Promise<Ran> {
  const options = {
    cwd,
    env: environment(),
    timeout: timeoutMs,
    maxBuffer: OUTPUT_BYTES_MAX,
    killSignal: 'SIGKILL',
  } as const;
  return new Promise((resolve) => {
    const child = execFile(program, args, options, (failure, stdout, stderr) => {
      if (failure === null) return resolve({ ok: true, missing: false, stdout, error: '' });
      // A folder that is not there looks to Node as if the program were not.
      const isHere = existsSync(cwd);
      const missing = failure.code === 'ENOENT' && isHere;
      let error = stderr.trim() || failure.message;
      if (!isHere) error = `the folder ${cwd} does not exist`;
      else if (missing) error = `${program} was not found`;
      else if (failure.signal === 'SIGKILL') error = `${program} did not end within ${timeoutMs} ms, or wrote too much`;
      resolve({ ok: false, missing, stdout, error: error.slice(0, ERROR_CHARS_MAX) });
    });
    child.stdin?.end();
  });
}

// A process started from a git hook inherits variables that point git at the hook's repository instead of the folder
// it is run in. Nobody is there to answer a prompt.
function environment(): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = { ...process.env, LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0' };
  for (const name of REPOSITORY_VARIABLES) delete env[name];
  return env;
}

const REPOSITORY_VARIABLES = [
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
  'GIT_COMMON_DIR',
  'GIT_DIR',
  'GIT_INDEX_FILE',
  'GIT_NAMESPACE',
  'GIT_OBJECT_DIRECTORY',
  'GIT_PREFIX',
  'GIT_WORK_TREE',
];
