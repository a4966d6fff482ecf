// Decides one event of the host. Code is loaded only for the event that needs it, because the agent waits for the hook at
// every tool call.
import type { Actor } from '../access/actor.ts';
import type { Sign } from '../engine/heartbeat.ts';
import type { Store } from '../engine/store.ts';
import { isString, type JsonObject } from '../kernel/json.ts';
import { spokenPaths } from '../kernel/ledger/path.ts';
import type { Ledger, Task } from '../kernel/ledger/state.ts';
import { type Denied, deny, type Verdict } from '../kernel/verdict.ts';
import type { LocatedWorkspace } from '../workspace/locate.ts';
import { type HookDecision, type HookInput, readHookInput } from './protocol.ts';
import type { HookSettings } from './settings.ts';

export type HookContext = {
  readonly workspace: LocatedWorkspace;
  /** Whether the folder is a workspace: without `.baton` every event is allowed. */
  readonly isKept: boolean;
  readonly env: NodeJS.ProcessEnv;
  readonly now: () => number;
  /** The path of this program. */
  readonly program: string;
  /** Whether refusals are only recorded. */
  readonly isReportOnly: boolean;
  /** The ledger as it is now; null if there is no log yet. */
  ledger(): Promise<Ledger | null>;
  /** Records a sign of life of the owner of a claim. */
  beat(sign: Sign): Promise<void>;
  /** Creates a log if there is none. */
  store(): Store;
  /** The actor name for the log. It is slow to determine. */
  actor(): Promise<Actor>;
  /** Performs an operation as this actor. */
  perform(name: 'worklog.add' | 'gate', given: JsonObject): Promise<Verdict>;
};

/** The tools that start a subagent. */
const SUBAGENT_TOOLS = ['Task', 'Agent'];

const ALLOWED: HookDecision = { kind: 'allow' };

/** Decides the event whose input is `text`. It may throw; the caller then refuses. */
export async function runHook(event: string, text: string, context: HookContext): Promise<HookDecision> {
  const reading = readHookInput(event, text);
  if (!reading.ok) return { kind: 'deny', verdict: reading.refusal };
  if (!context.isKept) return ALLOWED;
  const { input } = reading;
  switch (event) {
    case 'PreToolUse':
      return (await refusedOrAsked(input, context)) ?? letThrough(input, context);
    case 'PostToolUse':
      return decided(await afterTool(input, context), await summaryAfter(input, context));
    case 'Stop':
    case 'SubagentStop':
      return isInCast(context) ? ALLOWED : atStop(input, context);
    case 'UserPromptSubmit':
      return isInCast(context) ? ALLOWED : reminded(input, context);
    case 'SessionStart':
    case 'SubagentStart':
      return isInCast(context) ? ALLOWED : { kind: 'allow', context: await greeting(input, context) };
    default:
      return ALLOWED;
  }
}

/** Within a cast, the hook notes which commands it was asked about. The others are reported later. */
async function letThrough({ tool, toolInput }: HookInput, context: HookContext): Promise<HookDecision> {
  const { command } = toolInput;
  if (tool === 'Bash' && isString(command) && isInCast(context)) {
    const { noteLetThrough } = await import('./guard-command.ts');
    await noteLetThrough(command, context.env, context.workspace.stateDir);
  }
  return ALLOWED;
}

async function settingsOf({ workspace }: HookContext): Promise<HookSettings | Denied> {
  const { readSettings } = await import('./settings.ts');
  return readSettings(workspace);
}

/** A cast gives its own briefs, reads the answers and ends the tasks. So these hooks stay silent in it. */
function isInCast({ env }: HookContext): boolean {
  return (env.BATON_CAST ?? '') !== '';
}

function decided(refusal: Denied | null, context: string | null = null): HookDecision {
  if (refusal) return { kind: 'deny', verdict: refusal };
  return context === null ? ALLOWED : { kind: 'allow', context };
}

