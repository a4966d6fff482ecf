// `baton cast`: the request comes as words, from a file or from standard input; what does not check is shown as a cast.
import { Refused } from '../../app/refused.ts';
import { costText } from '../../app/views/figures.ts';
import { isObject, isString, type Json, type JsonObject } from '../../kernel/json.ts';
import type { Denied } from '../../kernel/verdict.ts';
import { type Call, EXIT_CODE, flag, note, out, outJson, text, UsageError } from '../command.ts';
import { driven, showDriven } from '../drive-operation.ts';
import type { Giving } from '../operation-command.ts';
import { readInput } from '../read-input.ts';
import { rowsIn } from '../show/form.ts';
import { ended } from '../show-operation.ts';

export async function run(call: Call, giving: Giving): Promise<number> {
  if (flag(call.values, 'ui')) return besidePage(call);
  const request = await requestOf(call);
  const given = { ...(await giving()), request };
  if (flag(call.values, 'dry-run')) {
    const { inPlace: _where, detach: _how, turns: _what, ...plan } = given as Record<string, Json>;
    const verdict = await ended(call, 'cast.plan', plan);
    if (!verdict.allow) return refused(call, verdict);
    return showPlan(call, verdict.details as JsonObject);
  }
  const end = await driven(call, 'cast.start', given);
  return end.verdict.allow ? showDriven(call, end, given) : refused(call, end.verdict);
}

async function besidePage(call: Call): Promise<number> {
  const [{ argumentsOf, castBesidePage }, { withWorkspace }] = await Promise.all([
    import('../cast-beside-page.ts'),
    import('../open-workspace.ts'),
  ]);
  return withWorkspace(call, (workspace) => castBesidePage(call, workspace, argumentsOf(call, ['ui', 'no-open'])));
}

/** The words of the call, a file, or standard input: arguments of a program cannot be long. */
async function requestOf(call: Call): Promise<string> {
  const file = text(call.values, 'request-file');
  const words = call.words.join(' ');
  if (file !== undefined && words !== '')
    throw new UsageError('give the request as words or with --request-file, not both');
  const source = file ?? (words === '-' ? '-' : undefined);
  const request = (source === undefined ? words : await readInput(call, source)).trim();
  if (request === '')
    throw new UsageError('say: baton cast REQUEST (what it shall do, or - to read that from standard input)');
  if (request.includes('\0')) throw new UsageError('the request holds a NUL character; remove it');
  return request;
}

/** What does not check is the same object as a cast that ran, so that scripts read one shape. */
function refused(call: Call, verdict: Denied): number {
  const { code, reason } = verdict;
  const issues = Array.isArray(verdict.details.issues) ? verdict.details.issues.filter(isObject) : null;
  if (!issues) throw new Refused(verdict);
  if (call.json) {
    const usage = { input: 0, output: 0, tokens: 0, cost: 0 };
    outJson({ cast: null, status: 'failed', code, reason, path: [], data: {}, usage, log: null, issues });
  } else {
    for (const { level, code: its, path, message } of issues) note(`${level} ${its} ${path}: ${message}`);
    note('The cast was not started.');
  }
  return EXIT_CODE.denied;
}

export function showPlan(call: Call, plan: JsonObject): number {
  if (call.json) {
    outJson(plan);
    return EXIT_CODE.ok;
  }
  const estimate = plan.estimate as JsonObject;
  out(`loadout ${String(plan.loadout)}`);
  for (const socket of rowsIn(plan.sockets)) out(`  ${lineOf(socket)}`);
  for (const { socket, brief } of rowsIn(plan.briefs)) out(`\n--- brief of ${socket} ---\n${brief}`);
  const tokens = String(estimate.inputTokensPerRound);
  out(`\nAbout ${tokens} input tokens for one turn of each agent (an estimate, without what their tools read).`);
  for (const line of costLines(estimate)) out(line);
  out('Nothing was started.');
  return EXIT_CODE.ok;
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
