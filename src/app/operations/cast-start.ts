// Starts a cast: the rules of a loadout are frozen in the log, and the cast is driven, here or by a process of its own. Or only shows
// what it would run, with its first briefs.
import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { estimated, PRICES_CHECKED } from '../../agents/agent-result.ts';
import { hideSecrets, keepHidden } from '../../agents/hidden-texts.ts';
import { StorageError } from '../../engine/ports.ts';
import { CAPABILITIES, PRESENT, runnerCan } from '../../kernel/capabilities.ts';
import { hasWriters } from '../../kernel/cast/lock-scope.ts';
import type { Rules } from '../../kernel/graph/config.ts';
import { INPUTS } from '../../kernel/graph/resolve-graph.ts';
import { isObject, type JsonObject, objectAt } from '../../kernel/json.ts';
import type { ForQuest } from '../../kernel/quest/decide.ts';
import { truncate } from '../../kernel/text.ts';
import { allow, deny, type Verdict } from '../../kernel/verdict.ts';
import { BUNDLED } from '../../workspace/find-config.ts';
import type { Plan } from '../../workspace/plan.ts';
import type { RepositoryReading } from '../../workspace/worktree/repository.ts';
import {
  askWhich,
  commandsOf,
  isolationOf,
  mayChangeFiles,
  planned,
  refusedPlan,
  requireTrust,
  whyNotApart,
} from '../driving/check-start.ts';
import { idToStart, startBehind } from '../driving/detach.ts';
import { driveCast, withDriver } from '../driving/drive-cast.ts';
import { userLimits } from '../driving/layered-runners.ts';
import { configureLocks } from '../ledger-session.ts';
import { loadView } from '../look-at-cast.ts';
import { nameCast } from '../name-cast.ts';
import type { Context, InputOf } from '../operation.ts';
import { probed } from '../preflight/agents.ts';
import { findingsIn, needsOf } from '../preflight/checks.ts';
import { findingText, issueOf } from '../preflight/machine.ts';
import { AsksPerson, Refused } from '../refused.ts';
import { socketName } from '../views/in-words.ts';
import { castVerdict } from '../views/shown-cast.ts';
import type { Workspace } from '../workspace.ts';
import type { FieldsOf, Operation } from './table.ts';

export type StartInput = InputOf<FieldsOf<'cast.start'>> & { readonly targets?: readonly string[] };
/** With the data that the cast begins with. */
type ReadyPlan = Plan & { readonly data: JsonObject };

export const castLink: Operation<'cast.link'> = (workspace, input, context) => startCastFor(workspace, input, context);

export const castStart: Operation<'cast.start'> = (workspace, input, context) =>
  startCastFor(workspace, input, context);

/** With a quest the cast starts only if the quest may start; both are one commit. */
export async function startCastFor(
  workspace: Workspace,
  input: StartInput,
  context: Context,
  quest?: ForQuest,
): Promise<Verdict> {
  const plan = await planned(workspace, input, context);
  if (!plan.ok) {
    if (quest === undefined) askWhich(plan, 'loadout');
    return refusedPlan(plan.issues);
  }
  askForBundled(workspace, plan.plan, input, context);
  for (const name of plan.plan.strangers)
    context.onEvent({
      kind: 'note',
      text: `warning: the script speaks for ${name}, which is no socket and no materia of what is cast`,
    });
  // A mistake in them stops every cast, so it is reported before there is an id or a worktree.
  userLimits(workspace.env);
  await requireTrust(workspace, commandsOf(plan.plan.rules, input.inPlace === true));
  const lacking = await lookBefore(workspace, plan.plan, input, context);
  if (lacking) return lacking;
  const look = await askForFolder(workspace, plan.plan, input);
  const earlier = input.from === undefined ? null : await resultsOf(workspace, input.from);
  // What is the latest cast now may not be the latest one in the background process.
  if (input.detach)
    return detached(
      workspace,
      earlier === null ? input : { ...input, from: earlier.previousCastContext.cast },
      plan.plan,
      context,
    );
  const data = { ...plan.plan.data, ...earlier };
  return driven(workspace, { ...plan.plan, data }, input, context, { look, quest });
}

type EarlierResults = { readonly previousCastContext: JsonObject & { readonly cast: string } };

const RESULTS_MAX = 20;
const RESULT_CHARS_MAX = 4_000;

/** What an earlier cast came to, as data of the next one: its last accepted answers, cut to a bound. */
async function resultsOf(workspace: Workspace, word: string): Promise<EarlierResults> {
  const store = workspace.castStore();
  const { cast: id } = await nameCast(store, word, workspace.program);
  const view = await loadView(workspace, store, id, true);
  const accepted = (view.turns ?? []).filter(({ verdict }) => isObject(verdict) && verdict.allow === true);
  const results = accepted.slice(-RESULTS_MAX).map(({ socket, item, output }) => {
    const name = view.sockets[socket]?.name ?? socket;
    return { step: name, ...(item === null ? {} : { item }), output: truncate(output ?? '', RESULT_CHARS_MAX) };
  });
  const { cast, loadout, request, status } = view;
  const branch = view.branch === undefined ? {} : { branch: view.branch };
  const context = { cast, loadout, request: truncate(request, RESULT_CHARS_MAX), status, ...branch, results };
  return { previousCastContext: context };
}

