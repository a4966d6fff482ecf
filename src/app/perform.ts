// One call of one operation: who may, what was given, and the function, which is loaded when it is called. A skin calls this and shows the
// answer.
import { whyNotPerson } from '../access/actor.ts';
import { mayDo, refusalToAgent } from '../access/rights.ts';
import { messageOf } from '../kernel/field-schema.ts';
import { type Mismatch, mismatches } from '../kernel/fields.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import type { Denied, Verdict } from '../kernel/verdict.ts';
import { UsageError } from '../workspace/locate.ts';
import { type Context, formOf, type OperationEntry, type OperationFields } from './operation.ts';
import { OPERATIONS, type Operation, type OperationName } from './operations/table.ts';
import { noteRefusal } from './refusals.ts';
import { verdictOf } from './refused.ts';
import { asDamage, type Workspace } from './workspace.ts';

/** The input fits the fields, which the type of the function was made from. */
type AnyRun = (workspace: Workspace, input: JsonObject, context: Context) => Promise<Verdict>;

export type Given = Readonly<Record<string, Json | undefined>>;

/** Throws what was asked for wrongly (`UsageError`), a refusal that ended it early (`Refused`), and faults. */
export async function perform(
  workspace: Workspace,
  name: OperationName,
  given: Given,
  context: Context,
): Promise<Verdict> {
  const entry: OperationEntry = OPERATIONS[name];
  const refusal = await refusedBefore(workspace, name, context);
  if (refusal) return refusal;
  const reading = readInput(entry.fields, given, context.actor.attempt !== null);
  if (!reading.ok) {
    const [first] = reading.issues;
    const issues = reading.issues.map((issue) => ({ ...issue }));
    const missing = reading.missing.length === 0 ? {} : { missing: [...reading.missing] };
    throw new UsageError(`${first?.path} ${first?.message}`, 'BAD_USAGE', { issues, ...missing });
  }
  const run = await LOAD[name]();
  try {
    const verdict = await (run as unknown as AnyRun)(workspace, reading.input, context);
    const isAgent = !verdict.allow && verdict.code === 'APPROVER_IS_AGENT';
    return isAgent ? await turnAway(workspace, entry, verdict, context) : verdict;
  } catch (error) {
    throw asDamage(error, workspace);
  }
}

/** The refusal that needs no input: the caller may not do it at all. It is noted in the log. */
export async function refusedBefore(
  workspace: Workspace,
  name: OperationName,
  context: Context,
): Promise<Denied | null> {
  const entry: OperationEntry = OPERATIONS[name];
  const kept = keptFrom(workspace, entry, context);
  return kept && turnAway(workspace, entry, kept, context);
}

/** The same for callers that read verdicts and nothing else: other programs and agents. */
export async function answer(
  workspace: Workspace,
  name: OperationName,
  given: Given,
  context: Context,
): Promise<Verdict> {
  try {
    return await perform(workspace, name, given, context);
  } catch (error) {
    return verdictOf(error);
  }
}

type Issue = { readonly path: string; readonly message: string };
type Reading =
  | { readonly ok: true; readonly input: JsonObject }
  /** `missing` are the fields that must be given and are not. */
  | { readonly ok: false; readonly issues: readonly Issue[]; readonly missing: readonly string[] };

const TEXT_CHARS_MAX = 1_048_576;
const LIST_ITEMS_MAX = 10_000;

/** Checks an input against its fields. `isAttempt` says that the caller is an agent within its attempt. */
function readInput(fields: OperationFields, given: Given, isAttempt: boolean): Reading {
  const input = Object.fromEntries(
    Object.entries(given).filter((entry): entry is [string, Json] => entry[1] !== undefined),
  );
  const conditional = Object.entries(fields).flatMap(([name, field]): Mismatch[] => {
    const isMissing = field.required === 'unless-attempt' && !isAttempt && !Object.hasOwn(input, name);
    return isMissing ? [{ rule: 'missing', path: [name], field, value: undefined }] : [];
  });
  const found = [...mismatches(input, { type: 'object', fields }), ...conditional];
  const issues = found.map((mismatch) => ({ path: mismatch.path.join('.'), message: messageOf(mismatch) }));
  if (found.length === 0) issues.push(...outOfBounds(fields, input));
  const missing = found.flatMap(({ rule, path }) => (rule === 'missing' ? [path.join('.')] : []));
  return issues.length === 0 ? { ok: true, input } : { ok: false, issues, missing };
}

