// `baton log`: people get the last entries where they do not say which; scripts get all.
import type { Call } from '../command.ts';
import type { Giving } from '../operation-command.ts';
import { showOperation } from '../show-operation.ts';

const SHOWN_BY_DEFAULT = 50;

export async function run(call: Call, given: Giving): Promise<number> {
  return showOperation(call, 'log', { ...(call.json ? {} : { last: SHOWN_BY_DEFAULT }), ...(await given()) });
}