/** Without a configuration a person says which team works. A scripted cast costs nothing and just runs. */
function askForBundled({ dir, program }: Workspace, plan: Plan, input: StartInput, { onEvent }: Context): void {
  const { loadout, file, materia, link, targets } = input;
  const isNamed = [loadout, file, materia, link, targets].some((way) => way !== undefined);
  if (plan.file !== BUNDLED || isNamed) return;
  const what = `${dir} has no configuration. The bundled loadout ${plan.loadout} would run: ${stepsOf(plan)}`;
  if (plan.script !== null) return onEvent({ kind: 'note', text: `${dir} has no configuration: ${plan.loadout} runs` });
  const fix = `Say it with \`${program} cast -l ${plan.loadout} …\`, or make a team of your own with \`${program} init\``;
  const refusal = deny('CONFIRMATION_NEEDED', `${what}. ${fix}.`, { loadout: plan.loadout });
  throw new AsksPerson(refusal, `${what}. Run it?`, { set: { loadout: plan.loadout } });
}

function stepsOf({ rules: { graph, materia } }: Plan): string {
  return Object.values(graph.sockets)
    .map((socket) => materia[socket.materia]?.label ?? socket.materia)
    .join(', ');
}

/** Looks for what is missing before anything is spent: an error refuses the cast, a warning is shown. */
async function lookBefore(workspace: Workspace, plan: Plan, { inPlace, probe }: StartInput, context: Context) {
  const needs = needsOf([plan.rules], plan.script, inPlace === true);
  const answers = await probed(probe === true ? needs.agents : [], context);
  const situation = { workspace, needs, now: Date.now(), isDoctor: false, proved: answers.proved };
  const found = [...(await findingsIn(situation)), ...answers.findings].filter(({ level }) => level !== 'ok');
  const state = found.find(({ name, level }) => name === 'state' && level === 'error');
  // The same fault as of every command that opens the log.
  if (state) throw new StorageError('STORAGE_FAILED', findingText(state));
  if (found.some(({ level }) => level === 'error')) return refusedPlan(found.map(issueOf));
  for (const finding of found)
    context.onEvent({ kind: 'note', text: `warning: ${finding.name}: ${findingText(finding)}` });
  return null;
}

/**
 * Agents that write where git cannot keep them apart work in the folder of the person, so the person is asked. Answers what git said
 * of the folder, where it was asked.
 */
async function askForFolder({ dir, program }: Workspace, { rules, script }: Plan, { inPlace }: StartInput) {
  const writes = Object.values(rules.materia).some((one) => one.type === 'agent' && mayChangeFiles(one));
  if (inPlace === true || rules.worktree === null || script !== null || !writes || !hasWriters(rules)) return null;
  const { look, why, fix } = await whyNotApart(dir);
  if (why === null) return look;
  const kept = `What they change is kept, so that \`${program} undo\` works.`;
  const reason = `${why}, so the agents would write in ${dir} itself. ${kept} Say so with --in-place, or ${fix}.`;
  throw new AsksPerson(
    deny('CONFIRMATION_NEEDED', reason, { folder: dir }),
    `${why}. The agents write in ${dir} itself. ${kept} Go on?`,
    {
      flag: 'inPlace',
    },
  );
}

async function detached(workspace: Workspace, input: StartInput, { data }: ReadyPlan, { actor }: Context) {
  const store = workspace.ledgerStore({ begins: true });
  const cast = await startBehind(
    workspace,
    store,
    actor,
    [...argsFor(workspace, input), ...inputArgs(data)],
    input.request,
  );
  const view = await loadView(workspace, store, cast, input.turns === true);
  return allow(`cast ${cast} was started`, castVerdict(view).details);
}

