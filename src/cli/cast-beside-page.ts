// `baton cast --ui` and `baton demo --ui`: this process serves the page, and the cast is driven by a process of its own at the
// same terminal, as `baton cast` drives it. So agents are started below the driver and not below the server.
import { spawn } from 'node:child_process';
import { shownToken, TOKEN_VARIABLE } from '../access/actor.ts';
import { BATON } from '../app/program.ts';
import type { Workspace } from '../app/workspace.ts';
import { type Call, EXIT_CODE, note } from './command.ts';
import { tellPage } from './commands/ui.ts';
import { untilSignal } from './listen.ts';
import { withPage } from './open-page.ts';

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
function driving({ dir }: Workspace, args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const shown = shownToken();
  const child = spawn(BATON, ['-C', dir, ...args], {
    env: { ...env, ...(shown === null ? {} : { [TOKEN_VARIABLE]: shown }) },
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
