// Decides one event of the program of an agent: a tool that is about to run, an agent that is about to stop.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Actor } from '../../access/actor.ts';
import { type HookDecision, reportDenial } from '../../hooks/protocol.ts';
import { type HookContext, runHook } from '../../hooks/run-hook.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { allow, type Verdict } from '../../kernel/verdict.ts';
import type { LocatedWorkspace } from '../../workspace/locate.ts';
import type { Context } from '../operation.ts';
import { verdictOf } from '../refused.ts';
import { BATON, makeStateFolder, type Workspace } from '../workspace.ts';
import type { Operation } from './table.ts';

export const decideHook: Operation<'hook'> = async (workspace, { event, input, reportOnly = false }, context) => {
  const text = typeof input === 'string' ? input : JSON.stringify(input);
  const decision = await runHook(event, text, contextOf(workspace, reportOnly, context));
  if (decision.kind === 'allow' || !reportOnly) return verdictFor(decision);
  noteHookRefusal(workspace, event, decision);
  return allow('only reported', { decision: 'allow' });
};

/** The details say which decision it is: `deny`, `ask` and `end` are refusals that a host treats differently. */
function verdictFor(decision: HookDecision): Verdict {
  if (decision.kind === 'allow') {
    const { context } = decision;
    return allow('it may go on', { decision: 'allow', ...(context === undefined ? {} : { context }) });
  }
  const { kind, verdict } = decision;
  return { ...verdict, details: { ...verdict.details, decision: kind } };
}

function contextOf(workspace: Workspace, isReportOnly: boolean, context: Context): HookContext {
  const { env, dir } = workspace;
  return {
    workspace,
    isKept: existsSync(join(dir, '.baton')),
    env,
    now: Date.now,
    program: BATON,
    isReportOnly,
    actor: () => actorIn(context),
    // Loaded when it is needed: most calls of tools need neither.
    ledger: async () =>
      workspace.hasLog() ? workspace.castStore().asStored((await import('../at-head.ts')).ledgerAtHead) : null,
    async beat(sign) {
      const { beat } = await import('../../engine/heartbeat.ts');
      await workspace.castStore().asStored((log) => beat(log, sign));
    },
    store: () => workspace.ledgerStore({ begins: true }),
    perform: async (name, given) => performed(workspace, name, given, { ...context, actor: await actorIn(context) }),
  };
}

async function actorIn({ actor, findActor }: Context): Promise<Actor> {
  return (await findActor?.()) ?? actor;
}

/** Another operation, as the same actor. */
async function performed(
  workspace: Workspace,
  name: 'worklog.add' | 'gate',
  given: JsonObject,
  context: Context,
): Promise<Verdict> {
  try {
    if (name === 'gate')
      return await (await import('./gate.ts')).runGate(workspace, given as FieldInput<'gate'>, context);
    return await (await import('./working.ts')).worklogAdd(workspace, given as FieldInput<'worklog.add'>, context);
  } catch (error) {
    return verdictOf(error);
  }
}

type FieldInput<N extends 'gate' | 'worklog.add'> = Parameters<Operation<N>>[1];

export function noteHookRefusal(
  workspace: LocatedWorkspace,
  event: string,
  decision: Exclude<HookDecision, { kind: 'allow' }>,
): void {
  if (!existsSync(join(workspace.dir, '.baton'))) return;
  makeStateFolder(workspace);
  reportDenial(workspace.stateDir, event, decision, new Date());
}
