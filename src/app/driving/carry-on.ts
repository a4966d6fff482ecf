// Carries a cast on, by a verb or by a person's answer: the request is submitted, then this or a detached process drives it.
import { refuseErased } from '../../audit/erasure.ts';
import { thisDriver } from '../../engine/lease.ts';
import type { Store, Submitter } from '../../engine/store.ts';
import { asMuchAgain, type Exact, mayMean, spentAllowance, stepFor, type Verb } from '../../kernel/cast/steer.ts';
import type { CastSummary } from '../../kernel/cast/summary.ts';
import type { Code } from '../../kernel/codes.ts';
import { isObject } from '../../kernel/json.ts';
import { type Denied, deny, type Verdict } from '../../kernel/verdict.ts';
import { withEvidence } from '../../log/sqlite/evidence.ts';
import { logFileIn } from '../../log/sqlite/open.ts';
import { UsageError } from '../../workspace/locate.ts';
import { loadView } from '../look-at-cast.ts';
import { nameCast, outlast } from '../name-cast.ts';
import type { Context } from '../operation.ts';
import { refusalOfDecision } from '../refusals.ts';
import { AsksPerson, Refused } from '../refused.ts';
import { bringIntoForce } from '../registry-in-force.ts';
import { issuesBeyond } from '../views/result.ts';
import { type CastView, castVerdict } from '../views/shown-cast.ts';
import type { Workspace } from '../workspace.ts';
import { requireTrust } from './check-start.ts';
import { driveBehind } from './detach.ts';
import { driveCast, withDriver } from './drive-cast.ts';

type CarryOn = {
  readonly cast?: string | undefined;
  readonly turns?: boolean | undefined;
  readonly detach?: boolean | undefined;
  readonly takeOver?: boolean | undefined;
  /** Whether a spent allowance is extended. Without it, a person is asked. */
  readonly extend?: boolean | undefined;
};

export async function carryOn(workspace: Workspace, verb: Verb, input: CarryOn, context: Context): Promise<Verdict> {
  const { takeOver = false, turns = false, detach = false } = input;
  if (takeOver && input.cast === undefined) throw new UsageError('--take-over needs the id of the cast');
  const { actor, onEvent, signal } = context;
  const { program } = workspace;
  const store = workspace.castStore();
  const note = (text: string) => onEvent({ kind: 'note', text });
  await requireTrust(workspace);
  const work = async (store: Store): Promise<Verdict> => {
    const summary = await chooseCast(store, input.cast, verb, program, note);
    const { cast } = summary;
    const refusal = verb === 'revive' && refusalOfDecision(workspace, 'cast.revive', actor, cast);
    if (refusal) return refusal;
    const driving = await store.view('driver', cast);
    const over = driving && (takeOver ? driving.fence : await outlast(store, cast, driving, { program, note, signal }));
    if (verb === 'continue') await askedToExtend(summary, input.extend);
    const step = stepFor(verb, summary, Date.now(), input.extend);
    if (step.how === 'nothing') {
      if (over !== null) await freeCast(store, cast, over);
      note(whyNothing(summary, program));
      return castVerdict(await loadView(workspace, store, cast, turns));
    }
    // A verb that does not fit is refused before driving, which would start what a crashed cast is owed.
    if (step.how === 'refuse') await steer(store, cast, step.verb, actor);
    const erased = await withEvidence(logFileIn(workspace.stateDir), (evidence) => refuseErased(evidence, cast));
    if (erased) throw new Refused(erased);
    if (verb === 'continue' && input.extend && spentAllowance(summary) === 'budget')
      await raiseBudget(store, cast, actor);
    // A cast that was cut off runs already, and may have ended meanwhile.
    const begin = async () => {
      if (step.how === 'submit') await steer(store, cast, step.verb, actor);
    };
    if (!detach) {
      const drive = { begin, turns, ...(over === null ? {} : { over }) };
      return castVerdict(await driveCast(workspace, store, cast, drive, context));
    }
    if (over !== null) await freeCast(store, cast, over);
    await begin();
    await driveBehind(workspace, store, actor, cast);
    return castVerdict(await loadView(workspace, store, cast, turns));
  };
  if (!detach) return withDriver(workspace, actor, work);
  await bringIntoForce(store, workspace, actor);
  return work(store);
}

/** Without a name: the newest cast without a driver that the verb fits, else the newest of all. */
export async function chooseCast(
  store: Store,
  word: string | undefined,
  verb: Verb,
  program: string,
  note: (line: string) => void,
): Promise<CastSummary> {
  if (word !== undefined) return nameCast(store, word, program);
  const fitting: CastSummary[] = [];
  for (const one of await store.view('casts', verb === 'continue' ? { isOpen: true } : {})) {
    if (mayMean(verb, one) && (one.status !== 'running' || (await store.view('driver', one.cast)) === null))
      fitting.push(one);
  }
  if (fitting.length > 1)
    note(`${fitting.length} casts could be carried on; this is the newest. \`${program} casts\` lists them.`);
  return fitting.at(-1) ?? nameCast(store, 'latest', program);
}

const SPENT = { retries: 'Its retry budget is spent.', budget: 'Its budget is spent.' };