/** The same input as arguments, with names of files that do not depend on where it is called. */
function argsFor({ cwd }: Workspace, input: StartInput): string[] {
  const { inPlace, loadout, file, agents, runner, model, materia, from, targets, set = [] } = input;
  const link = input.link ?? targets?.map((each) => JSON.stringify(each)).join(' ');
  const named = (name: string, path: string | undefined) => (path === undefined ? [] : [name, resolve(cwd, path)]);
  const given = Object.entries({ loadout, runner, model, materia, link, from });
  const which = given.flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`]));
  const keys = set.map((each) => `--set=${each}`);
  return [
    ...(inPlace ? ['--in-place'] : []),
    ...which,
    ...keys,
    ...named('--file', file),
    ...named('--agents', agents),
  ];
}

/** The checked inputs, each as a word of its own. */
function inputArgs(data: JsonObject): string[] {
  return Object.entries(objectAt(data, INPUTS)).map(([name, value]) => {
    return `--input=${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`;
  });
}

type Beginning = {
  readonly look: RepositoryReading | null;
  readonly quest?: ForQuest | undefined;
};

async function driven(
  workspace: Workspace,
  plan: ReadyPlan,
  { request, inPlace, turns = false }: StartInput,
  context: Context,
  { look, quest }: Beginning,
) {
  const { actor } = context;
  const cast = idToStart(workspace.env);
  const { loadout, data } = plan;
  const hidden = hideSecrets(plan.script, plan.rules);
  const { rules, script } = hidden;
  const { root, says } = await isolationOf(workspace, rules, cast, inPlace === true, look);
  const where = root === undefined ? {} : { root };
  return withDriver(workspace, actor, async (store) => {
    const begin = async () => {
      await configureLocks(store, workspace, actor);
      keepHidden(workspace.stateDir, cast, hidden);
      const verdict = await store.submit(
        {
          ...{ kind: 'cast.start', cast, request, loadout, rules, script, data, runId: randomUUID(), ...where },
          capabilities: CAPABILITIES,
          ...(quest === undefined ? {} : { quest }),
        },
        actor,
      );
      if (!verdict.allow) throw new Refused(verdict);
    };
    return castVerdict(await driveCast(workspace, store, cast, { begin, says, turns }, context));
  });
}

/** Rough, and shown as such: a token is about four characters. */
const CHARS_PER_TOKEN = 4;
/** The assumed length of an answer. */
const ANSWER_TOKENS = 1_000;

export const castPlan: Operation<'cast.plan'> = async (workspace, input, context) => {
  const found = await planned(workspace, input, context);
  if (!found.ok) {
    askWhich(found, 'loadout');
    return refusedPlan(found.issues);
  }
  const { plan } = found;
  const { request } = input;
  const briefs = await firstBriefs(plan, request);
  const sockets = Object.values(plan.rules.graph.sockets).map(({ id, materia, contract }) => {
    const used = plan.rules.materia[materia];
    const who = used?.type === 'agent' ? { runner: used.runner, model: used.model } : {};
    const name = socketName(plan.rules, id);
    return { socket: id, name, materia: used?.label ?? materia, type: used?.type ?? 'agent', contract, ...who };
  });
  const turns = briefs.map(({ socket, brief }) => turnOf(plan.rules, socket, brief));
  const inputTokens = turns.reduce((sum, { inputTokens: one }) => sum + one, 0);
  const unpriced = turns.filter(({ cost }) => cost === null).map(({ socket }) => socket);
  const cost = unpriced.length === turns.length ? null : turns.reduce((sum, one) => sum + (one.cost ?? 0), 0);
  // What agents read with their tools, and what they answer, is not known before.
  const estimate = {
    inputTokensPerRound: inputTokens,
    outputTokensPerRound: turns.length * ANSWER_TOKENS,
    cost,
    ...(unpriced.length > 0 ? { unpriced } : {}),
    pricesChecked: PRICES_CHECKED,
    turns,
    exact: false,
  };
  return allow('nothing was started', { loadout: plan.loadout, request, sockets, briefs, estimate });
};

type Estimate = {
  readonly socket: string;
  readonly model: string | null;
  readonly inputTokens: number;
  readonly cost: number | null;
};

/** A runner that is asked for no model picks one itself, so its price is not known before. */
function turnOf(rules: Rules, socket: string, brief: string): Estimate {
  const materia = rules.materia[rules.graph.sockets[socket]?.materia ?? ''];
  const model = materia?.type === 'agent' ? materia.model : null;
  const inputTokens = Math.ceil(brief.length / CHARS_PER_TOKEN);
  const isFree = materia?.type === 'agent' && runnerCan(PRESENT, materia.runner, 'isPerson');
  const used = estimated({ input: inputTokens, output: ANSWER_TOKENS, cost: 0 }, model, rules.prices);
  return { socket, model, inputTokens, cost: isFree ? 0 : used.estimated ? used.cost : null };
}

/** Each agent's brief on an empty cast: what comes from other turns is missing in it. */
async function firstBriefs(plan: ReadyPlan, request: string): Promise<{ socket: string; brief: string }[]> {
  const [{ dialects }, { Decider }, { LocalStore }, { MemoryLog }] = await Promise.all([
    import('../../dialects/index.ts'),
    import('../../engine/decider.ts'),
    import('../../engine/local-store.ts'),
    import('../../log/memory.ts'),
  ]);
  const briefs = [];
  for (const [socket, { materia }] of Object.entries(plan.rules.graph.sockets)) {
    if (plan.rules.materia[materia]?.type !== 'agent') continue;
    const graph = { ...plan.rules.graph, entry: socket, loops: [] };
    const store = new LocalStore(await Decider.open(new MemoryLog(), dialects));
    await store.submit(
      {
        kind: 'cast.start',
        cast: 'dry',
        request,
        loadout: plan.loadout,
        rules: { ...plan.rules, graph },
        script: null,
        data: plan.data,
        capabilities: CAPABILITIES,
      },
      { name: 'dry-run' },
    );
    await store.submit({ kind: 'turn.prepared', cast: 'dry', turn: 1, attempt: 1 }, { name: 'dry-run' });
    const cast = await store.view('cast', 'dry');
    briefs.push({ socket, brief: cast?.turns['1']?.brief ?? '' });
    await store.close();
  }
  return briefs;
}
