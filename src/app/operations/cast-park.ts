// What a person decides about a parked item: it is worked on again, or left out. The cast is then carried on.
import { dependentsOf, parkedIn, parkedNamed } from '../../kernel/cast/item.ts';
import type { Parked } from '../../kernel/cast/state.ts';
import { isNotTaken } from '../../kernel/cast/steer.ts';
import type { CastRequest } from '../../kernel/input.ts';
import { deny } from '../../kernel/verdict.ts';
import { UsageError } from '../../workspace/locate.ts';
import { refusalOfDecision } from '../decision.ts';
import { sayToCast } from '../driving/carry-on.ts';
import { nameCast } from '../name-cast.ts';
import type { Context, Run } from '../operation.ts';
import { Asks, Refused } from '../refused.ts';
import type { WorkspaceStore } from '../store.ts';
import type { Workspace } from '../workspace.ts';
import type { FieldsOf } from './table.ts';

type Named = { readonly cast: string; readonly store: WorkspaceStore; readonly parked: Parked };

async function named(workspace: Workspace, verb: 'retry' | 'drop', word: string, { actor }: Context): Promise<Named> {
  const [, castWord, item] = /^([^:]+):(.+)$/.exec(word) ?? [];
  if (castWord === undefined || item === undefined)
    throw new UsageError(`say: baton ${verb} CAST:ITEM; \`${workspace.program} why CAST\` names the parked items`);
  const store = workspace.castStore();
  const { cast } = await nameCast(store, castWord, workspace.program);
  const refusal = refusalOfDecision(workspace, `cast.${verb}`, actor, cast);
  if (refusal) throw new Refused(refusal);
  const [state, ledger] = [await store.view('cast', cast), await store.view('ledger', cast)];
  const parked = parkedNamed((state && parkedIn({ ledger }, state)) ?? [], item);
  if ('allow' in parked) throw new Refused(parked);
  // Driving a cast that does not wait would start what it is owed before anybody looked at the decision.
  if (state?.code === 'ITEMS_PARKED' && state.status === 'waiting') return { cast, store, parked };
  const reason = `cast ${cast} is ${state?.status}; its parked items are decided about when it waits for that`;
  throw new Refused(deny('NOT_ALLOWED_NOW', reason, { cast, item: parked.item.key }));
}

export const retry: Run<FieldsOf<'cast.retry'>> = async (workspace, input, context) => {
  const { note, detach, turns } = input;
  const { cast, parked } = await named(workspace, 'retry', input.item, context);
  const request = { kind: 'item.retry', cast, task: parked.task, ...(note === undefined ? {} : { note }) } as const;
  return say(workspace, cast, request, { detach, turns }, context);
};

export const drop: Run<FieldsOf<'cast.drop'>> = async (workspace, input, context) => {
  const { reason, yes = false, detach, turns } = input;
  const { cast, store, parked } = await named(workspace, 'drop', input.item, context);
  const others = dependentsOf({ ledger: await store.view('ledger', cast) }, { id: cast }, parked.task);
  if (others.length > 0 && !yes) {
    const list = others.map(({ id, title }) => `${id} (${title})`).join(', ');
    const why = `${list} depend on ${parked.item.key}, and are dropped with it; say so with --yes`;
    const refusal = deny('NOT_ALLOWED_NOW', why, { cast, dependents: others.map(({ id }) => id) });
    throw new Asks(refusal, `${list} depend on ${parked.item.key}. Drop them as well?`, { flag: 'yes' });
  }
  const request = { kind: 'item.drop', cast, task: parked.task, reason, withDependents: yes } as const;
  return say(workspace, cast, request, { detach, turns }, context);
};

type How = { readonly detach: boolean | undefined; readonly turns: boolean | undefined };

function say(workspace: Workspace, cast: string, request: CastRequest, { detach, turns }: How, context: Context) {
  const submit: Parameters<typeof sayToCast>[1]['submit'] = (store) => store.submit(request, context.actor);
  return sayToCast(workspace, { cast, submit, ends: isNotTaken, detach, turns }, context);
}
