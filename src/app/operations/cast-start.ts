// A cast is started: the rules of a loadout are frozen in the log, and the cast is driven, here or by a process of its own.
import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { hideSecrets, keepHidden } from '../../agents/hidden-texts.ts';
import { CAPABILITIES } from '../../kernel/capabilities.ts';
import { allow } from '../../kernel/verdict.ts';
import type { Plan } from '../../workspace/plan.ts';
import { isolationOf, planned, refusedPlan } from '../driving/check-start.ts';
import { idToStart, startBehind } from '../driving/detach.ts';
import { driveCast } from '../driving/drive-cast.ts';
import { withDriver } from '../driving/driver-store.ts';
import { userLimits } from '../driving/user-limits.ts';
import { loadView } from '../look-at-cast.ts';
import { configureLocks } from '../main-locks.ts';
import type { Context, InputOf, Run } from '../operation.ts';
import { Refused } from '../refused.ts';
import { commandsOf, requireTrust } from '../require-trust.ts';
import { castVerdict } from '../views/shown-cast.ts';
import type { Workspace } from '../workspace.ts';
import type { FieldsOf } from './table.ts';

type Input = InputOf<FieldsOf<'cast.start'>>;

export const run: Run<FieldsOf<'cast.start'>> = async (workspace, input, context) => {
  const plan = await planned(workspace, input, context);
  if (!plan.ok) return refusedPlan(plan.issues);
  for (const name of plan.plan.strangers)
    context.onEvent({
      kind: 'note',
      text: `warning: the script speaks for ${name}, which is no socket and no materia`,
    });
  // A mistake in them stops every cast: it is told before an id is promised and a worktree made.
  userLimits(workspace.env);
  await requireTrust(workspace, commandsOf(plan.plan.rules, input.inPlace === true));
  return input.detach ? detached(workspace, input, context) : driven(workspace, plan.plan, input, context);
};

async function detached(workspace: Workspace, input: Input, { actor }: Context) {
  const store = workspace.ledgerStore({ begins: true });
  const cast = await startBehind(workspace, store, actor, argsFor(workspace, input), input.request);
  const view = await loadView(store, cast, input.turns === true, workspace.dir, workspace.program);
  return allow(`cast ${cast} was started`, castVerdict(view).details);
}

/** The same input as arguments, with names of files that do not depend on where it is called. */
function argsFor({ cwd }: Workspace, { inPlace, loadout, file, agents, runner, model }: Input): string[] {
  const named = (name: string, path: string | undefined) => (path === undefined ? [] : [name, resolve(cwd, path)]);
  const given = Object.entries({ loadout, runner, model });
  const which = given.flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`]));
  return [...(inPlace ? ['--in-place'] : []), ...which, ...named('--file', file), ...named('--agents', agents)];
}

async function driven(workspace: Workspace, plan: Plan, { request, inPlace, turns = false }: Input, context: Context) {
  const { name: by } = context.actor;
  const cast = idToStart(workspace.env);
  const { loadout } = plan;
  const hidden = hideSecrets(plan.script, plan.rules);
  const { rules, script } = hidden;
  const { root, says } = await isolationOf(workspace, rules, cast, inPlace === true);
  const where = root === undefined ? {} : { root };
  return withDriver(workspace, by, async (store) => {
    const begin = async () => {
      await configureLocks(store, workspace, by);
      keepHidden(workspace.stateDir, cast, hidden);
      const verdict = await store.submit(
        {
          ...{ kind: 'cast.start', cast, request, loadout, rules, script, runId: randomUUID(), ...where },
          capabilities: CAPABILITIES,
        },
        { name: by },
      );
      if (!verdict.allow) throw new Refused(verdict);
    };
    return castVerdict(await driveCast(workspace, store, cast, { begin, says, turns }, context));
  });
}
