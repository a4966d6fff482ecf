// One turn of a cast in full.
import { dialectCan } from '../../kernel/capabilities.ts';
import type { Cast } from '../../kernel/cast/state.ts';
import { contractOf } from '../../kernel/graph/route.ts';
import { isObject, type JsonObject } from '../../kernel/json.ts';
import { allow } from '../../kernel/verdict.ts';
import { UsageError } from '../../workspace/locate.ts';
import { nameCast } from '../name-cast.ts';
import { foldAll } from '../views/cast-view.ts';
import { type ReadReport, turnDetailOf } from '../views/turn-detail.ts';
import type { Operation } from './table.ts';

export const castTurn: Operation<'cast.turn'> = async (workspace, { cast: word, turn }) => {
  const store = workspace.castStore();
  const { cast } = await nameCast(store, word, workspace.program);
  const view = foldAll(await store.read({ after: 0, cast }));
  const detail = view.cast && turnDetailOf(view, turn, await readerFor(view.cast));
  if (!detail) {
    const way = `\`${workspace.program} show ${cast}\` lists them`;
    throw new UsageError(`cast ${cast} has no turn ${turn}; ${way}`, 'UNKNOWN_TURN');
  }
  return allow(`turn ${turn} of cast ${cast}`, detail as unknown as JsonObject);
};

/** The log has only the text of a report that ended its turn blocked, so the text is read again. */
async function readerFor({ rules }: Cast): Promise<ReadReport> {
  if (!Object.values(rules.graph.sockets).some(({ contract }) => dialectCan(rules, contract, 'reportsStatus')))
    return () => null;
  const { gaiaRead: read } = await import('../../dialects/gaia/read.ts');
  return (socket, output, input) => {
    const reading = read(output, { ...contractOf(rules, socket), turn: { agentId: null, input } });
    return reading.ok && isObject(reading.handoff.payload) ? reading.handoff.payload : null;
  };
}
