// Conversations of a person with agents: the words so far, the next ones, and the end of it. What a person says to a cast that goes on
// is noted here, too.
import { conversationsIn, conversationToEnd } from '../../kernel/cast/asked.ts';
import { materiaOf } from '../../kernel/cast/rules.ts';
import { type Cast, isOver, type Turn } from '../../kernel/cast/state.ts';
import { isNotTaken } from '../../kernel/cast/steer.ts';
import type { Entry } from '../../kernel/fact.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { allow, type Denied, deny, type Verdict } from '../../kernel/verdict.ts';
import { UsageError } from '../../workspace/locate.ts';
import { sayToCast } from '../driving/carry-on.ts';
import { castNamed } from '../name-cast.ts';
import type { Context } from '../operation.ts';
import { refusalOfDecision } from '../refusals.ts';
import type { WorkspaceStore } from '../store.ts';
import type { Workspace } from '../workspace.ts';
import type { Operation } from './table.ts';

/** Without words: the conversation so far. With words: they are sent, and the cast is carried on until the agent has answered. */
export const castTalk: Operation<'cast.talk'> = async (workspace, input, context) => {
  const { store, cast } = await castNamed(workspace, input.cast);
  const state = await stateOf(store, cast);
  const { text, turn: number, detach, turns } = input;
  if (isOver(state.status)) {
    const reason = `cast ${cast} has ${state.status}; \`${workspace.program} show ${cast} --turns\` has what was said`;
    return deny('NOT_ALLOWED_NOW', reason, { cast, status: state.status });
  }
  if (text === undefined) {
    const turn = talkingIn(state, number);
    if ('allow' in turn) return turn;
    return allow(
      `the conversation of turn ${turn.id}`,
      conversation(state, turn, await store.read({ after: 0, cast })),
    );
  }
  const refusal = refusalOfDecision(workspace, 'cast.talk', context.actor, cast);
  if (refusal) return refusal;
  if (text.trim() === '') throw new UsageError(`there are no words; say: ${workspace.program} talk ${cast} "…"`);
  const turn = conversationToEnd(state, number);
  if ('allow' in turn) return turn;
  const request = { kind: 'turn.answer', cast, turn: turn.id, output: text } as const;
  const submit: Saying['submit'] = (store) => store.submit(request, context.actor);
  return sayToCast(workspace, { cast, submit, ends: isNotTaken, detach, turns }, context);
};

type Saying = Parameters<typeof sayToCast>[1];

async function stateOf(store: WorkspaceStore, cast: string): Promise<Cast> {
  const state = await store.view('cast', cast);
  if (!state)
    throw new UsageError(`cast ${cast} is over: \`baton show ${cast} --turns\` has what was said`, 'UNKNOWN_CAST');
  return state;
}

/** The one that waits for words, else the one whose agent is at work. */
function talkingIn(state: Cast, number: number | undefined): Turn | Denied {
  const { waiting, pending } = conversationsIn(state);
  const all = [...waiting, ...pending].filter(({ id }) => number === undefined || id === number);
  return all[0] ?? conversationToEnd(state, number);
}

function conversation(state: Cast, turn: Turn, entries: readonly Entry[]): JsonObject {
  const lines = entries.flatMap(({ at, fact }) => {
    if (!('turn' in fact) || fact.turn !== turn.id) return [];
    if (fact.kind === 'turn.reported') return [{ from: 'agent', text: fact.note, at }];
    return fact.kind === 'turn.answered' ? [{ from: fact.from, text: fact.text, at }] : [];
  });
  const { id, socket, phase } = turn;
  const { label } = materiaOf(state, socket);
  return { cast: state.id, turn: id, socket, label, status: state.status, isAsked: phase === 'asked', lines };
}

type Ending = { readonly cast: string; readonly detach?: boolean | undefined; readonly turns?: boolean | undefined };

/**
 * What `continue` does for a cast in a conversation: the agent gives its final answer. A cast that was stopped is brought back first.
 * Null where it waits in none; then it is carried on like any other.
 */
export async function endConversation(
  workspace: Workspace,
  { cast, detach, turns }: Ending,
  context: Context,
): Promise<Verdict | null> {
  const store = workspace.castStore();
  const state = await store.view('cast', cast);
  if (!state) return null;
  const { waiting, pending } = conversationsIn(state);
  const isDriven = (await store.view('driver', cast)) !== null;
  if (waiting.length === 0) {
    const turn =
      pending.length > 0 && isDriven && state.status === 'running' ? conversationToEnd(state, undefined) : null;
    return turn && 'allow' in turn ? turn : null;
  }
  const turn = conversationToEnd(state, undefined);
  if ('allow' in turn) return turn;
  const refusal = refusalOfDecision(workspace, 'cast.continue', context.actor, cast);
  if (refusal) return refusal;
  const submit: Saying['submit'] = async (store) => {
    if (state.status === 'paused') {
      const back = await store.submit({ kind: 'cast.resume', cast, reason: 'resumed' }, context.actor);
      if (!back.allow) return back;
    }
    return store.submit({ kind: 'turn.finish', cast, turn: turn.id }, context.actor);
  };
  context.onEvent({
    kind: 'note',
    text: `The conversation of turn ${turn.id} is over: its final answer is asked for.`,
  });
  return sayToCast(workspace, { cast, submit, ends: isNotTaken, detach, turns }, context);
}

/** Which of the two `continue` did for a cast in which an agent talks. */
export function tellingWhich(verdict: Verdict, did: 'finalized' | 'resumed'): Verdict {
  return { ...verdict, details: { ...verdict.details, did } };
}

/** Kept for the next brief of an agent that it concerns, or for the agents at work, who are interrupted. Nothing is driven for it. */
export const castSay: Operation<'cast.say'> = async (workspace, { cast: named, text, interrupt }, { actor }) => {
  const [, word = named, item] = /^(.+?):(.+)$/.exec(named) ?? [];
  const { store, cast, summary } = await castNamed(workspace, word);
  const refusal = refusalOfDecision(workspace, 'cast.say', actor, cast);
  if (refusal) return refusal;
  if (text.trim() === '') throw new UsageError(`there are no words; say: ${workspace.program} say ${named} "…"`);
  if (!(await store.view('cast', cast)))
    return deny('NOT_ALLOWED_NOW', `cast ${cast} has ${summary.status}; no agent of it works any more`);
  const request = { kind: 'cast.say', cast, item: item ?? null, text } as const;
  const verdict = await store.submit(interrupt ? { ...request, interrupt } : request, actor);
  if (!verdict.allow || summary.status !== 'running' || (await store.view('driver', cast))) return verdict;
  const reason = `${verdict.reason}; no process drives the cast now: \`${workspace.program} continue ${cast}\` carries it on`;
  return { ...verdict, reason };
};
