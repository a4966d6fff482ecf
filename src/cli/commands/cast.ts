// `baton cast`: the request comes as words, from a file or from standard input; what does not check is shown as a cast.
import { Refused } from '../../app/refused.ts';
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import type { Denied } from '../../kernel/verdict.ts';
import { type Call, EXIT, flag, note, outJson, text, UsageError } from '../command.ts';
import { driven, showDriven } from '../drive-operation.ts';
import type { Giving } from '../operation-command.ts';
import { readInput } from '../read-input.ts';
import { ended } from '../show-operation.ts';

export async function run(call: Call, giving: Giving): Promise<number> {
  const request = await requestOf(call);
  const given = { ...(await giving()), request };
  if (flag(call.values, 'dry-run')) {
    const { inPlace: _where, detach: _how, turns: _what, ...plan } = given as Record<string, Json>;
    const verdict = await ended(call, 'cast.plan', plan);
    if (!verdict.allow) return refused(call, verdict);
    return (await import('../show/cast-plan.ts')).showPlan(call, verdict.details as JsonObject);
  }
  const end = await driven(call, 'cast.start', given);
  return end.verdict.allow ? showDriven(call, end, given) : refused(call, end.verdict);
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
  return EXIT.denied;
}