/** What a subagent reported when it ended, for the agent that started it. */
async function summaryAfter({ tool, helper }: HookInput, context: HookContext): Promise<string | null> {
  if (helper === null || !SUBAGENT_TOOLS.includes(tool) || isInCast(context)) return null;
  const ledger = await context.ledger();
  if (!ledger) return null;
  const { summaryOf } = await import('./subagent.ts');
  return summaryOf(helper, ledger, context.workspace.dir, context.now());
}

/** A prompt is never refused. The agent is reminded of a pause and of its own claims. */
async function reminded(input: HookInput, context: HookContext): Promise<HookDecision> {
  const ledger = await context.ledger();
  if (!ledger) return ALLOWED;
  const { claimsOf, refusalWhilePaused } = await import('./guard-write.ts');
  const pause = refusalWhilePaused(ledger);
  const held = heldLines(claimsOf(ledger, claimantOf(input, context)));
  const lines = [...(pause ? [`Baton: ${pause.reason}`] : []), ...held];
  return lines.length === 0 ? ALLOWED : { kind: 'allow', context: lines.join('\n') };
}

function heldLines(claims: readonly Task[]): readonly string[] {
  const held = claims.map(
    ({ id, fence, lockScope }) =>
      `${id} (fence ${fence}, may write ${lockScope.length === 0 ? 'nothing' : spokenPaths(lockScope, 20)})`,
  );
  return held.length === 0 ? [] : [`You hold: ${held.join('; ')}.`];
}

/** Checks a subagent before it starts. A cast has its own checks. */
async function beforeSubagent(
  { toolInput }: HookInput,
  settings: HookSettings,
  context: HookContext,
): Promise<Denied | null> {
  if (isInCast(context)) return null;
  const { refusalOfTools } = await import('./subagent.ts');
  const ledger = await context.ledger();
  const pause = ledger && (await import('./guard-write.ts')).refusalWhilePaused(ledger);
  const homes = [context.workspace.dir, ...(context.env.HOME ? [context.env.HOME] : [])];
  return pause ?? refusalOfTools(toolInput, settings, homes);
}

/** Unreadable settings refuse everything. Next come calls that are never allowed, then those that need an approval. */
async function refusedOrAsked(input: HookInput, context: HookContext): Promise<HookDecision | null> {
  const settings = await settingsOf(context);
  if ('allow' in settings) return { kind: 'deny', verdict: settings };
  if (SUBAGENT_TOOLS.includes(input.tool)) {
    const refused = await beforeSubagent(input, settings, context);
    return refused && { kind: 'deny', verdict: refused };
  }
  const refusal = await beforeTool(input, settings, context);
  if (refusal) return { kind: 'deny', verdict: refusal };
  const { command } = input.toolInput;
  const cwd = input.cwd ?? context.workspace.dir;
  const { decisionOnCommand, decisionOnFiles } = await import('./guard-command.ts');
  if (input.tool === 'Bash') return typeof command === 'string' ? decisionOnCommand(command, cwd, context) : null;
  const found = await inFile(input, cwd);
  return 'paths' in found ? decisionOnFiles(found.paths, cwd, context) : null;
}

async function beforeTool(input: HookInput, settings: HookSettings, context: HookContext): Promise<Denied | null> {
  const cwd = input.cwd ?? context.workspace.dir;
  const found = input.tool === 'Bash' ? await inShell(input, cwd, settings, context) : await inFile(input, cwd);
  if ('allow' in found) return found;
  if (found.paths.length === 0) return null;
  const { refusalOfGoverningWrite, refusalOfConfigWrite, refusalOfWrite } = await import('./guard-write.ts');
  for (const path of found.paths) {
    const refusal = refusalOfGoverningWrite(path, context.workspace);
    if (refusal) return refusal;
  }
  const ordered = (claims: readonly Task[]): Denied | null =>
    found.paths.flatMap((path) => refusalOfConfigWrite(path, claims, context.workspace) ?? [])[0] ?? null;
  const isAlone = isInCast(context);
  const ledger = await context.ledger();
  if (!ledger) return isAlone ? ordered([]) : null;
  const { claimsOf } = await import('./guard-write.ts');
  const claimant = claimantOf(input, context);
  const claims = claimsOf(ledger, claimant);
  if (claimant.fence !== null && claims.length === 0) return staleClaim(claimant.fence);
  // A person watches an interactive session without a task.
  const refusal = isAlone || claims.length > 0 ? ordered(claims) : null;
  if (refusal) return refusal;
  for (const path of found.paths) {
    const refusal = refusalOfWrite(path, ledger, claims, context.workspace);
    if (refusal) return refusal;
  }
  return null;
}

