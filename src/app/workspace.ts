// A workspace in this process: where it is, the environment it was opened in, and its store. Several of them, with several
// actors, can be open at once; none knows of another.
import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { deny } from '../kernel/verdict.ts';
import { SqliteLog } from '../log/sqlite/log.ts';
import { logFileIn } from '../log/sqlite/open.ts';
import { type LocatedWorkspace as Located, UsageError } from '../workspace/locate.ts';
import { Refused } from './refused.ts';
import { hasLog, makeStateFolder } from './state-folder.ts';
import { WorkspaceStore } from './store.ts';

type WorkspaceOptions = {
  /** The environment of the caller: it leads to the user's folders, and started programs get it. */
  readonly env: NodeJS.ProcessEnv;
  /** How the caller calls this program, for messages that name a command. */
  readonly program?: string;
  /** The folder that relative names start from; the workspace itself where it is not said. */
  readonly cwd?: string;
};

export class Workspace implements Located {
  readonly dir: string;
  readonly configFile: string;
  readonly stateDir: string;
  readonly env: NodeJS.ProcessEnv;
  readonly program: string;
  readonly cwd: string;
  #open: { readonly store: WorkspaceStore; readonly file: string } | null = null;

  constructor({ dir, configFile, stateDir }: Located, { env, program = 'baton', cwd = dir }: WorkspaceOptions) {
    this.dir = dir;
    this.configFile = configFile;
    this.stateDir = stateDir;
    this.env = env;
    this.program = program;
    this.cwd = cwd;
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
    const reason = `no cast was ever run in ${this.dir}; start one with \`${this.program} cast\``;
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
      const store = new WorkspaceStore(new SqliteLog(path), this.dir);
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
