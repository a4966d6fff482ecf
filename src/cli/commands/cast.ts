// `baton cast`, `baton answer` and `baton watch`: a text comes as words, from a file or from standard input; a cast is followed.

import type { CastNews } from '../../app/look-at-cast.ts';
import type { OperationEvent } from '../../app/operation.ts';
import type { Given } from '../../app/perform.ts';
import { costText, flat } from '../../app/views/in-words.ts';
import type { CastView } from '../../app/views/shown-cast.ts';
import { isObject, isString, type Json, type JsonObject } from '../../kernel/json.ts';
import type { Denied } from '../../kernel/verdict.ts';
import {
  again,
  type Call,
  EXIT_CODE,
  flag,
  note,
  out,
  outJson,
  outJsonLine,
  Refused,
  text,
  UsageError,
} from '../command.ts';
import { drive, driven, exitForStatus, showDriven, showEnd } from '../drive-operation.ts';
import type { Giving } from '../operation-command.ts';
import { table } from '../paint.ts';
import { type ProgressDisplay, progressFor } from '../progress.ts';
import { readInput } from '../read-input.ts';
import { PLACE, rowsIn } from '../show/form.ts';
import { allowed, ended } from '../show-operation.ts';
import { safe } from '../terminal-text.ts';

export async function castCommand(call: Call, giving: Giving): Promise<number> {
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

/** `--` ends the targets: everything behind it is the request. */
export async function linkCommand(call: Call, giving: Giving): Promise<number> {
  if (call.wordsBefore === undefined)
    throw new UsageError(`say: ${again(call)} link TARGET… -- REQUEST (-- ends the targets)`);
  const given = await giving();
  if (!isString(given.request) || given.request.trim() === '')
    throw new UsageError('say behind -- what the cast shall do');
  const end = await driven(call, 'cast.link', given);
  return end.verdict.allow ? showDriven(call, end, given) : refused(call, end.verdict);
}

async function besidePage(call: Call): Promise<number> {
  const [{ argumentsOf, castBesidePage }, { withWorkspace }] = await Promise.all([
    import('../page.ts'),
    import('../command.ts'),
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
    for (const { level, code: its, path, message } of issues) {
      // A line of the person's own file says more than the path in what it compiles to.
      const at = PLACE.test(String(message)) ? '' : `${path}: `;
      note(`${level} ${its} ${at}${message}`);
    }
    note('The cast was not started.');
  }
  return EXIT_CODE.denied;
}

function showPlan(call: Call, plan: JsonObject): number {
  if (call.json) {
    outJson(plan);
    return EXIT_CODE.ok;
  }
  const estimate = plan.estimate as JsonObject;
  const sockets = rowsIn(plan.sockets);
  const names = new Map(sockets.map(({ socket, name }) => [socket, String(name)]));
  const nameOf = (socket: Json | undefined) => names.get(socket) ?? String(socket);
  const rows = sockets.map(({ name, type, contract, runner, model }) => {
    const by = runner === undefined ? type : `${runner}${model ? ` with ${model}` : ''}`;
    return [String(name), String(by), String(contract)];
  });
  out(`loadout ${String(plan.loadout)}`);
  for (const line of table(rows, ['step', 'runs on', 'contract'])) out(line);
  for (const { socket, brief } of rowsIn(plan.briefs)) out(`\n--- brief of ${nameOf(socket)} ---\n${brief}`);
  const tokens = String(estimate.inputTokensPerRound);
  out(`\nAbout ${tokens} input tokens for one turn of each agent (an estimate, without what their tools read).`);
  for (const line of costLines(estimate, nameOf)) out(line);
  out('Nothing was started.');
  return EXIT_CODE.ok;
}

function costLines(
  { cost, unpriced, outputTokensPerRound, turns, pricesChecked }: JsonObject,
  nameOf: (socket: Json | undefined) => string,
): string[] {
  if (typeof cost !== 'number') return ['The cost cannot be estimated: no agent names a model whose price is known.'];
  const left = Array.isArray(unpriced) ? unpriced.map(nameOf) : [];
  const without = left.length === 0 ? '' : ` It leaves out ${left.join(', ')}, whose price is not known.`;
  const answer = Number(outputTokensPerRound) / Math.max(1, rowsIn(turns).length);
  const what = `About ${costText({ cost, estimated: true })} for one turn of each with an answer of ${answer} tokens`;
  return [`${what}, by prices of ${String(pricesChecked)}.${without}`];
}

export async function answerCommand(call: Call, giving: Giving): Promise<number> {
  const [, ...words] = call.words;
  const file = text(call.values, 'file');
  if (file !== undefined && words.length > 0) throw new UsageError('give the answer as words or with --file, not both');
  const number = text(call.values, 'turn');
  if (number !== undefined && !/^[1-9]\d{0,9}$/.test(number))
    throw new UsageError(`--turn must be the number of a turn, not ${number}`);
  const { answer: _word, ...given } = await giving();
  const answer = words.length > 0 ? words.join(' ') : await written(call, file, given);
  return drive(call, 'cast.answer', { ...given, answer });
}

async function written(call: Call, file: string | undefined, given: Given): Promise<string> {
  const { brief, asks } = await allowed(call, 'cast.answer', given);
  if (file !== undefined) return readInput(call, file);
  const asked = isString(asks) ? safe(asks) : isString(brief) ? brief : '';
  if (process.stdin.isTTY) note(`${asked}\n\nYour answer, ended with Ctrl-D on a line of its own:`);
  return readInput(call, '-');
}

export async function watchCommand(call: Call, giving: Giving): Promise<number> {
  const isStream = flag(call.values, 'jsonl');
  if (isStream && call.json) throw new UsageError('--json is one value and --jsonl a line for each event; choose one');
  const withFacts = flag(call.values, 'facts');
  if (withFacts && !isStream) throw new UsageError('--facts are lines between those of the agents; say --jsonl too');
  let progress: ProgressDisplay | null = null;
  const onEvent = (event: OperationEvent) => {
    if (event.kind === 'note') return note(event.text);
    if (event.kind !== 'value') return;
    const news = event.value as CastNews;
    if (news.kind === 'live') {
      const { turn, attempt, socket, event: live } = news;
      if (isStream) outJsonLine({ turn, attempt, socket, event: live });
      return progress?.hear(turn, live);
    }
    for (const entry of withFacts ? news.entries : []) outJsonLine(flat(entry));
    progress ??= progressFor(isStream ? { ...call, json: true } : call, news.cast, [], 'Ctrl-C ends only this view');
    progress.take(news.entries);
  };
  const { signal } = new AbortController();
  const verdict = await ended(call, 'cast.watch', await giving(), { signal, onEvent });
  (progress as ProgressDisplay | null)?.stop();
  const { stands: _stands, ...rest } = verdict.details;
  const view = rest as unknown as CastView;
  if (!verdict.allow && view.cast === undefined) throw new Refused(verdict);
  if (isStream) outJsonLine(view);
  if (verdict.allow) return isStream ? exitForStatus(view.status) : showEnd(call, view);
  note(
    `No process drives cast ${view.cast}: the one that did is gone. Carry on with: ${again(call)} resume ${view.cast}`,
  );
  if (call.json) outJson(view);
  return EXIT_CODE.denied;
}
