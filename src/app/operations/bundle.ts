// All that a new session needs to go on with a run, without the conversation that came before.
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { beats } from '../../engine/heartbeat.ts';
import type { Budget } from '../../kernel/graph/config.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { tasksOf } from '../../kernel/ledger/state.ts';
import { bundleOf } from '../../kernel/ledger/wire.ts';
import { allow } from '../../kernel/verdict.ts';
import { heardIn, ledgerFor, ledgerSession, onlyRun } from '../ledger-session.ts';
import type { Run } from '../operation.ts';
import type { FieldsOf } from './table.ts';

export const run: Run<FieldsOf<'bundle'>> = async (workspace, input, context) => {
  const session = ledgerSession(workspace, context);
  const { store } = session;
  const { ledger, run: named } = await ledgerFor(session, input.run);
  const run = onlyRun(workspace, ledger, named);
  const heartbeats = heardIn(run, await beats(store.log));
  const cast = await store.view('cast', run);
  const held = ledger.hold === null ? {} : { held: `${ledger.hold.by}: ${ledger.hold.reason}` };
  const constraints = { ...(cast ? limitsOf(cast.rules.budget) : {}), ...held };
  const isStated = tasksOf(ledger, run).some((task) => task.objective !== '');
  const objective = input.objective ?? (isStated ? '' : (cast?.request ?? ''));
  const bundle = bundleOf(ledger, run, objective, { constraints, heartbeats, at: Date.now() });
  if (input.output === undefined) return allow(`the bundle of ${run}`, { bundle });
  const file = resolve(workspace.cwd, input.output);
  writeFileSync(file, `${JSON.stringify(bundle, null, 2)}\n`);
  return allow(`the bundle of ${run} is in ${file}`, { run, file });
};

/** What a cast may use, as far as anybody has set a limit. */
function limitsOf({ maxTokens, maxCost, maxDurationMs }: Budget): JsonObject {
  const limits = Object.entries({ maxTokens, maxCost, maxDurationMs }).filter(([, limit]) => limit !== null);
  return limits.length === 0 ? {} : { budget: Object.fromEntries(limits) };
}
