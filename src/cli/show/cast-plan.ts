// What a cast would run, for `baton cast --dry-run`.
import { isString, type Json, type JsonObject } from '../../kernel/json.ts';
import { type Call, EXIT, out, outJson } from '../command.ts';
import { costText } from '../cost-text.ts';
import { rowsIn } from './form.ts';

export function showPlan(call: Call, plan: JsonObject): number {
  if (call.json) {
    outJson(plan);
    return EXIT.ok;
  }
  const estimate = plan.estimate as JsonObject;
  out(`loadout ${String(plan.loadout)}`);
  for (const socket of rowsIn(plan.sockets)) out(`  ${lineOf(socket)}`);
  for (const { socket, brief } of rowsIn(plan.briefs)) out(`\n--- brief of ${socket} ---\n${brief}`);
  const tokens = String(estimate.inputTokensPerRound);
  out(`\nAbout ${tokens} input tokens for one turn of each agent (an estimate, without what their tools read).`);
  for (const line of costLines(estimate)) out(line);
  out('Nothing was started.');
  return EXIT.ok;
}

function costLines({ cost, unpriced, outputTokensPerRound, turns, pricesChecked }: JsonObject): string[] {
  if (typeof cost !== 'number') return ['The cost is not known before: no model is named that a price is known of.'];
  const without = names(unpriced) === '' ? '' : ` It leaves out ${names(unpriced)}, whose price is not known.`;
  const answer = Number(outputTokensPerRound) / Math.max(1, rowsIn(turns).length);
  const what = `About ${costText({ cost, estimated: true })} for one turn of each with an answer of ${answer} tokens`;
  return [`${what}, by prices of ${String(pricesChecked)}.${without}`];
}

function names(list: Json | undefined): string {
  return Array.isArray(list) ? list.filter(isString).join(', ') : '';
}

function lineOf({ socket, materia, type, contract, runner, model }: JsonObject): string {
  const by = runner === undefined ? type : `${type} on ${runner}${model ? ` with ${model}` : ''}`;
  return `${socket}  ${materia}  (${by}, ${contract})`;
}
