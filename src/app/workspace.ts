// A workspace in this process: where it is, the environment it was opened in, its store, and the folder that holds its state. Several
// of them, with several actors, can be open at once; none knows of another. Before anything opens a file in the state folder it is checked
// that the folder can be used, and otherwise says what to do.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MCP_URL_VARIABLE, StorageError } from '../engine/ports.ts';
import { gitFoldersOf } from '../git/repository-files.ts';
import { deny } from '../kernel/verdict.ts';
import { networkShareAt } from '../log/sqlite/file-system.ts';
import { isLink, logFileIn, refuseStrange } from '../log/sqlite/open.ts';
import { type LocatedWorkspace as Located, type LocatedWorkspace, UsageError } from '../workspace/locate.ts';
import { Refused } from './refused.ts';
import { openStore, type WorkspaceStore } from './store.ts';

type WorkspaceOptions = {
  /** The environment of the caller: it leads to the user's folders, and started programs get it. */
  readonly env: NodeJS.ProcessEnv;
  /** How the caller calls this program, for messages that name a command. */
  readonly program?: string;
  /** The folder that relative names start from; the workspace itself without it. */
  readonly cwd?: string;
};

export class Workspace implements Located {
  readonly dir: string;
  readonly configFile: string;
  readonly stateDir: string;
  readonly env: NodeJS.ProcessEnv;
  readonly program: string;
  readonly cwd: string;
  /** Variables for drivers that this process starts while it serves: where their agents reach their tools over HTTP. */
  get servedVariables(): Readonly<Record<string, string>> {
    return this.#servedVariables;
  }
  #servedVariables: Readonly<Record<string, string>> = {};
  #open: { readonly store: WorkspaceStore; readonly file: string } | null = null;

  constructor({ dir, configFile, stateDir }: Located, { env, program = 'baton', cwd = dir }: WorkspaceOptions) {
    this.dir = dir;
    this.configFile = configFile;
    this.stateDir = stateDir;
    this.env = env;
    this.program = program;
    this.cwd = cwd;
  }

  /** The address of the tools; null ends the offer. */
  offerTools(url: string | null): void {
    this.#servedVariables = url === null ? {} : { [MCP_URL_VARIABLE]: url };
  }

  /** Whether anything ever happened here. */
  hasLog(): boolean {
    return hasLog(this);
  }

  /** The store of a ledger. Where there is no log yet, one is made only for an operation that begins it. */
  ledgerStore({ begins = false } = {}): WorkspaceStore {
    if (begins) makeStateFolder(this);
    else if (!this.hasLog()) {
      const reason = `There is no ledger in ${this.dir} yet; begin one with \`${this.program} task create FILE\`.`;
      throw new Refused(deny('LEDGER_INCONSISTENT', reason, { workspace: this.dir, empty: true }));
    }
    return this.#store();
  }

  /** The store of a log that has casts; nothing is made for a look. */
  castStore(): WorkspaceStore {
    if (this.hasLog()) return this.#store();
    throw this.noCastYet();
  }

  noCastYet(): UsageError {
    const reason = `no casts yet in ${this.dir}; start one with \`${this.program} cast\``;
    return new UsageError(reason, 'UNKNOWN_CAST');
  }

  async close(): Promise<void> {
    const open = this.#open;
    this.#open = null;
    await open?.store.close();
  }

  /** Opened once, and again after the file was replaced: a server keeps a workspace open for long. */
  #store(): WorkspaceStore {
    const path = logFileIn(this.stateDir);
    if (this.#open && this.#open.file !== identityOf(path)) {
      void this.#open.store.close().catch(() => undefined);
      this.#open = null;
    }
    if (!this.#open) {
      const store = openStore(path, this.dir);
      this.#open = { store, file: identityOf(path) };
    }
    return this.#open.store;
  }
}

function identityOf(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false, bigint: true });
  return found ? `${found.dev}:${found.ino}` : '';
}

/** The program itself, as agents, their hooks and detached casts start it. */
export const BATON = fileURLToPath(new URL('../../bin/baton', import.meta.url));

/** Whether a cast was ever started here. A state folder that cannot be looked into is a fault, not an absence. */
export function hasLog({ dir, stateDir }: LocatedWorkspace): boolean {
  try {
    refuseLink(join(dir, '.baton'));
    refuseLink(stateDir);
    refuseStrange(logFileIn(stateDir));
    if (statSync(logFileIn(stateDir), { throwIfNoEntry: false })) return true;
    const blocking = blockingFile(stateDir);
    if (blocking === null) return false;
    throw unusable(`${blocking} is a file where a folder is needed; move it away`);
  } catch (error) {
    if (error instanceof StorageError) throw error;
    throw unusable(`${stateDir} cannot be looked into; make it readable and writable for you`);
  }
}

/**
 * Makes the state folder, for its owner only. Folder by folder: asked to make a whole path at once where none can be
 * made, such as below `/proc`, Node never answers.
 */
