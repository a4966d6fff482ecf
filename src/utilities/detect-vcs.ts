// Detect-VCS: which version control a folder is under, and which programs for it are installed.
import { runCommand } from './command.ts';
import { repositoryOf } from './repository-root.ts';
import { give, type ShippedInput, type UtilityOutcome } from './utility.ts';

type Detected = {
  readonly kind: 'jj' | 'git' | 'none';
  readonly root: string | null;
  readonly available: { readonly jj: boolean; readonly git: boolean };
};

const ANSWER_MS = 2_000;

export async function detectVcs({ cwd }: ShippedInput): Promise<UtilityOutcome> {
  return give({ satisfied: true, state: { vcs: await detect(cwd) } });
}

/** The built-in form: the same fields, on top of the result. */
export async function detectVcsPlainly({ cwd }: ShippedInput): Promise<UtilityOutcome> {
  return give(await detect(cwd));
}

async function detect(cwd: string): Promise<Detected> {
  const [jj, git] = await Promise.all([isInstalled('jj', cwd), isInstalled('git', cwd)]);
  const available = { jj, git };
  const marked = repositoryOf(cwd);
  if (marked !== null) return { ...marked, available };
  // A repository can also be set up by configuration alone; only its program knows.
  const jjRoot = jj ? await rootBy('jj', ['root'], cwd) : null;
  if (jjRoot !== null) return { kind: 'jj', root: jjRoot, available };
  const gitRoot = git ? await rootBy('git', ['rev-parse', '--show-toplevel'], cwd) : null;
  return gitRoot === null ? { kind: 'none', root: null, available } : { kind: 'git', root: gitRoot, available };
}

async function isInstalled(program: string, cwd: string): Promise<boolean> {
  return (await runCommand(program, ['--version'], cwd, ANSWER_MS)).ok;
}

async function rootBy(program: string, args: readonly string[], cwd: string): Promise<string | null> {
  const { ok, stdout } = await runCommand(program, args, cwd, ANSWER_MS);
  return ok && stdout.trim() !== '' ? stdout.trim() : null;
}