/** Bounds for every field of every operation: texts become words of commands and names of files. */
function outOfBounds(fields: OperationFields, input: JsonObject): Issue[] {
  return Object.entries(input).flatMap(([path, value]) => {
    if (fields[path]?.type === 'json') return [];
    const texts = (Array.isArray(value) ? value : [value]).filter((text) => typeof text === 'string');
    if (texts.length > LIST_ITEMS_MAX) return [{ path, message: `has more than ${LIST_ITEMS_MAX} entries` }];
    if (texts.some((text) => text.includes('\0'))) return [{ path, message: 'must not hold a NUL character' }];
    const long = texts.find((text) => text.length > TEXT_CHARS_MAX);
    return long === undefined
      ? []
      : [{ path, message: `has ${long.length} characters; at most ${TEXT_CHARS_MAX} are allowed` }];
  });
}

/** Why the actor may not do it, or null. */
function keptFrom({ program }: Workspace, entry: OperationEntry, { actor }: Context): Denied | null {
  const { name, act, peopleOnly } = entry;
  const why = peopleOnly === undefined ? null : whyNotPerson(actor, formOf(entry), null, program);
  if (why !== null) return refusalToAgent(peopleOnly ?? '', { operation: name }, why);
  if (actor.role === null) return null;
  const may = mayDo(actor.role, act, name);
  return may.allow ? null : may;
}

/** Notes the refusal in the log before the agent learns it: a reviewer looks for refused tries first. */
async function turnAway(workspace: Workspace, entry: OperationEntry, verdict: Denied, { actor, onEvent }: Context) {
  const isAgent = verdict.code === 'APPROVER_IS_AGENT';
  const who = isAgent && actor.kind !== 'agent' ? 'agent:unknown' : actor.name;
  const what = isAgent ? { what: formOf(entry) } : {};
  await noteRefusal(workspace, verdict, { who, ...what }, (text) => onEvent({ kind: 'note', text }));
  return verdict;
}

