// A command that changes state needs an approval: it is sealed and waits for a person. An approved command runs through `baton exec`, and
// the hook allows it only if it is exactly the approved one.
import type { Actor } from '../access/actor.ts';
import { goneExecutors, requesterOf } from '../approvals/open-approvals.ts';
import type { Classified } from '../approvals/risk.ts';
import { logIdentity, openSealKey } from '../approvals/seal.ts';
import { sealRequest } from '../approvals/seal-request.ts';
import { refuseChanged, useApproval } from '../approvals/use-approval.ts';
import type { Store } from '../engine/store.ts';
import type { ApprovalPolicy, HookMode } from '../kernel/approval/request.ts';
import { reportsStatus } from '../kernel/cast/rules.ts';
import { deny, type Verdict } from '../kernel/verdict.ts';
import type { ProjectArea } from '../shell/dangerous.ts';
import { argvOf, shellLine } from '../shell/programs.ts';
import type { LocatedWorkspace } from '../workspace/locate.ts';
import { type CallContext, type ExecCall, execCall, FORM, isOurs } from './exec-call.ts';
import type { HookDecision } from './protocol.ts';

export type GuardContext = {
  readonly workspace: LocatedWorkspace;
  readonly env: NodeJS.ProcessEnv;
  readonly now: () => number;
  /** The path of this program. */
  readonly program: string;
  /** Whether refusals are only recorded. Then no approval is requested. */
  readonly isReportOnly: boolean;
  /** Creates a log if there is none. */
  store(): Store;
  /** Who acts. It is slow to determine. */
  actor(): Promise<Actor>;
};

type CommandContext = {
  readonly cwd: string;
  readonly policy: ApprovalPolicy;
  readonly area: ProjectArea;
  readonly context: GuardContext;
};

export async function requireApproval(
  line: string,
  { because, blocked }: Classified,
  command: CommandContext,
): Promise<HookDecision | null> {
  const { policy, context, cwd } = command;
  const mode = await modeFor(policy, context);
  if (mode === 'off') return null;
  const call = execCall(line, callContext(cwd, context));
  if (call) return checked(call, command);
  if (blocked !== null) {
    return {
      kind: 'deny',
      verdict: deny('COMMAND_BLOCKED', `this can never be approved: ${blocked}; do it another way`),
    };
  }
  const why = `it changes state (${because})`;
  if (mode === 'ask') return { kind: 'ask', verdict: deny('APPROVAL_NEEDED', `${why}; a person decides`) };
  if (context.isReportOnly)
    return { kind: 'deny', verdict: deny('APPROVAL_NEEDED', `${why}; it would wait for a person`) };
  const verdict = await requested(line, why, command);
  return { kind: 'deny', verdict: verdict.allow ? deny('INTERNAL', verdict.reason) : verdict };
}

export async function modeFor({ hook }: ApprovalPolicy, context: GuardContext): Promise<HookMode> {
  // No person sits at an agent of a cast.
  const isUnattended = hook === 'ask' && (context.env.BATON_CAST ?? '') !== '';
  return hook === null || isUnattended ? modeInCast(context) : hook;
}

/** In a turn that can ask for approvals, they are required. */
async function modeInCast(context: GuardContext): Promise<HookMode> {
  const { env, workspace } = context;
  const store = context.store();
  const look = (id: string) => store.view('cast', id);
  const { from, isProven } = await requesterOf(env, workspace.stateDir, look, await context.actor());
  // An unproven claim to belong to a turn gets the strictest mode.
  if (!isProven) return 'deny';
  const cast = from ? await store.view('cast', from.cast) : null;
  const socket = cast?.turns[from?.turn ?? 0]?.socket ?? '';
  return cast && reportsStatus(cast, socket) ? 'deny' : 'off';
}

async function checked(call: ExecCall, { cwd, policy, context }: CommandContext): Promise<HookDecision | null> {
  if (call.kind === 'unclear') return { kind: 'deny', verdict: call.refusal };
  const key = openSealKey(context.env);
  if ('allow' in key) return { kind: 'deny', verdict: key };
  const { env, workspace } = context;
  const [store, actor] = [context.store(), await context.actor()];
  const look = (cast: string) => store.view('cast', cast);
  const { name: requester } = await requesterOf(env, workspace.stateDir, look, actor);
  const exec = { cwd, env, policy, key, requester, log: logIdentity(workspace.stateDir) };
  const verdict =
    call.kind === 'changed'
      ? await refuseChanged(store, call.ids, call.differencesTo, { requester, actor })
      : (await useApproval(store, call.id, call.argv, exec, { actor, dry: true })).verdict;
  if (verdict.allow) return null;
  const { code, reason, details } = verdict;
  return { kind: 'deny', verdict: call.kind === 'changed' ? deny(code, `${reason}; ${FORM}`, details) : verdict };
}

function callContext(cwd: string, { env, program }: GuardContext): CallContext {
  return { cwd, path: env.PATH ?? '', program };
}

/** Seals the command, and says how to run it after a person approved it. */
async function requested(line: string, why: string, { cwd, policy, area, context }: CommandContext): Promise<Verdict> {
  const { env, workspace, now } = context;
  const key = openSealKey(env);
  if ('allow' in key) return key;
  const store = context.store();
  const {
    name: requester,
    from,
    handed,
  } = await requesterOf(env, workspace.stateDir, (id) => store.view('cast', id), await context.actor());
  const request = { operation: 'a command that was held back', exact_content: line, rationale: why };
  const identity = logIdentity(workspace.stateDir);
  const place = { requester, cwd, env, handed, area, log: identity };
  const sealed = sealRequest(request, { ...place, policy, key, now: now() });
  const gone = goneExecutors(Object.values(await store.view('approvals')));
  const verdict = await store.submit({ kind: 'approval.request', sealed, from, gone }, await context.actor());
  if (!verdict.allow) return verdict;
  const { approval, status } = verdict.details;
  const id = String(approval);
  const run = `${isOurs('baton', callContext(cwd, context)) ? 'baton' : shellLine([context.program])} exec --approval ${id} -- ${shellLine(argvOf(line))}`;
  const how =
    status === 'approved'
      ? `It is approved as ${id}: run exactly \`${run}\``
      : `It waits for a person as ${id}. Report APPROVAL_REQUEST with approval_request.approval_id "${id}", and end your turn; once it is approved, run exactly \`${run}\``;
  return deny('APPROVAL_NEEDED', `${why}. ${how}`, { approval: id, status: String(status), run });
}
