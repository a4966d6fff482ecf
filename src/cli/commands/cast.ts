// `baton cast`: freezes the rules of a loadout, starts a cast of it and drives it.

import { randomUUID } from 'node:crypto';
import { hideSecrets, keepHidden } from '../../agents/hidden-texts.ts';
import { configureLocks } from '../../app/configure-locks.ts';
import type { Issue } from '../../kernel/graph/config.ts';
import { UTILITY_NAMES } from '../../utilities/names.ts';
import type { Workspace } from '../../workspace/locate.ts';
import { locateCast, type Plan } from '../../workspace/plan.ts';
import { type Call, EXIT, flag, note, outJson, Refused, text, UsageError } from '../command.ts';
import { castBehind, idToStart } from '../detach.ts';
import { driveAndShow, withDriver } from '../driving.ts';
import { workspaceOf } from '../find-workspace.ts';
import { isolationOf } from '../isolation.ts';
import { readInput } from '../read-input.ts';
import { commandsOf, requireTrust } from '../require-trust.ts';
import { person } from '../session.ts';
import { userLimits } from '../user-limits.ts';

export async function run(call: Call): Promise<number> {
  const request = await requestOf(call);
  const workspace = workspaceOf(call);
  const plan = await locateCast({
    workspace,
    file: text(call.values, 'file'),
    loadout: text(call.values, 'loadout'),
    agents: text(call.values, 'agents'),
    cwd: call.cwd,
    utilities: UTILITY_NAMES,
  });
  if (!plan.ok) return refuse(call, plan.issues);
  for (const { code, path, message } of plan.plan.warnings) note(`warning ${code} ${path}: ${message}`);
  if (flag(call.values, 'dry-run')) return (await import('../dry-run.ts')).dryRun(call, plan.plan, request);
  return start(call, workspace, plan.plan, request);
}

const REQUEST_BYTES_MAX = 1_048_576;

/** The words of the call, a file, or standard input: arguments of a program cannot be long. */
async function requestOf(call: Call): Promise<string> {
  const file = text(call.values, 'request-file');
  const words = call.words.join(' ');
  if (file !== undefined && words !== '')
    throw new UsageError('give the request as words or with --request-file, not both');
  const source = file ?? (words === '-' ? '-' : undefined);
  const request = (source === undefined ? words : await readInput(call, source)).trim();
  if (request === '')
    throw new UsageError('say: baton cast REQUEST (what it shall do, or - to read that from standard input)');
  if (request.includes('\0')) throw new UsageError('the request holds a NUL character; remove it');
  const bytes = Buffer.byteLength(request);
  if (bytes <= REQUEST_BYTES_MAX) return request;
  throw new UsageError(
    `the request has ${bytes} bytes; at most ${REQUEST_BYTES_MAX} are allowed. Put the rest into files of the project`,
  );
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
  for (const name of plan.strangers) note(`warning: the script speaks for ${name}, which is no socket and no materia`);
  // A mistake in them stops every cast: it is told before an id is promised and a worktree made.
  userLimits(call.env);
  await requireTrust(call, workspace, commandsOf(call, plan.rules));
  if (flag(call.values, 'detach')) return castBehind(call, workspace, request);
  const cast = idToStart();
  const { loadout } = plan;
  const hidden = hideSecrets(plan.script, plan.rules);
  const { rules, script } = hidden;
  const { root, says } = await isolationOf(call, workspace, rules, cast);
  const where = root === undefined ? {} : { root };
  return withDriver(workspace, (door) => {
    const begin = async () => {
      await configureLocks(door, workspace, person());
      keepHidden(workspace.stateDir, cast, hidden);
      const verdict = await door.submit(
        { kind: 'cast.start', cast, request, loadout, rules, script, runId: randomUUID(), ...where },
        person(),
      );
      if (!verdict.allow) throw new Refused(verdict);
    };
    return driveAndShow(call, workspace, door, cast, { begin, says });
  });
}