export function makeStateFolder(workspace: LocatedWorkspace): void {
  hasLog(workspace);
  for (const folder of missingFolders(workspace.stateDir)) {
    try {
      mkdirSync(folder, { mode: 0o700 });
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      // Another process may have been faster.
      if (code === 'EEXIST' && statSync(folder, { throwIfNoEntry: false })) continue;
      if (code === 'EEXIST') throw unusable(`${folder} is a link that leads nowhere; remove it`);
      throw unusable(`${folder} cannot be made (${code}); make ${dirname(folder)} writable for you`);
    }
  }
  const share = networkShareAt(workspace.stateDir);
  if (share !== null)
    throw unusable(
      `${workspace.stateDir} is on a network share (${share}), where SQLite is not safe; use a folder of a local disk`,
    );
  for (const folder of FIXED_NAMES.map((name) => join(workspace.stateDir, name))) refuseStrangers(folder);
  hideFromGit(workspace.stateDir);
  keepFromCleaning(workspace);
}

/** The folders in which we write under names that are known before. Others have the ids of casts in their names. */
const FIXED_NAMES = ['.', 'checkpoints', 'install'];

/** A project could bring a link along in the place of what we write, or a pipe in the place of what we read. */
function refuseStrangers(folder: string): void {
  if (!existsSync(folder)) return;
  for (const one of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, one.name);
    refuseLink(path);
    if (!one.isFile() && !one.isDirectory()) throw unusable(`${path} is not a plain file; move it away`);
  }
}

function refuseLink(path: string): void {
  if (!isLink(path)) return;
  if (!statSync(path, { throwIfNoEntry: false })) throw unusable(`${path} is a link that leads nowhere; remove it`);
  throw unusable(`${path} is a link, and nothing is read or written through one; put a folder in its place`);
}

/** Written where `.baton` has no `.gitignore`; it is no file of the project. */
export const IGNORES_ITSELF = 'state/\n/.gitignore\n';

const IGNORES_STATE = /^\/?(?:state\/?|\*)\s*$/m;

/**
 * `git clean -fdx` takes everything away that git ignores, except what is a repository of its own. So the state folder is one,
 * an empty one. Git then asks the folders above whether to ignore it, and they have to say so.
 */
function keepFromCleaning({ dir, stateDir }: LocatedWorkspace): void {
  if (stateDir !== join(dir, '.baton', 'state') || !gitFoldersOf(dir)) return;
  const rules = join(dir, '.baton', '.gitignore');
  try {
    writeFileSync(rules, IGNORES_ITSELF, { flag: 'wx' });
  } catch {
    // There is one already, which says what its owner wants.
  }
  if (existsSync(join(stateDir, '.git'))) return;
  try {
    // Where git does not ignore an empty repository, `git add` fails because of it.
    if (!IGNORES_STATE.test(readFileSync(rules, 'utf8'))) return;
    const ready = join(stateDir, `.git.${process.pid}`);
    for (const name of ['objects', 'refs']) mkdirSync(join(ready, name), { recursive: true, mode: 0o700 });
    writeFileSync(join(ready, 'config'), '[core]\n\trepositoryformatversion = 0\n\tbare = false\n');
    writeFileSync(join(ready, 'HEAD'), 'ref: refs/heads/state\n');
    renameSync(ready, join(stateDir, '.git'));
  } catch {
    // Another process was faster, or the folder cannot be written, which opening the log reports.
  }
}

/** Keeps git from looking at the state, so that a commit or a checkout of the project does not touch it. */
function hideFromGit(stateDir: string): void {
  try {
    writeFileSync(join(stateDir, '.gitignore'), '*\n', { flag: 'wx', mode: 0o600 });
  } catch {
    // It is there already, or the folder cannot be written, which opening the log reports.
  }
}

/** A missing table means a cut or half restored file, which a person can repair. Other errors stay as they are. */
export function asDamage(error: unknown, { stateDir }: LocatedWorkspace): unknown {
  const { message = '' } = (error ?? {}) as Error;
  const missing = /no such (?:table|column): \w+/.exec(message)?.[0];
  if (missing === undefined) return error;
  const reason = `${logFileIn(stateDir)}: ${missing}; the file is damaged; restore it from a copy`;
  return new StorageError('STORAGE_FAILED', reason, { cause: error });
}

function unusable(why: string): StorageError {
  return new StorageError('STORAGE_FAILED', `${why}, or point BATON_HOME elsewhere`);
}

/** The file that is where the state folder, or a folder above it, would have to be. */
function blockingFile(stateDir: string): string | null {
  for (let at = stateDir; ; at = dirname(at)) {
    const found = statSync(at, { throwIfNoEntry: false });
    if (found) return found.isDirectory() ? null : at;
  }
}

/** From the outside to the inside. */
function missingFolders(folder: string): readonly string[] {
  return statSync(folder, { throwIfNoEntry: false }) ? [] : [...missingFolders(dirname(folder)), folder];
}
