// What a person says in a turn of theirs, or to an agent that asks or is blocked; then the cast is carried on.
import type { Store } from '../../engine/store.ts';
import { turnToAnswer } from '../../kernel/cast/asked.ts';
import { isNotTaken } from '../../kernel/cast/steer.ts';
import { allow } from '../../kernel/verdict.ts';
import { UsageError } from '../../workspace/locate.ts';
import { refusalOfDecision } from '../decision.ts';
import { sayToCast } from '../driving/carry-on.ts';
import { nameCast } from '../name-cast.ts';
import type { Run } from '../operation.ts';
import type { FieldsOf } from './table.ts';

export const run: Run<FieldsOf<'cast.answer'>> = async (workspace, input, context) => {
  const { answer: output, turn: number, detach, turns } = input;
  const { actor } = context;
  const store = workspace.castStore();
  const { cast } = await nameCast(store, input.cast, workspace.program);
  const refusal = refusalOfDecision(workspace, 'cast.answer', actor, cast);
  if (refusal) return refusal;
  const state = await store.view('cast', cast);
  if (!state) throw new UsageError(`there is no cast ${cast}`, 'UNKNOWN_CAST');
  // Nothing is driven, and nobody is asked for text, before it is clear that an answer is wanted.
  const turn = turnToAnswer(state, number);
  if ('allow' in turn) return turn;
  if (output === undefined)
    return allow('an answer is wanted', { cast, turn: turn.id, asks: turn.asks?.question ?? null, brief: turn.brief });
  if (output.trim() === '')
    throw new UsageError(
      `the answer is empty; say it as words: ${workspace.program} answer ${cast} --turn ${turn.id} "…"`,
    );
  const request = { kind: 'turn.answer', cast, turn: turn.id, output } as const;
  const submit = (store: Pick<Store, 'submit'>) => store.submit(request, actor);
  return sayToCast(workspace, { cast, submit, ends: isNotTaken, detach, turns }, context);
};
