// `baton bundle`: all that a new session needs to go on with a run, without the conversation that came before.
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { beats } from '../../engine/heartbeat.ts';
import type { Budget } from '../../kernel/graph/config.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { tasksOf } from '../../kernel/ledger/state.ts';
import { bundleOf } from '../../kernel/ledger/wire.ts';
import { allow } from '../../kernel/verdict.ts';
import { type Call, EXIT, outJson, Refused, text } from '../command.ts';
import { answer, heardIn, ledgerFor, onlyRun, withLedger } from '../ledger-session.ts';

export async function run(call: Call): Promise<number> {
  const file = text(call.values, 'output');
  try {
    return await withLedger(call, async (session) => {
      const { ledger, run: named } = await ledgerFor(session);
      const run = onlyRun(call, ledger, named);
      const heartbeats = heardIn(run, await beats(session.log));
      const cast = await session.door.cast(run);
      const held = ledger.hold === null ? {} : { held: `${ledger.hold.by}: ${ledger.hold.reason}` };
      const constraints = { ...(cast ? limitsOf(cast.rules.budget) : {}), ...held };
      const isStated = tasksOf(ledger, run).some((task) => task.objective !== '');
      const objective = text(call.values, 'objective') ?? (isStated ? '' : (cast?.request ?? ''));
      const bundle = bundleOf(ledger, run, objective, { constraints, heartbeats, at: Date.now() });
      if (file === undefined) {
        outJson(bundle);
        return EXIT.ok;
      }
      const target = resolve(call.cwd, file);
      writeFileSync(target, `${JSON.stringify(bundle, null, 2)}\n`);
      return answer(allow(`the bundle of ${run} is in ${target}`, { run, file: target }));
    });
  } catch (error) {
    if (error instanceof Refused) return answer(error.verdict);
    throw error;
  }
}

/** What a cast may use, as far as anybody has set a limit. */
function limitsOf({ maxTokens, maxCost, maxDurationMs }: Budget): JsonObject {
  const limits = Object.entries({ maxTokens, maxCost, maxDurationMs }).filter(([, limit]) => limit !== null);
  return limits.length === 0 ? {} : { budget: Object.fromEntries(limits) };
}
