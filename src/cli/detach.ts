// `baton cast --detach`: a background process starts the cast and drives it; this one answers as soon as it is started.
import { spawn } from 'node:child_process';
import { openSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { loadView } from '../app/load-view.ts';
import { asDamage, makeStateFolder } from '../app/state-folder.ts';
import { Store } from '../app/store.ts';
import { logFileIn, SqliteLog } from '../log/sqlite/log.ts';
import { newCastId } from '../workspace/cast-id.ts';
import type { Workspace } from '../workspace/locate.ts';
import { again, type Call, EXIT, flag, note, out, outJson, text } from './command.ts';

const LOOK_EVERY_MS = 20;
/** Tells the background process the id that was promised to the person. */
const PROMISED = 'BATON_DETACHED_CAST';

/** The id of the cast to start: the promised one in a background process, else a new one. */
export function idToStart(): string {
  const promised = process.env[PROMISED];
  // What the cast starts in its turn must not take it for its own.
  delete process.env[PROMISED];
  return promised ?? newCastId(Date.now());
}

export async function castBehind(call: Call, workspace: Workspace, request: string): Promise<number> {
  makeStateFolder(workspace);
  const cast = newCastId(Date.now());
  return startedBehind(call, workspace, cast, request).catch((error: unknown) => {
    throw asDamage(error, workspace);
  });
}

/** Answers when the cast is in the log. */
async function startedBehind(call: Call, workspace: Workspace, cast: string, request: string): Promise<number> {
  const door = new Store(new SqliteLog(logFileIn(workspace.stateDir)), workspace.dir);
  try {
    const driver = startBehind(call, workspace, cast, request);
    while (driver.isRunning() && (await door.cast(cast)) === null) await sleep(LOOK_EVERY_MS);
    if ((await door.cast(cast)) === null)
      throw new Error(`the background process ended at once; ${driver.said} says why`);
    note(`cast ${cast}`);
    if (call.json) outJson(await loadView(door, cast, flag(call.values, 'turns')));
    else out(`Cast ${cast} runs in the background. Follow it with: ${again(call)} watch ${cast}`);
    return EXIT.ok;
  } finally {
    await door.close();
  }
}

function startBehind(call: Call, workspace: Workspace, cast: string, request: string) {
  const baton = fileURLToPath(new URL('../../bin/baton', import.meta.url));
  const said = join(workspace.stateDir, `${cast}.out`);
  const sink = openSync(said, 'a', 0o600);
  const child = spawn(baton, argsFor(call, workspace), {
    env: { ...call.env, [PROMISED]: cast },
    detached: true,
    stdio: [inputOf(join(workspace.stateDir, `${cast}.request`), request), sink, sink],
  });
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  child.once('error', end);
  child.once('exit', end);
  child.unref();
  return { said, isRunning: () => !isOver };
}

/** A request may be longer than an argument can be. The file has no name any more when the process reads it. */
function inputOf(file: string, request: string): number {
  writeFileSync(file, request, { mode: 0o600, flag: 'wx' });
  const input = openSync(file, 'r');
  rmSync(file);
  return input;
}

/** The same call without `--detach`, with names of files that do not depend on where it is made. */
function argsFor({ values, cwd }: Call, { dir }: Workspace): string[] {
  const file = (name: string): string[] => {
    const given = text(values, name);
    return given === undefined ? [] : [`--${name}`, resolve(cwd, given)];
  };
  const loadout = text(values, 'loadout');
  const which = loadout === undefined ? [] : ['--loadout', loadout];
  const where = flag(values, 'in-place') ? ['--in-place'] : [];
  return ['-C', dir, 'cast', ...where, ...which, ...file('file'), ...file('agents'), '-'];
}
