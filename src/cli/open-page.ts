// The page of a workspace: built where it never was, served by a server that runs or by this process, opened in a browser.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { openSession } from '../access/page-sessions.ts';
import { userFolder } from '../access/user-folder.ts';
import { actorHere } from '../access/who-acts.ts';
import type { Workspace } from '../app/workspace.ts';
import { runningServer } from '../server/running-server.ts';
import { type Call, note, UsageError } from './command.ts';
import { PAGE_DIR, type Where } from './listen.ts';
import { serving } from './serving.ts';

export type OpenPage = {
  /** The address without the token. */
  readonly url: string;
  /** The address that opens it. */
  readonly link: string;
  /** Whether this process serves it. */
  readonly isOurs: boolean;
};

/** Runs `work` while there is a page: that of a server which runs already, or of one in this process. */
export async function withPage<T>(
  call: Call,
  workspace: Workspace,
  where: Where,
  work: (page: OpenPage) => Promise<T>,
): Promise<T> {
  buildPage(call);
  const running = where.port === undefined ? await runningServer(workspace) : null;
  const token = running === null ? null : openSession(workspace, actorHere(workspace), Date.now());
  if (running !== null && token !== null) return work(pageAt(running, token, false));
  return serving(call, workspace, where, ({ url, token: own }) => work(pageAt(url, own, true)));
}

function pageAt(url: string, token: string, isOurs: boolean): OpenPage {
  return { url, link: `${url}/#token=${encodeURIComponent(token)}`, isOurs };
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A package brings the built page along; a checkout builds it once. */
function buildPage({ env }: Call): void {
  if (existsSync(join(PAGE_DIR, 'index.html')) || !existsSync(join(ROOT, 'web', 'vite.config.ts'))) return;
  note('Building the page; this is done once…');
  const { status, stdout, stderr } = spawnSync('npm', ['run', '--silent', 'build:webui'], {
    cwd: ROOT,
    env,
    encoding: 'utf8',
  });
  if (status === 0 && existsSync(join(PAGE_DIR, 'index.html'))) return;
  const why = `${stderr ?? ''}${stdout ?? ''}`.trim().split('\n').slice(-5).join('\n');
  throw new UsageError(
    `the page could not be built; run \`npm install\` and \`npm run build:webui\` in ${ROOT}\n${why}`,
  );
}

const SHOWN_FOR_MS = 60_000;

/**
 * Opens the page in the browser of the person, where there is one. The arguments of a program can be read by every user of the
 * machine, so the browser is given a file of this user that leads to the page, and not the token.
 */
export function openInBrowser({ link }: OpenPage, env: NodeJS.ProcessEnv): boolean {
  const program = browserIn(env);
  if (program === null) return false;
  const folder = join(userFolder(env), 'pages');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, `open-${process.pid}.html`);
  rmSync(file, { force: true });
  writeFileSync(file, `<!doctype html><meta http-equiv="refresh" content="0; url=${link}"><title>Baton</title>`, {
    mode: 0o600,
    flag: 'wx',
  });
  const remove = () => rmSync(file, { force: true });
  setTimeout(remove, SHOWN_FOR_MS).unref();
  process.once('exit', remove);
  const child = spawn(program, [pathToFileURL(file).href], { env, detached: true, stdio: 'ignore' });
  child.once('error', remove);
  child.unref();
  return true;
}

/** The program that opens an address; null where the person sits at no screen. */
function browserIn(env: NodeJS.ProcessEnv): string | null {
  const isOnScreen =
    process.platform === 'darwin' || Boolean(env.DISPLAY || env.WAYLAND_DISPLAY || env.WSL_DISTRO_NAME);
  if (!isOnScreen || env.SSH_CONNECTION) return null;
  const names = process.platform === 'darwin' ? ['open'] : ['wslview', 'xdg-open'];
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder.startsWith('/'));
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path)) ?? null;
}
