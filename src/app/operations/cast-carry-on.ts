// What a person says to a cast that waits or stopped. Each of these then carries the cast on.
import { conversationsIn, turnToAnswer } from '../../kernel/cast/asked.ts';
import { dependentsOf, parkedIn, parkedNamed } from '../../kernel/cast/item.ts';
import type { Parked } from '../../kernel/cast/state.ts';
import { isNotTaken } from '../../kernel/cast/steer.ts';
import type { CastRequest } from '../../kernel/input.ts';
import { allow, deny } from '../../kernel/verdict.ts';
import { UsageError } from '../../workspace/locate.ts';
import { carryOn, chooseCast, sayToCast } from '../driving/carry-on.ts';
import { castNamed } from '../name-cast.ts';
import type { Context } from '../operation.ts';
import { refusalOfDecision } from '../refusals.ts';
import { AsksPerson, Refused } from '../refused.ts';
import type { WorkspaceStore } from '../store.ts';
import type { Workspace } from '../workspace.ts';
import { endConversation, tellingWhich } from './cast-talk.ts';
import type { Operation } from './table.ts';

/** The verbs that carry a cast on. */
export const castResume: Operation<'cast.resume'> = (workspace, input, context) =>
  carryOn(workspace, 'resume', input, context);
export const castRecast: Operation<'cast.recast'> = (workspace, input, context) =>
  carryOn(workspace, 'recast', input, context);
export const castRevive: Operation<'cast.revive'> = (workspace, input, context) =>
  carryOn(workspace, 'revive', input, context);
export const castContinue: Operation<'cast.continue'> = async (workspace, input, context) => {
  const store = workspace.castStore();
  const { cast } = await chooseCast(store, input.cast, 'continue', workspace.program, () => undefined);
  const ended = await endConversation(workspace, { ...input, cast }, context);
  if (ended) return ended.allow || 'cast' in ended.details ? tellingWhich(ended, 'finalized') : ended;
  const state = await store.view('cast', cast);
  const isTalking = state !== null && conversationsIn(state).pending.length > 0;
  const verdict = await carryOn(workspace, 'continue', input, context);
  if (!isTalking) return verdict;
  context.onEvent({ kind: 'note', text: `Cast ${cast} was carried on; continue again to end the conversation.` });
  return tellingWhich(verdict, 'resumed');
};

/** What a person says in a turn of theirs, or to an agent that asks or is blocked; then the cast is carried on. */
export const castAnswer: Operation<'cast.answer'> = async (workspace, input, context) => {
  const { answer: output, turn: number, detach, turns } = input;
  const { actor } = context;
  const { store, cast } = await castNamed(workspace, input.cast);
  const refusal = refusalOfDecision(workspace, 'cast.answer', actor, cast);
  if (refusal) return refusal;
  const state = await store.view('cast', cast);
  if (!state) throw new UsageError(`there is no cast ${cast}`, 'UNKNOWN_CAST');
  // First make sure that an answer is wanted; only then ask for text and drive the cast.
  const turn = turnToAnswer(state, number);
  if ('allow' in turn) return turn;
  if (output === undefined)
    return allow('an answer is wanted', { cast, turn: turn.id, asks: turn.asks?.question ?? null, brief: turn.brief });
  if (output.trim() === '')
    throw new UsageError(
      `the answer is empty; say it as words: ${workspace.program} answer ${cast} --turn ${turn.id} "…"`,
    );
  const request = { kind: 'turn.answer', cast, turn: turn.id, output } as const;
  return submitAndDrive(workspace, cast, request, { detach, turns }, context);
};

/** A person's answer for one attempt whose outcome is unknown; then the cast is carried on. */
export const castDecide: Operation<'cast.decide'> = async (workspace, input, context) => {
  const { choice, output, reason, detach, turns } = input;
  const [, word, number] = /^(.+):(\d+)$/.exec(input.turn) ?? [];
  if (word === undefined)
    throw new UsageError(
      `say: baton decide CAST:NUMBER rerun|accept|fail; \`${workspace.program} status\` names the turn`,
    );
  if (output !== undefined && choice !== 'accept') throw new UsageError('--output goes with accept only');
  const { cast, status } = (await castNamed(workspace, word)).summary;
  const refusal = refusalOfDecision(workspace, 'cast.decide', context.actor, cast);
  if (refusal) return refusal;
  // Driving a cast that does not wait would start what it is owed before anybody looked at the answer.
  if (status !== 'waiting') return deny('NOT_ALLOWED_NOW', `cast ${cast} is ${status}; no turn of it waits`);
  const answer = { ...(output === undefined ? {} : { output }), ...(reason === undefined ? {} : { reason }) };
  const request = { kind: 'turn.decide', cast, turn: Number(number), choice, ...answer } as const;
  return submitAndDrive(workspace, cast, request, { detach, turns }, context);
};

type Named = { readonly cast: string; readonly store: WorkspaceStore; readonly parked: Parked };

async function named(workspace: Workspace, verb: 'retry' | 'drop', word: string, { actor }: Context): Promise<Named> {
  const [, castWord, item] = /^([^:]+):(.+)$/.exec(word) ?? [];
  if (castWord === undefined || item === undefined)
    throw new UsageError(`say: baton ${verb} CAST:ITEM; \`${workspace.program} why CAST\` names the parked items`);
  const { store, cast } = await castNamed(workspace, castWord);
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

/** What a person decides about a parked item: it is worked on again, or left out. The cast is then carried on. */
export const castRetry: Operation<'cast.retry'> = async (workspace, input, context) => {
  const { note, detach, turns } = input;
  const { cast, parked } = await named(workspace, 'retry', input.item, context);
  const request = { kind: 'item.retry', cast, task: parked.task, ...(note === undefined ? {} : { note }) } as const;
  return submitAndDrive(workspace, cast, request, { detach, turns }, context);
};

export const castDrop: Operation<'cast.drop'> = async (workspace, input, context) => {
  const { reason, yes = false, detach, turns } = input;
  const { cast, store, parked } = await named(workspace, 'drop', input.item, context);
  const others = dependentsOf({ ledger: await store.view('ledger', cast) }, { id: cast }, parked.task);
  if (others.length > 0 && !yes) {
    const list = others.map(({ id, title }) => `${id} (${title})`).join(', ');
    const why = `${list} depend on ${parked.item.key}, and are dropped with it; say so with --yes`;
    const refusal = deny('NOT_ALLOWED_NOW', why, { cast, dependents: others.map(({ id }) => id) });
    throw new AsksPerson(refusal, `${list} depend on ${parked.item.key}. Drop them as well?`, { flag: 'yes' });
  }
  const request = { kind: 'item.drop', cast, task: parked.task, reason, withDependents: yes } as const;
  return submitAndDrive(workspace, cast, request, { detach, turns }, context);
};

type How = { readonly detach?: boolean | undefined; readonly turns?: boolean | undefined };

function submitAndDrive(
  workspace: Workspace,
  cast: string,
  request: CastRequest,
  { detach, turns }: How,
  context: Context,
) {
  const submit: Parameters<typeof sayToCast>[1]['submit'] = (store) => store.submit(request, context.actor);
  return sayToCast(workspace, { cast, submit, ends: isNotTaken, detach, turns }, context);
}
