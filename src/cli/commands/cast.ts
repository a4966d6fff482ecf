// `baton cast`: freezes the rules of a loadout, starts a cast of it and drives it.
import { spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Issue } from '../../kernel/graph/config.ts';
import { newCastId } from '../../workspace/cast-id.ts';
import type { Workspace } from '../../workspace/locate.ts';
import { locateCast, type Plan } from '../../workspace/plan.ts';
import { type Call, EXIT, flag, note, out, outJson, text, UsageError } from '../command.ts';
import { driveAndShow, withDriver } from '../driving.ts';
import { person, workspaceOf } from '../session.ts';

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
    note('The cast was not started. `baton check` shows all of this again.');
  }
  return EXIT.denied;
}

async function start(call: Call, workspace: Workspace, plan: Plan, request: string): Promise<number> {
  for (const warning of plan.warnings) note(`warning ${warning.code} ${warning.path}: ${warning.message}`);
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
      if (!verdict.allow) throw new UsageError(verdict.reason);
    };
    if (!flag(call.values, 'detach')) return driveAndShow(call, workspace, door, cast, submit);
    await submit();
    detach(workspace, cast);
    if (call.json) outJson({ cast, status: 'running', loadout: plan.loadout, request });
    else out(`Cast ${cast} runs in the background. Follow it with: baton watch ${cast}`);
    return EXIT.ok;
  });
}

/** A background process drives the cast; what it says goes to a file in the state folder. */
function detach(workspace: Workspace, cast: string): void {
  const baton = fileURLToPath(new URL('../../../bin/baton', import.meta.url));
  const sink = openSync(join(workspace.stateDir, `${cast}.out`), 'a', 0o600);
  const child = spawn(baton, ['-C', workspace.dir, 'resume', cast], { detached: true, stdio: ['ignore', sink, sink] });
  child.unref();
}