/** Where the function of each operation is. The type holds each to the fields of its entry. */
const LOAD: { readonly [N in OperationName]: () => Promise<Operation<N>> } = {
  compile: () => import('./operations/loadouts.ts').then((file) => file.compileLoadout),
  'import.materia': () => import('./operations/import.ts').then((file) => file.materiaImport),
  'config.explain': () => import('./operations/config.ts').then((file) => file.configExplain),
  'loadout.draft': () => import('./operations/draft.ts').then((file) => file.loadoutDraft),
  'loadout.apply': () => import('./operations/draft.ts').then((file) => file.loadoutApply),
  'loadout.try': () => import('./operations/loadout-try.ts').then((file) => file.loadoutTry),
  'loadout.list': () => import('./operations/loadouts.ts').then((file) => file.loadoutList),
  'loadout.open': () => import('./operations/loadout-edit.ts').then((file) => file.loadoutOpen),
  'loadout.check': () => import('./operations/loadout-edit.ts').then((file) => file.loadoutCheck),
  'loadout.print': () => import('./operations/loadout-edit.ts').then((file) => file.loadoutPrint),
  'loadout.save': () => import('./operations/loadout-edit.ts').then((file) => file.loadoutSave),
  'loadout.duplicate': () => import('./operations/loadout-edit.ts').then((file) => file.loadoutDuplicate),
  'loadout.test': () => import('./operations/loadout-test.ts').then((file) => file.runTests),
  'loadout.record': () => import('./operations/loadout-test.ts').then((file) => file.saveTest),
  graph: () => import('./operations/loadouts.ts').then((file) => file.drawLoadout),
  'cast.list': () => import('./operations/cast-list.ts').then((file) => file.castList),
  'cast.show': () => import('./operations/cast-show.ts').then((file) => file.castShow),
  inbox: () => import('./operations/inbox.ts').then((file) => file.inbox),
  'cast.pause': () => import('./operations/cast-stop.ts').then((file) => file.castPause),
  'usage.days': () => import('./operations/log.ts').then((file) => file.usageDays),
  'cast.why': () => import('./operations/cast-show.ts').then((file) => file.castWhy),
  'cast.watch': () => import('./operations/cast-show.ts').then((file) => file.castWatch),
  'cast.trace': () => import('./operations/audit.ts').then((file) => file.castTrace),
  'cast.wait': () => import('./operations/cast-show.ts').then((file) => file.castWait),
  status: () => import('./operations/status.ts').then((file) => file.showStatus),
  'cast.start': () => import('./operations/cast-start.ts').then((file) => file.castStart),
  'cast.link': () => import('./operations/cast-start.ts').then((file) => file.castLink),
  'cast.plan': () => import('./operations/cast-start.ts').then((file) => file.castPlan),
  'cast.resume': () => import('./operations/cast-carry-on.ts').then((file) => file.castResume),
  'cast.recast': () => import('./operations/cast-carry-on.ts').then((file) => file.castRecast),
  'cast.revive': () => import('./operations/cast-carry-on.ts').then((file) => file.castRevive),
  'cast.continue': () => import('./operations/cast-carry-on.ts').then((file) => file.castContinue),
  'cast.answer': () => import('./operations/cast-carry-on.ts').then((file) => file.castAnswer),
  'cast.decide': () => import('./operations/cast-carry-on.ts').then((file) => file.castDecide),
  'cast.talk': () => import('./operations/cast-talk.ts').then((file) => file.castTalk),
  'cast.say': () => import('./operations/cast-talk.ts').then((file) => file.castSay),
  'cast.retry': () => import('./operations/cast-carry-on.ts').then((file) => file.castRetry),
  'cast.drop': () => import('./operations/cast-carry-on.ts').then((file) => file.castDrop),
  approve: () => import('./operations/approvals.ts').then((file) => file.approve),
  reject: () => import('./operations/approvals.ts').then((file) => file.reject),
  'cast.abort': () => import('./operations/cast-stop.ts').then((file) => file.castAbort),
  'cast.budget': () => import('./operations/cast-stop.ts').then((file) => file.castBudget),
  'task.create': () => import('./operations/task-create.ts').then((file) => file.taskCreate),
  'task.claim': () => import('./operations/tasks.ts').then((file) => file.taskClaim),
  'task.next': () => import('./operations/tasks.ts').then((file) => file.taskNext),
  'task.finish': () => import('./operations/tasks.ts').then((file) => file.taskFinish),
  'task.move': () => import('./operations/tasks.ts').then((file) => file.taskMove),
  'task.list': () => import('./operations/ledger-lists.ts').then((file) => file.taskList),
  'task.apply': () => import('./operations/task-create.ts').then((file) => file.taskApply),
  heartbeat: () => import('./operations/working.ts').then((file) => file.taskHeartbeat),
  'lock.list': () => import('./operations/ledger-lists.ts').then((file) => file.lockList),
  'lock.check': () => import('./operations/working.ts').then((file) => file.lockCheck),
  'lock.request': () => import('./operations/working.ts').then((file) => file.lockRequest),
  'worklog.add': () => import('./operations/working.ts').then((file) => file.worklogAdd),
  'worklog.show': () => import('./operations/working.ts').then((file) => file.worklogShow),
  reconcile: () => import('./operations/ledger-lists.ts').then((file) => file.reconcileRun),
  bundle: () => import('./operations/ledger-lists.ts').then((file) => file.freshBundle),
  watchdog: () => import('./operations/watchdog.ts').then((file) => file.runWatchdog),
  gate: () => import('./operations/gate.ts').then((file) => file.runGate),
  hold: () => import('./operations/tasks.ts').then((file) => file.holdWork),
  unhold: () => import('./operations/tasks.ts').then((file) => file.releaseWork),
  check: () => import('./operations/check.ts').then((file) => file.checkLoadouts),
  validate: () => import('./operations/validate.ts').then((file) => file.validatePayload),
  explain: () => import('./operations/validate.ts').then((file) => file.explainCode),
  'registry.lock': () => import('./operations/registry-pin.ts').then((file) => file.registryLock),
  'registry.accept': () => import('./operations/registry-pin.ts').then((file) => file.registryAccept),
  'registry.verify': () => import('./operations/access.ts').then((file) => file.registryVerify),
  'registry.list': () => import('./operations/access.ts').then((file) => file.registryList),
  'registry.quarantine': () => import('./operations/access.ts').then((file) => file.registryQuarantine),
  'registry.release': () => import('./operations/registry-pin.ts').then((file) => file.registryRelease),
  'registry.import': () => import('./operations/registry-pin.ts').then((file) => file.registryImport),
  'handoff.verify': () => import('./operations/handoff-verify.ts').then((file) => file.handoffVerify),
  'context.show': () => import('./operations/context.ts').then((file) => file.contextShow),
  'context.diff': () => import('./operations/context.ts').then((file) => file.contextDiff),
  'context.history': () => import('./operations/context.ts').then((file) => file.contextHistory),
  'context.revert': () => import('./operations/context.ts').then((file) => file.contextRevert),
  'context.set': () => import('./operations/context.ts').then((file) => file.contextSet),
  'memory.list': () => import('./operations/context.ts').then((file) => file.memoryList),
  'memory.accept': () => import('./operations/context.ts').then((file) => file.memoryAccept),
  'memory.drop': () => import('./operations/context.ts').then((file) => file.memoryDrop),
  'token.create': () => import('./operations/access.ts').then((file) => file.tokenCreate),
  'token.list': () => import('./operations/access.ts').then((file) => file.tokenList),
  'token.revoke': () => import('./operations/access.ts').then((file) => file.tokenRevoke),
  trust: () => import('./operations/access.ts').then((file) => file.trustThisFolder),
  log: () => import('./operations/log.ts').then((file) => file.readLog),
  'audit.verify': () => import('./operations/audit.ts').then((file) => file.auditVerify),
  'audit.prove': () => import('./operations/audit.ts').then((file) => file.auditProve),
  'audit.checkpoint': () => import('./operations/audit.ts').then((file) => file.auditCheckpoint),
  'audit.key': () => import('./operations/audit.ts').then((file) => file.auditKey),
  'audit.outside': () => import('./operations/audit.ts').then((file) => file.auditOutside),
  export: () => import('./operations/audit.ts').then((file) => file.exportCast),
  verify: () => import('./operations/audit.ts').then((file) => file.verifyExport),
  'approvals.list': () => import('./operations/approvals.ts').then((file) => file.approvalsList),
  'approvals.request': () => import('./operations/exec.ts').then((file) => file.approvalsRequest),
  exec: () => import('./operations/exec.ts').then((file) => file.execApproved),
  'cast.diff': () => import('./operations/cast-diff.ts').then((file) => file.castDiff),
  'cast.merge': () => import('./operations/cast-merge.ts').then((file) => file.castMerge),
  'cast.undo': () => import('./operations/cast-undo.ts').then((file) => file.castUndo),
  gc: () => import('./operations/gc.ts').then((file) => file.collectGarbage),
  init: () => import('./operations/init.ts').then((file) => file.initWorkspace),
  doctor: () => import('./operations/check.ts').then((file) => file.doctor),
  'agents.list': () => import('./operations/agents.ts').then((file) => file.agentsList),
  'agents.test': () => import('./operations/agents.ts').then((file) => file.agentsTest),
  notify: () => import('./driving/notify.ts').then((file) => file.tryNotify),
  'event.list': () => import('./operations/events.ts').then((file) => file.eventsList),
  'event.sinks': () => import('./operations/events.ts').then((file) => file.eventsSinks),
  'event.deliver': () => import('./operations/events.ts').then((file) => file.eventsDeliver),
  'event.skip': () => import('./operations/events.ts').then((file) => file.eventsSkip),
  'quest.add': () => import('./operations/quest-board.ts').then((file) => file.questAdd),
  'quest.list': () => import('./operations/quest-board.ts').then((file) => file.questList),
  'quest.reorder': () => import('./operations/quest-board.ts').then((file) => file.questReorder),
  'quest.requeue': () => import('./operations/quest-board.ts').then((file) => file.questRequeue),
  'quest.remove': () => import('./operations/quest-board.ts').then((file) => file.questRemove),
  'quest.stop': () => import('./operations/quest-board.ts').then((file) => file.questStop),
  'quest.run': () => import('./driving/run-quests.ts').then((file) => file.questRun),
  'quest.runonce': () => import('./driving/run-quests.ts').then((file) => file.questRunOnce),
  install: () => import('./operations/install.ts').then((file) => file.installHooks),
  hook: () => import('./operations/hook.ts').then((file) => file.decideHook),
  'hooks.verify': () => import('./operations/install.ts').then((file) => file.hooksVerify),
  metrics: () => import('./operations/log.ts').then((file) => file.ledgerMetrics),
  'cast.turn': () => import('./operations/cast-show.ts').then((file) => file.castTurn),
};
