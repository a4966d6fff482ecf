// The verbs that carry a standing cast on, and which of them fits the state it is in.

import { loadView } from '../app/load-view.ts';
import { hasLog } from '../app/state-folder.ts';
import { refuseErased } from '../audit/erased-needs.ts';
import type { Door } from '../engine/door.ts';
import { thisDriver } from '../engine/driver.ts';
import { isExpired } from '../kernel/cast/expired.ts';
import type { CastSummary } from '../kernel/cast/summary.ts';
import type { CastStatus } from '../kernel/state.ts';
import type { Verdict } from '../kernel/verdict.ts';
import { withEvidence } from '../log/sqlite/evidence.ts';
import { logFileIn } from '../log/sqlite/log.ts';
import { ask } from './ask.ts';
import { again, type Call, flag, note, outJson, Refused, UsageError } from './command.ts';
import { commandName } from './command-name.ts';
import { outlast } from './driven-by.ts';
import { driveAndShow, withDriver } from './driving.ts';
import { exitOf } from './ending.ts';
import { workspaceOf } from './find-workspace.ts';
import { nameCast, noCastYet } from './looking.ts';
import { requirePerson } from './refuse-agents.ts';
import { requireTrust } from './require-trust.ts';
import { person } from './session.ts';

export type Verb = 'resume' | 'recast' | 'revive' | 'continue';
type Exact = Exclude<Verb, 'continue'>;

/** The statuses each verb can do something for. */
const FITS: Readonly<Record<Exact, readonly CastStatus[]>> = {
  resume: ['running', 'paused'],
  recast: ['failed', 'aborted'],
  revive: ['failed'],
};

export async function goOn(call: Call, verb: Verb): Promise<number> {
  const workspace = workspaceOf(call);
  if (!hasLog(workspace)) throw noCastYet(workspace);
  const isTakeOver = flag(call.values, 'take-over');
  if (isTakeOver && call.words[0] === undefined) throw new UsageError('--take-over needs the id of the cast');
  await requireTrust(call, workspace);
  return withDriver(workspace, async (door) => {
    const summary = await choose(door, call.words[0], verb);
    const { cast, status } = summary;
    if (verb === 'revive') requirePerson(call, cast);
    const driving = await door.driverOf(cast);
    const over = driving && (isTakeOver ? driving.fence : await outlast(door, cast, driving));
    const exact = verb === 'continue' ? await obvious(door, summary) : verb;
    // A blocked task is tried again when a person says so; an unknown outcome needs more than that.
    const isStuck =
      isExpired(summary, Date.now()) ||
      (verb === 'continue' && status === 'waiting' && summary.code !== 'OUTCOME_UNKNOWN');
    if (exact === 'resume' && !isStuck && !FITS.resume.includes(status)) {
      if (over !== null) await freeCast(door, cast, over);
      return standStill(call, door, summary);
    }
    // What certainly does not fit is refused before anything is driven: driving starts what a crashed cast is owed.
    if (!isStuck && !FITS[exact].includes(status)) await steer(door, cast, exact);
    const erased = await withEvidence(logFileIn(workspace.stateDir), (evidence) => refuseErased(evidence, cast));
    if (erased) throw new Refused(erased);
    // A cast that was cut off runs already, and may have come to its end by the time anybody could say so.
    const isUnderWay = exact === 'resume' && status === 'running';
    const begin = async () => {
      if (!isUnderWay) await steer(door, cast, exact);
    };
    return driveAndShow(call, workspace, door, cast, { begin, ...(over === null ? {} : { over }) });
  });
}

/** Ends the lease of a driver that is not to drive on, where there is nothing to drive now. */
async function freeCast(door: Door, cast: string, over: number): Promise<void> {
  const me = thisDriver();
  await door.takeCast(cast, me, over);
  await door.releaseCast(cast, me);
}

async function steer(door: Door, cast: string, verb: Exact): Promise<void> {
  const verdict = await submit(door, cast, verb);
  if (!verdict.allow) throw new Refused(verdict);
}

function submit(door: Door, cast: string, verb: Exact): Promise<Verdict> {
  if (verb === 'recast') return door.submit({ kind: 'cast.recast', cast }, person());
  if (verb === 'revive') return door.submit({ kind: 'cast.revive', cast }, person());
  return door.submit({ kind: 'cast.resume', cast, reason: 'resumed' }, person());
}

/** What a person most likely wants. A spent allowance is extended only when the person says so. */
async function obvious(door: Door, { cast, status, code }: CastSummary): Promise<Exact> {
  if (status !== 'failed' && status !== 'aborted') return 'resume';
  if (code === 'EDGE_BUDGET_EXHAUSTED' && (await ask('Its retry budget is spent. Give it as much again?')))
    return 'revive';
  if (code === 'BUDGET_EXHAUSTED') await offerBudget(door, cast);
  return 'recast';
}

async function offerBudget(door: Door, cast: string): Promise<void> {
  const state = await door.cast(cast);
  if (!state || !(await ask('Its budget is spent. Give it as much again?'))) return;
  const limits = ['maxTokens', 'maxCost', 'maxDurationMs'] as const;
  const wish: { -readonly [limit in (typeof limits)[number]]?: number } = {};
  for (const limit of limits) {
    const [now, first] = [state.budget[limit], state.rules.budget[limit]];
    if (now !== null && first !== null) wish[limit] = now + first;
  }
  const verdict = await door.submit({ kind: 'budget.change', cast, ...wish }, person());
  if (!verdict.allow) throw new Refused(verdict);
}

/** Without a name: the newest cast the verb can do something for and nobody drives, else the newest of all. */
async function choose(door: Door, word: string | undefined, verb: Verb): Promise<CastSummary> {
  if (word !== undefined) return nameCast(door, word);
  const casts = await door.casts(verb === 'continue' ? { isOpen: true } : {});
  // An old failure is not what a person means to continue once later casts went well.
  const wanted: readonly CastStatus[] = verb === 'continue' ? ['running', 'paused', 'waiting'] : FITS[verb];
  const fitting: CastSummary[] = [];
  for (const one of casts) {
    if (!wanted.includes(one.status) || (verb === 'revive' && one.code !== 'EDGE_BUDGET_EXHAUSTED')) continue;
    if (one.status !== 'running' || (await door.driverOf(one.cast)) === null) fitting.push(one);
  }
  if (fitting.length > 1)
    note(`${fitting.length} casts could be carried on; this is the newest. \`${commandName()} casts\` lists them.`);
  return fitting.at(-1) ?? nameCast(door, 'latest');
}

async function standStill(call: Call, door: Door, { cast, status, reason }: CastSummary): Promise<number> {
  if (status === 'waiting') note(`Cast ${cast} waits for a person: ${reason}`);
  else if (status === 'completed') note(`There is nothing to do: cast ${cast} is completed.`);
  else note(`There is nothing to resume: cast ${cast} is ${status}. \`${again(call)} recast ${cast}\` runs it on.`);
  const view = await loadView(door, cast, flag(call.values, 'turns'), workspaceOf(call).dir);
  if (call.json) outJson(view);
  return exitOf(view.status);
}