type Found = { readonly paths: readonly string[] } | Denied;

async function inFile({ tool, toolInput }: HookInput, cwd: string): Promise<Found> {
  if (tool === 'apply_patch') return inPatch(toolInput, cwd);
  const { fileWritten, isFileTool } = await import('./guard-write.ts');
  if (!isFileTool(tool)) return { paths: [] };
  const path = fileWritten(tool, toolInput, cwd);
  return path === null ? deny('BAD_USAGE', `${tool} does not say which file it writes`) : { paths: [path] };
}

/** The patch is the text of the input, under any member name. */
async function inPatch(toolInput: JsonObject, cwd: string): Promise<Found> {
  const { pathsInPatch } = await import('./guard-write.ts');
  const paths = Object.values(toolInput).flatMap((value) => (isString(value) ? pathsInPatch(value, cwd) : []));
  return paths.length === 0 ? deny('BAD_USAGE', 'apply_patch does not say which file it writes') : { paths };
}

async function inShell(
  { toolInput }: HookInput,
  cwd: string,
  { rules }: HookSettings,
  { env, workspace }: HookContext,
): Promise<Found> {
  const [{ stepsOf }, { dangerIn }, { projectAreaAt }, { placesWritten }, { pathsInPatch }, { workRoot }] =
    await Promise.all([
      import('../shell/programs.ts'),
      import('../shell/dangerous.ts'),
      import('../shell/dangerous.ts'),
      import('../shell/written-paths.ts'),
      import('./guard-write.ts'),
      import('../workspace/worktree/record.ts'),
    ]);
  const { command } = toolInput;
  if (typeof command !== 'string') return deny('BAD_USAGE', 'Bash does not say which command it runs');
  const read = stepsOf(command);
  if (!read.ok) return deny('COMMAND_REFUSED', `the command cannot be analyzed: ${read.why}; run it in parts`);
  const area = projectAreaAt(workRoot(cwd, workspace), cwd, env.HOME);
  const danger = dangerIn(read.steps, area, rules);
  if (danger) {
    const { rule, program, reason } = danger;
    return deny('COMMAND_REFUSED', `${reason} (a person can change the rule "${rule}" in hooks.rules)`, {
      program,
      rule,
    });
  }
  return { paths: [...placesWritten(read.steps, cwd, env.HOME).paths, ...pathsInPatch(command, cwd)] };
}

function claimantOf({ names }: HookInput, { env }: HookContext) {
  const { BATON_FENCE: fence = '', BATON_OWNER: owner = '' } = env;
  return {
    // An invalid token counts as a token without a holder.
    fence: fence === '' ? null : /^[0-9]{1,15}$/.test(fence) ? Number(fence) : -1,
    names: owner === '' ? names : [owner, ...names],
  };
}

function staleClaim(fence: number): Denied {
  const reason = `no task is in progress under fence ${fence}: it ended, or was given to another. Stop writing.`;
  return deny('CONCURRENCY_CONFLICT', reason, { fence });
}

