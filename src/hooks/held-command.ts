// A command that changes state is held back: it is sealed and waits for a person. What a person approved runs through
// `baton exec`, and is let through only if it is exactly that.
import type { Actor } from '../access/actor.ts';
import { approvalsIn, goneFrom } from '../approvals/open-approvals.ts';
import { requesterOf } from '../approvals/requester.ts';
import type { Classified } from '../approvals/risk.ts';
import { logIdentity, openSealKey } from '../approvals/seal.ts';
import { sealRequest } from '../approvals/seal-request.ts';
import { refuseChanged, useApproval } from '../approvals/use-approval.ts';
import type { Log } from '../engine/ports.ts';
import type { Store } from '../engine/store.ts';
import type { ApprovalPolicy, HookMode } from '../kernel/approval/request.ts';
import { reportsStatus } from '../kernel/cast/rules.ts';
import { deny, type Verdict } from '../kernel/verdict.ts';
import { argvOf, shellLine } from '../shell/programs.ts';
import type { ProjectArea } from '../shell/project-area.ts';
import type { LocatedWorkspace } from '../workspace/locate.ts';
import { type CallContext, type ExecCall, execCall, FORM, isOurs } from './exec-call.ts';
import type { HookDecision } from './protocol.ts';

export type GuardContext = {
  readonly workspace: LocatedWorkspace;
  readonly env: NodeJS.ProcessEnv;
  readonly now: () => number;
  /** The program that we are. */
  readonly program: string;
  /** Whether a refusal is only written down: then nothing is asked of anybody. */
  readonly isReportOnly: boolean;
  withStore<T>(work: (store: Store, log: Log) => Promise<T>): Promise<T>;
  /** Who acts; it takes its time to find out. */
  actor(): Promise<Actor>;
};

type CommandContext = {
  readonly cwd: string;
  readonly policy: ApprovalPolicy;
  readonly area: ProjectArea;
  readonly scene: GuardContext;
};

export async function requireApproval(
  line: string,
  { because, blocked }: Classified,
  held: CommandContext,
): Promise<HookDecision | null> {
  const { policy, scene, cwd } = held;
  const mode = await modeFor(policy, scene);
  if (mode === 'off') return null;
  const call = execCall(line, callScene(cwd, scene));
  if (call) return checked(call, held);
  if (blocked !== null) {
    return {
      kind: 'deny',
      verdict: deny('COMMAND_BLOCKED', `this can never be approved: ${blocked}; do it another way`),
    };
  }
  const why = `it changes state (${because})`;
  if (mode === 'ask') return { kind: 'ask', verdict: deny('APPROVAL_NEEDED', `${why}; a person decides`) };
  if (scene.isReportOnly)
    return { kind: 'deny', verdict: deny('APPROVAL_NEEDED', `${why}; it would wait for a person`) };
  const verdict = await asked(line, why, held);
  return { kind: 'deny', verdict: verdict.allow ? deny('INTERNAL', verdict.reason) : verdict };
}

export async function modeFor({ hook }: ApprovalPolicy, scene: GuardContext): Promise<HookMode> {
  // Nobody sits at an agent of a cast who could be asked there.
  const isUnattended = hook === 'ask' && (scene.env.BATON_CAST ?? '') !== '';
  return hook === null || isUnattended ? modeInCast(scene) : hook;
}

/** Within a turn that can ask for approvals they are asked for. */
async function modeInCast(scene: GuardContext): Promise<HookMode> {
  const { env, workspace, withStore } = scene;
  return withStore(async (store) => {
    const { from, isProven } = await requesterOf(
      env,
      workspace.stateDir,
      (id) => store.view('cast', id),
      await scene.actor(),
    );
    // Who says that he belongs to a turn and cannot show it is held to what holds in the strictest one.
    if (!isProven) return 'deny';
    const cast = from ? await store.view('cast', from.cast) : null;
    const socket = cast?.turns[from?.turn ?? 0]?.socket ?? '';
    return cast && reportsStatus(cast, socket) ? 'deny' : 'off';
  });
}

async function checked(call: ExecCall, { cwd, policy, scene }: CommandContext): Promise<HookDecision | null> {
  if (call.kind === 'unclear') return { kind: 'deny', verdict: call.refusal };
  const key = openSealKey(scene.env);
  if ('allow' in key) return { kind: 'deny', verdict: key };
  const { env, workspace, withStore } = scene;
  const verdict = await withStore(async (store, log) => {
    const { name: requester } = await requesterOf(
      env,
      workspace.stateDir,
      (cast) => store.view('cast', cast),
      await scene.actor(),
    );
    const who = { requester, by: (await scene.actor()).name };
    if (call.kind === 'changed') return refuseChanged({ store, log }, call.ids, call.differencesTo, who);
    const exec = { cwd, env, policy, key, requester, log: logIdentity(workspace.stateDir) };
    return (await useApproval({ store, log }, call.id, call.argv, exec, { by: who.by, dry: true })).verdict;
  });
  if (verdict.allow) return null;
  const { code, reason, details } = verdict;
  return { kind: 'deny', verdict: call.kind === 'changed' ? deny(code, `${reason}; ${FORM}`, details) : verdict };
}

function callScene(cwd: string, { env, program }: GuardContext): CallContext {
  return { cwd, path: env.PATH ?? '', program };
}

/** Seals the command, and says how it can run once a person has agreed. */
async function asked(line: string, why: string, { cwd, policy, area, scene }: CommandContext): Promise<Verdict> {
  const { env, workspace, withStore, now } = scene;
  const key = openSealKey(env);
  if ('allow' in key) return key;
  return withStore(async (store, log) => {
    const {
      name: requester,
      from,
      handed,
    } = await requesterOf(env, workspace.stateDir, (id) => store.view('cast', id), await scene.actor());
    const request = { operation: 'a command that was held back', exact_content: line, rationale: why };
    const identity = logIdentity(workspace.stateDir);
    const place = { requester, cwd, env, handed, area, log: identity };
    const sealed = sealRequest(request, { ...place, policy, key, now: now() });
    const gone = goneFrom(Object.values(await approvalsIn(log)));
    const verdict = await store.submit({ kind: 'approval.request', sealed, from, gone }, await scene.actor());
    if (!verdict.allow) return verdict;
    const { approval, status } = verdict.details;
    const id = String(approval);
    const run = `${isOurs('baton', callScene(cwd, scene)) ? 'baton' : shellLine([scene.program])} exec --approval ${id} -- ${shellLine(argvOf(line))}`;
    const how =
      status === 'approved'
        ? `It is approved as ${id}: run exactly \`${run}\``
        : `It waits for a person as ${id}. Report APPROVAL_REQUEST with approval_request.approval_id "${id}", and end your turn; once it is approved, run exactly \`${run}\``;
    return deny('APPROVAL_NEEDED', `${why}. ${how}`, { approval: id, status: String(status), run });
  });
}
