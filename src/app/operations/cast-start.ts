// A cast is started: the rules of a loadout are frozen in the log, and the cast is driven, here or by a process of its own.
import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { hideSecrets, keepHidden } from '../../agents/hidden-texts.ts';
import { CAPABILITIES } from '../../kernel/capabilities.ts';
import { hasWriters } from '../../kernel/cast/lock-scope.ts';
import { allow, deny } from '../../kernel/verdict.ts';
import { BUNDLED } from '../../workspace/find-config.ts';
import type { Plan } from '../../workspace/plan.ts';
import { isolationOf, mayChangeFiles, planned, refusedPlan, whyNotApart } from '../driving/check-start.ts';
import { idToStart, startBehind } from '../driving/detach.ts';
import { driveCast } from '../driving/drive-cast.ts';
import { withDriver } from '../driving/driver-store.ts';
import { userLimits } from '../driving/user-limits.ts';
import { loadView } from '../look-at-cast.ts';
import { configureLocks } from '../main-locks.ts';
import type { Context, InputOf } from '../operation.ts';
import { findingsIn, needsOf } from '../preflight/checks.ts';
import { findingText, issueOf } from '../preflight/finding.ts';
import { probed } from '../preflight/probe.ts';
import { AsksPerson, Refused } from '../refused.ts';
import { commandsOf, requireTrust } from '../require-trust.ts';
import { castVerdict } from '../views/shown-cast.ts';
import type { Workspace } from '../workspace.ts';
import type { FieldsOf, Operation } from './table.ts';

type Input = InputOf<FieldsOf<'cast.start'>>;

export const castStart: Operation<'cast.start'> = async (workspace, input, context) => {
  const plan = await planned(workspace, input, context);
  if (!plan.ok) return refusedPlan(plan.issues);
  askForBundled(workspace, plan.plan, input, context);
  for (const name of plan.plan.strangers)
    context.onEvent({
      kind: 'note',
      text: `warning: the script speaks for ${name}, which is no socket and no materia`,
    });
  // A mistake in them stops every cast: it is told before an id is promised and a worktree made.
  userLimits(workspace.env);
  await requireTrust(workspace, commandsOf(plan.plan.rules, input.inPlace === true));
  const lacking = await lookBefore(workspace, plan.plan, input, context);
  if (lacking) return lacking;
  await askForFolder(workspace, plan.plan, input);
  return input.detach ? detached(workspace, input, context) : driven(workspace, plan.plan, input, context);
};

/** Where nobody configured anything, a person says which team works. What is scripted costs nothing and just runs. */
function askForBundled({ dir, program }: Workspace, plan: Plan, { loadout, file }: Input, { onEvent }: Context): void {
  if (plan.file !== BUNDLED || loadout !== undefined || file !== undefined) return;
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

/** What is missing is said before anything is spent: an error refuses the cast, a warning is shown. */
async function lookBefore(workspace: Workspace, plan: Plan, { inPlace, probe }: Input, context: Context) {
  const needs = needsOf([plan.rules], plan.script, inPlace === true);
  const answers = await probed(probe === true ? needs.agents : [], context);
  const scene = { workspace, needs, now: Date.now(), isDoctor: false, proved: answers.proved };
  const found = [...(await findingsIn(scene)), ...answers.findings].filter(({ level }) => level !== 'ok');
  if (found.some(({ level }) => level === 'error')) return refusedPlan(found.map(issueOf));
  for (const finding of found)
    context.onEvent({ kind: 'note', text: `warning: ${finding.name}: ${findingText(finding)}` });
  return null;
}

/** Agents that write where git cannot keep them apart work in the folder of the person, so the person is asked. */
async function askForFolder({ dir, program }: Workspace, { rules, script }: Plan, { inPlace }: Input): Promise<void> {
  const writes = Object.values(rules.materia).some((one) => one.type === 'agent' && mayChangeFiles(one));
  if (inPlace === true || rules.worktree === null || script !== null || !writes || !hasWriters(rules)) return;
  const { why, fix } = await whyNotApart(dir);
  if (why === null) return;
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

async function detached(workspace: Workspace, input: Input, { actor }: Context) {
  const store = workspace.ledgerStore({ begins: true });
  const cast = await startBehind(workspace, store, actor, argsFor(workspace, input), input.request);
  const view = await loadView(store, cast, input.turns === true, workspace.dir, workspace.program);
  return allow(`cast ${cast} was started`, castVerdict(view).details);
}

/** The same input as arguments, with names of files that do not depend on where it is called. */
function argsFor({ cwd }: Workspace, { inPlace, loadout, file, agents, runner, model }: Input): string[] {
  const named = (name: string, path: string | undefined) => (path === undefined ? [] : [name, resolve(cwd, path)]);
  const given = Object.entries({ loadout, runner, model });
  const which = given.flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`]));
  return [...(inPlace ? ['--in-place'] : []), ...which, ...named('--file', file), ...named('--agents', agents)];
}

async function driven(workspace: Workspace, plan: Plan, { request, inPlace, turns = false }: Input, context: Context) {
  const { actor } = context;
  const cast = idToStart(workspace.env);
  const { loadout } = plan;
  const hidden = hideSecrets(plan.script, plan.rules);
  const { rules, script } = hidden;
  const { root, says } = await isolationOf(workspace, rules, cast, inPlace === true);
  const where = root === undefined ? {} : { root };
  return withDriver(workspace, actor, async (store) => {
    const begin = async () => {
      await configureLocks(store, workspace, actor);
      keepHidden(workspace.stateDir, cast, hidden);
      const verdict = await store.submit(
        {
          ...{ kind: 'cast.start', cast, request, loadout, rules, script, runId: randomUUID(), ...where },
          capabilities: CAPABILITIES,
        },
        actor,
      );
      if (!verdict.allow) throw new Refused(verdict);
    };
    return castVerdict(await driveCast(workspace, store, cast, { begin, says, turns }, context));
  });
}
