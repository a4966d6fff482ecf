// The page of a workspace: built where it never was, served by a server that runs or by this process, opened in a browser. Beside it
// a cast may be driven by a process of its own at the same terminal, so that its agents are started below the driver and not below the server.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { shownToken, TOKEN_VARIABLE } from '../access/actor.ts';
import { openPageSession } from '../access/server-callers.ts';
import { userFolder } from '../access/user-folder.ts';
import { actorHere } from '../access/who-acts.ts';
import { BATON, type Workspace } from '../app/workspace.ts';
import { runningServer } from '../server/running-server.ts';
import { pageBuilder } from './build-page.ts';
import { type Call, EXIT_CODE, flag, note, outJson, text, UsageError, withWorkspace } from './command.ts';
import { portIn, serving, untilSignal, type Where } from './serving.ts';

type OpenPage = {
  /** The address without the token. */
  readonly url: string;
  /** The address that opens it. */
  readonly link: string;
  /** Whether this process serves it. */
  readonly isOurs: boolean;
};

/** Runs `work` while there is a page: that of a server which runs already, or of one in this process. */
async function withPage<T>(
  call: Call,
  workspace: Workspace,
  where: Where,
  work: (page: OpenPage) => Promise<T>,
): Promise<T> {
  const build = pageBuilder(call.env);
  if (build !== null) {
    note('Building the page; this is done once…');
    const why = await build();
    if (why !== null) throw new UsageError(`the page could not be built; ${why}`);
  }
  const running = where.port === undefined ? await runningServer(workspace) : null;
  const token = running === null ? null : openPageSession(workspace, actorHere(workspace), Date.now());
  if (running !== null && token !== null) return work(pageAt(running, token, false));
  return serving(call, workspace, where, ({ url, token: own }) => work(pageAt(url, own, true)));
}

function pageAt(url: string, token: string, isOurs: boolean): OpenPage {
  return { url, link: `${url}/#token=${encodeURIComponent(token)}`, isOurs };
}

const SHOWN_FOR_MS = 60_000;

/**
 * Opens the page in the browser of the person, where there is one. The arguments of a program can be read by every user of the
 * machine, so the browser is given a file of this user that leads to the page, and not the token.
 */
function openInBrowser({ link }: OpenPage, env: NodeJS.ProcessEnv): boolean {
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

/** `args` are those of the cast. Where a person looks on, the page stays after the end of the cast. */
export function castBesidePage(call: Call, workspace: Workspace, args: readonly string[]): Promise<number> {
  return withPage(call, workspace, {}, async (page) => {
    tellPage(call, page);
    const code = await driving(workspace, args, call.env);
    if (!page.isOurs || call.json || !process.stderr.isTTY) return code;
    note(`\nThe page stays at ${page.url} until Ctrl-C.`);
    await untilSignal();
    return code;
  });
}

/** Ctrl-C at the terminal reaches the driver, which pauses the cast; other signals are passed on to it. */
function driving(
  { dir, servedVariables }: Workspace,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<number> {
  const shown = shownToken();
  const child = spawn(BATON, ['-C', dir, ...args], {
    env: { ...env, ...servedVariables, ...(shown === null ? {} : { [TOKEN_VARIABLE]: shown }) },
    stdio: 'inherit',
  });
  const ignore = () => undefined;
  const pass = () => void child.kill('SIGTERM');
  process.on('SIGINT', ignore);
  process.on('SIGTERM', pass);
  return new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? EXIT_CODE.fault));
  }).finally(() => {
    process.off('SIGINT', ignore);
    process.off('SIGTERM', pass);
  });
}

/** The options and words of a call, as arguments; those that are named are left out. */
export function argumentsOf({ command, values, words }: Call, without: readonly string[]): readonly string[] {
  const options = Object.entries(values).flatMap(([name, value]) => {
    if (without.includes(name) || name === 'directory' || value === undefined || value === false) return [];
    return [value].flat().map((each) => (each === true ? `--${name}` : `--${name}=${String(each)}`));
  });
  return [command.name, ...options, '--', ...words];
}

export function uiCommand(call: Call): Promise<number> {
  const given = text(call.values, 'port');
  const where = given === undefined ? {} : { port: portIn('port', given) };
  return withWorkspace(call, (workspace) =>
    withPage(call, workspace, where, async (page) => {
      tellPage(call, page);
      if (call.json) outJson({ url: page.url, page: page.link });
      if (page.isOurs) await untilSignal();
      return EXIT_CODE.ok;
    }),
  );
}

/** Opens the page, and says where it is: the person may sit at another machine. */
function tellPage(call: Call, page: OpenPage): void {
  const isOpened = !flag(call.values, 'no-open') && !call.json && openInBrowser(page, call.env);
  note(`${isOpened ? 'Opened' : 'Open'} ${page.link}`);
  if (page.isOurs) note('This process serves the page until Ctrl-C.');
}
