// `baton cast`: freezes the rules of a loadout, starts a cast of it and drives it.
import { spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Door } from '../../engine/door.ts';
import type { Issue } from '../../kernel/graph/config.ts';
import { newCastId } from '../../workspace/cast-id.ts';
import type { Workspace } from '../../workspace/locate.ts';
import { locateCast, type Plan } from '../../workspace/plan.ts';
import { type Call, EXIT, flag, note, out, outJson, Refused, text, UsageError } from '../command.ts';
import { driveAndShow, withDriver } from '../driving.ts';
import { loadView } from '../ending.ts';
import { workspaceOf } from '../find-workspace.ts';
import { person } from '../session.ts';

const LOOK_EVERY_MS = 20;

export async function run(call: Call): Promise<number> {
  const request = call.words.join(' ').trim();
  if (request === '') throw new UsageError('say what the cast shall do: baton cast "…"');
  const workspace = workspaceOf(call);
  const plan = locateCast({
    workspace,
    file: text(call.values, 'file'),
    loadout: text(call.values, 'loadout'),
    agents: text(call.values, 'agents'),
    cwd: call.cwd,
  });
  if (!plan.ok) return refuse(call, plan.issues);
  if (flag(call.values, 'dry-run')) return (await import('../dry-run.ts')).dryRun(call, plan.plan, request);
  return start(call, workspace, plan.plan, request);
}

/** The same object as a cast that ran, so that scripts read one shape. */
function refuse(call: Call, issues: readonly Issue[]): number {
  const first = issues.find(({ level }) => level === 'error');
  const reason = first ? `${first.path}: ${first.message}` : 'the configuration does not check';
  if (call.json) {
    const usage = { input: 0, output: 0, tokens: 0, cost: 0 };
    outJson({
      cast: null,
      status: 'failed',
      code: first?.code ?? 'INVALID_CONFIG',
      reason,
      path: [],
      data: {},
      usage,
      log: null,
      issues,
    });
  } else {
    for (const { level, code, path, message } of issues) note(`${level} ${code} ${path}: ${message}`);
    note('The cast was not started.');
  }
  return EXIT.denied;
}

async function start(call: Call, workspace: Workspace, plan: Plan, request: string): Promise<number> {
  for (const warning of plan.warnings) note(`warning ${warning.code} ${warning.path}: ${warning.message}`);
  for (const name of plan.strangers) note(`warning: the script speaks for ${name}, which is no socket and no materia`);
  const cast = newCastId(Date.now());
  const begin = {
    kind: 'cast.start',
    cast,
    request,
    loadout: plan.loadout,
    rules: plan.rules,
    script: plan.script,
  } as const;
  return withDriver(workspace, async (door) => {
    const submit = async () => {
      const verdict = await door.submit(begin, person());
      if (!verdict.allow) throw new Refused(verdict);
    };
    if (!flag(call.values, 'detach')) return driveAndShow(call, workspace, door, cast, submit);
    note(`cast ${cast}`);
    await submit();
    await detach(workspace, door, cast);
    if (call.json) outJson(await loadView(door, cast, flag(call.values, 'turns')));
    else out(`Cast ${cast} runs in the background. Follow it with: baton watch ${cast}`);
    return EXIT.ok;
  });
}

/** A background process drives the cast; what it says goes to a file in the state folder. Answers once it drives. */
async function detach(workspace: Workspace, door: Door, cast: string): Promise<void> {
  const baton = fileURLToPath(new URL('../../../bin/baton', import.meta.url));
  const said = join(workspace.stateDir, `${cast}.out`);
  const sink = openSync(said, 'a', 0o600);
  const child = spawn(baton, ['-C', workspace.dir, 'resume', cast], { detached: true, stdio: ['ignore', sink, sink] });
  let isOver = false;
  child.once('error', () => {
    isOver = true;
  });
  child.once('exit', () => {
    isOver = true;
  });
  while (!isOver && (await door.driverOf(cast)) === null) await sleep(LOOK_EVERY_MS);
  child.unref();
  if (!isOver || (await door.cast(cast))?.status !== 'running') return;
  throw new Error(`the background process ended at once; ${said} says why, \`baton resume ${cast}\` carries on`);
}