/** A tool call is a sign of life of the owner and, if configured, an entry of the worklog. */
async function afterTool(input: HookInput, context: HookContext): Promise<Denied | null> {
  const ledger = await context.ledger();
  const { claimsOf } = await import('./guard-write.ts');
  const own = ledger ? claimsOf(ledger, claimantOf(input, context)) : [];
  for (const { run, id, owner, fence } of own) {
    if (fence !== null) await context.beat({ run, task: id, owner, fence, at: context.now() });
  }
  const claims = own.map((task) => ({ task, runId: ledger?.runs[`${task.run}/`]?.runId ?? task.run }));
  if (claims.length === 0) return null;
  const settings = await settingsOf(context);
  if ('allow' in settings) return settings;
  if (!settings.worklog) return null;
  for (const { task, runId } of claims) {
    const verdict = await logToolUse(input, context, task, runId);
    if (!verdict.allow) return verdict;
  }
  return null;
}

/** Records only the tool's name and the files, because a command may hold a secret. */
async function logToolUse(input: HookInput, context: HookContext, task: Task, runId: string): Promise<Verdict> {
  const found = await inFile(input, input.cwd ?? context.workspace.dir);
  const { relative } = await import('node:path');
  const files = 'paths' in found ? found.paths.map((path) => relative(context.workspace.dir, path)) : [];
  const entry = {
    timestamp: new Date(context.now()).toISOString(),
    run_id: runId,
    task_id: task.id,
    actor: task.owner,
    action: `used ${input.tool}`,
    files_touched: files,
    decision: 'a tool call of the agent',
    result: 'the tool ran',
    next_step: 'go on',
  };
  const { id, run, fence } = task;
  return context.perform('worklog.add', { task: id, run, ...(fence === null ? {} : { fence }), entry });
}

async function atStop(input: HookInput, context: HookContext): Promise<HookDecision> {
  const refusal = await refusalOfStop(input, context);
  if (!refusal) return ALLOWED;
  // The agent gets one chance to correct it. More would only cost money.
  return { kind: input.isHeldBack ? 'end' : 'deny', verdict: refusal };
}

async function refusalOfStop(input: HookInput, context: HookContext): Promise<Denied | null> {
  const settings = await settingsOf(context);
  if ('allow' in settings) return settings;
  return (await refusalOfWords(input, settings, context)) ?? refusalOfTasks(input, context);
}

async function refusalOfWords(
  input: HookInput,
  { contract, contractAt }: HookSettings,
  context: HookContext,
): Promise<Denied | null> {
  if (contract === null || !contractAt.includes(input.event)) return null;
  const { lastMessage, refusalOfMessage } = await import('./last-message.ts');
  return refusalOfMessage(lastMessage(input) ?? '', contract, new Date(context.now()).toISOString());
}

/** An agent with a task in progress may not stop before the task has its report. The gate decides. */
async function refusalOfTasks(input: HookInput, context: HookContext): Promise<Denied | null> {
  const ledger = await context.ledger();
  if (!ledger) return null;
  const tasks = (await import('./guard-write.ts')).claimsOf(ledger, claimantAtStop(input, context));
  for (const { run, id, owner } of tasks) {
    const verdict = await context.perform('gate', { name: 'stop', payload: { run_id: run, task_id: id, owner } });
    if (!verdict.allow) return verdict;
  }
  return null;
}

/** The token and the name in the environment belong to the session, not to its subagents. */
function claimantAtStop(input: HookInput, context: HookContext) {
  return input.event === 'SubagentStop' ? { fence: null, names: input.names } : claimantOf(input, context);
}

async function greeting(input: HookInput, context: HookContext): Promise<string> {
  const { names } = claimantOf(input, context);
  const name = names[0] ?? 'a name of your own';
  const ledger = await context.ledger();
  const claims = ledger ? (await import('./guard-write.ts')).claimsOf(ledger, claimantOf(input, context)) : [];
  const held = heldLines(claims);
  return [
    'Baton keeps tasks and locks in this workspace. A write under a lock of another task is refused and names its holder.',
    `Before you write, claim a task under this exact name: baton task claim TASK --owner ${name}`,
    ...(held.length === 0 ? ['You hold no task.'] : held),
  ].join('\n');
}
