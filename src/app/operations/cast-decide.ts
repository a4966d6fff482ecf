// A person's answer for one attempt whose outcome is unknown; then the cast is carried on.

import type { Store } from '../../engine/store.ts';
import { isNotTaken } from '../../kernel/cast/steer.ts';
import { deny } from '../../kernel/verdict.ts';
import { UsageError } from '../../workspace/locate.ts';
import { refusalOfDecision } from '../decision.ts';
import { sayToCast } from '../driving/carry-on.ts';
import { nameCast } from '../name-cast.ts';
import type { Run } from '../operation.ts';
import type { FieldsOf } from './table.ts';

export const run: Run<FieldsOf<'cast.decide'>> = async (workspace, input, context) => {
  const { choice, output, reason, detach, turns } = input;
  const [, word, number] = /^(.+):(\d+)$/.exec(input.turn) ?? [];
  if (word === undefined)
    throw new UsageError(
      `say: baton decide CAST:NUMBER rerun|accept|fail; \`${workspace.program} status\` names the turn`,
    );
  if (output !== undefined && choice !== 'accept') throw new UsageError('--output goes with accept only');
  const store = workspace.castStore();
  const { cast, status } = await nameCast(store, word, workspace.program);
  const refusal = refusalOfDecision(workspace, 'cast.decide', context.actor, cast);
  if (refusal) return refusal;
  // Driving a cast that does not wait would start what it is owed before anybody looked at the answer.
  if (status !== 'waiting') return deny('NOT_ALLOWED_NOW', `cast ${cast} is ${status}; no turn of it waits`);
  const said = { ...(output === undefined ? {} : { output }), ...(reason === undefined ? {} : { reason }) };
  const request = { kind: 'turn.decide', cast, turn: Number(number), choice, ...said } as const;
  const submit = (store: Pick<Store, 'submit'>) => store.submit(request, context.actor);
  return sayToCast(workspace, { cast, submit, ends: isNotTaken, detach, turns }, context);
};
