// What a workspace used in a day is counted once, also when a cast that ended long ago is read back.
import { expect, test } from 'vitest';
import { graph } from '../../test/loadouts.ts';
import { dialects } from '../dialects/index.ts';
import { resolve } from '../kernel/graph/resolve.ts';
import { MemoryLog } from '../log/memory.ts';
import { Decider } from './decider.ts';

const NOON = Date.parse('2026-11-16T12:00:00.000Z');
/** More than stay loaded after their end. */
const CASTS = 105;
const USAGE = { input: 8, output: 2, cost: 0 };

test('a cast that is read back from its facts does not use its tokens again', async () => {
  const decider = await Decider.open(new MemoryLog(), dialects, { now: () => NOON });
  const config = graph({ 'Socket-1': { materia: 'Judge' } }, { budget: { maxTokensPerDay: CASTS * 10 + 5 } });
  const rules = resolve(config, 'Flow');
  const start = async (cast: string) => {
    await decider.submit({ kind: 'cast.start', cast, request: 'x', loadout: 'Flow', rules, script: null }, 'test');
    return (await decider.submit({ kind: 'turn.prepared', cast, turn: 1, attempt: 1 }, 'test')).verdict;
  };
  for (let index = 0; index < CASTS; index += 1) {
    const cast = `c${index}`;
    await start(cast);
    const output = '{"satisfied":true}';
    await decider.submit({ kind: 'attempt.output', cast, turn: 1, attempt: 1, output, usage: USAGE }, 'test');
  }
  expect((await decider.cast('c0'))?.status).toBe('completed');
  expect((await start('next')).code).toBe('OK');
  await decider.close();
});