/** A spent allowance is extended only when the person says so; without it the cast is recast as it is. */
async function askedToExtend(summary: CastSummary, extend: boolean | undefined): Promise<void> {
  const spent = spentAllowance(summary);
  if (spent === null || extend !== undefined) return;
  const reason = `${SPENT[spent]} Say whether cast ${summary.cast} gets as much again (extend).`;
  const refusal = deny(summary.code as Code, reason, { cast: summary.cast });
  throw new AsksPerson(refusal, `${SPENT[spent]} Give it as much again?`, { flag: 'extend', otherwise: false });
}

async function raiseBudget(store: Store, cast: string, actor: Submitter): Promise<void> {
  const state = await store.view('cast', cast);
  if (!state) return;
  const verdict = await store.submit({ kind: 'budget.change', cast, ...asMuchAgain(state) }, actor);
  if (!verdict.allow) throw new Refused(verdict);
}

/** Ends the lease of a driver that is not to drive on, where there is nothing to drive now. */
async function freeCast(store: Store, cast: string, over: number): Promise<void> {
  const me = thisDriver();
  await store.lease('takeCast', cast, me, over);
  await store.lease('releaseCast', cast, me);
}

async function steer(store: Store, cast: string, verb: Exact, actor: Submitter): Promise<void> {
  const request =
    verb === 'resume'
      ? ({ kind: 'cast.resume', cast, reason: 'resumed' } as const)
      : ({ kind: `cast.${verb}`, cast } as const);
  const verdict = await store.submit(request, actor);
  if (!verdict.allow) throw new Refused(verdict);
}

function whyNothing({ cast, status, reason }: CastSummary, program: string): string {
  if (status === 'waiting') return `Cast ${cast} waits for a person: ${reason}`;
  if (status === 'completed') return `There is nothing to do: cast ${cast} is completed.`;
  return `There is nothing to resume: cast ${cast} is ${status}. \`${program} recast ${cast}\` runs it on.`;
}

type Saying = {
  readonly cast: string;
  readonly submit: (store: Pick<Store, 'submit'>) => Promise<Verdict>;
  /** Whether a refusal ends the operation. Any other is in the log, and the cast asks again. */
  readonly ends: (refusal: Denied) => boolean;
  /** Whether people get a line that says it was taken over. */
  readonly isTold?: boolean;
  readonly detach?: boolean | undefined;
  readonly turns?: boolean | undefined;
};

/**
 * Answers the cast as it is when it has stopped. A refusal holds the cast, too: `details.refused` is the refusal itself, and
 * `details.isWoken` says that the cast went on all the same. Where another process drives the cast, the verdict of what was
 * said: that process goes on by itself.
 */
export async function sayToCast(workspace: Workspace, saying: Saying, context: Context): Promise<Verdict> {
  const { cast, submit, turns = false } = saying;
  const { actor } = context;
  const store = workspace.castStore();
  await bringIntoForce(store, workspace, actor);
  if (saying.detach) {
    const refusal = await submitSaying(store, saying, context);
    await driveBehind(workspace, store, actor, cast);
    return ended(await loadView(workspace, store, cast, turns), refusal);
  }
  if (await store.view('driver', cast)) return submit(store);
  return withDriver(workspace, actor, async (store) => {
    let refusal: Refusal | null = null;
    const begin = async () => {
      refusal = await submitSaying(store, saying, context);
    };
    const view = await driveCast(workspace, store, cast, { begin, turns }, context);
    return ended(view, refusal);
  });
}

type Refusal = { readonly refused: Denied; readonly isWoken: boolean };

function ended(view: CastView, refusal: Refusal | null): Verdict {
  const shown = castVerdict(view);
  if (!refusal) return shown;
  const { code, reason } = refusal.refused;
  // An answer that cannot be taken has one code; `refused` holds the details.
  return deny(refusal.isWoken ? code : 'CONTRACT_VIOLATION', reason, { ...shown.details, ...refusal });
}

/**
 * Submits it. A refusal that ends the operation is thrown, unless the same step set the cast to work, because a permission
 * that it waited for is over: then the cast is driven on like any other.
 */
async function submitSaying(
  store: Pick<Store, 'view' | 'submit'>,
  { cast, submit, ends, isTold = false }: Saying,
  { onEvent }: Context,
): Promise<Refusal | null> {
  const before = (await store.view('cast', cast))?.status;
  const refused = await submit(store);
  const note = (text: string) => onEvent({ kind: 'note', text });
  if (refused.allow) {
    if (isTold) note(refused.reason);
    return null;
  }
  const isEnd = ends(refused);
  const isWoken = isEnd && before === 'waiting' && (await store.view('cast', cast))?.status === 'running';
  if (isEnd && !isWoken) throw new Refused(refused);
  note(`refused: ${refused.reason}`);
  if (!isEnd) for (const line of issuesIn(refused)) note(line);
  return { refused, isWoken };
}

function issuesIn({ reason, details }: Denied): string[] {
  const issues = Array.isArray(details.issues) ? details.issues.filter(isObject) : [];
  return issuesBeyond(reason, issues).map(({ path, message }) => `  ${String(path)}: ${String(message)}`);
}
