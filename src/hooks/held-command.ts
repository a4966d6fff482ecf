// A command that changes state is held back: it is sealed and waits for a person. What a person approved runs through
// `baton exec`, and is let through only if it is exactly that.
import { realpathSync } from 'node:fs';
import { logIdentity } from '../approvals/log-identity.ts';
import { programFor } from '../approvals/look.ts';
import { requesterOf } from '../approvals/requester.ts';
import { openSealKey } from '../approvals/seal-key.ts';
import { sealRequest } from '../approvals/seal-request.ts';
import { argvOf, plainWords, shellLine } from '../approvals/shell-words.ts';
import type { Classified, Ground } from '../approvals/tier.ts';
import { useApproval } from '../approvals/use-approval.ts';
import type { Door } from '../engine/door.ts';
import type { Log } from '../engine/ports.ts';
import type { ApprovalPolicy, HookMode } from '../kernel/approval/policy.ts';
import { type Denied, deny, type Verdict } from '../kernel/verdict.ts';
import type { Workspace } from '../workspace/locate.ts';
import type { Decision } from './decision.ts';
import { type Invocation, stepsOf } from './programs.ts';

export type CommandScene = {
  readonly workspace: Workspace;
  readonly env: NodeJS.ProcessEnv;
  readonly now: () => number;
  /** The program that we are. */
  readonly program: string;
  /** Whether a refusal is only written down: then nothing is asked of anybody. */
  readonly isReportOnly: boolean;
  withDoor<T>(work: (door: Door, log: Log) => Promise<T>): Promise<T>;
  /** Who the log says asks. */
  by(): Promise<string>;
};

export type Held = {
  readonly cwd: string;
  readonly policy: ApprovalPolicy;
  readonly ground: Ground;
  readonly scene: CommandScene;
};

export async function holdBack(line: string, { because, blocked }: Classified, held: Held): Promise<Decision | null> {
  const { policy, scene, cwd } = held;
  const mode = await modeFor(policy, scene);
  if (mode === 'off') return null;
  const call = execCall(line, cwd, scene);
  if (call) return 'allow' in call ? { kind: 'deny', verdict: call } : checked(call, held);
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

export async function modeFor({ hook }: ApprovalPolicy, scene: CommandScene): Promise<HookMode> {
  return hook ?? modeInCast(scene);
}

/** Within a turn that can ask for approvals they are asked for. */
async function modeInCast({ env, workspace, withDoor }: CommandScene): Promise<HookMode> {
  return withDoor(async (door) => {
    const { from, isProven } = await requesterOf(env, workspace.stateDir, (id) => door.cast(id));
    // Who says that he belongs to a turn and cannot show it is held to what holds in the strictest one.
    if (!isProven) return 'deny';
    const cast = from ? await door.cast(from.cast) : null;
    const socket = cast?.turns[from?.turn ?? 0]?.socket ?? '';
    return cast?.rules.graph.sockets[socket]?.contract === 'gaia' ? 'deny' : 'off';
  });
}

type ExecCall = { readonly id: string; readonly argv: readonly string[] };

/** The call of `baton exec` that a line is, why it is none although it looks like one, or null. */
function execCall(line: string, cwd: string, scene: CommandScene): ExecCall | Denied | null {
  const read = stepsOf(line);
  const calls = read.ok ? read.steps.flatMap(({ runs }) => runs).filter((run) => isExec(run)) : [];
  if (calls.length === 0) return null;
  const words = plainWords(line);
  const form = 'say exactly: baton exec --approval ID -- ARGV…, alone on its line, with what was approved';
  if (!words || !isOurs(words[0] ?? '', cwd, scene)) {
    return deny('APPROVAL_MISMATCH', `an approved command runs alone, and by baton itself; ${form}`, {
      differences: [{ part: 'argument', name: 'line', approved: 'the command alone', given: 'more than the command' }],
    });
  }
  const [, , ...rest] = words;
  const end = rest.indexOf('--');
  const options = rest.slice(0, end === -1 ? 0 : end).filter((word) => word !== '--json');
  const [option = '', value] = options;
  const id =
    option === '--approval' && options.length === 2
      ? value
      : options.length === 1
        ? /^--approval=(.+)$/.exec(option)?.[1]
        : undefined;
  return id === undefined || words[1] !== 'exec' ? deny('BAD_USAGE', form) : { id, argv: rest.slice(end + 1) };
}

function isExec({ program, args }: Invocation): boolean {
  return (
    program === 'baton' &&
    args.some(({ text }) => text === 'exec') &&
    args.some(({ text }) => text.startsWith('--approval'))
  );
}

/** Anything may be called baton; only this very program counts. */
function isOurs(word: string, cwd: string, { program, env }: CommandScene): boolean {
  return programFor(word, cwd, env.PATH ?? '')?.path === realpathSync(program);
}

async function checked({ id, argv }: ExecCall, { cwd, policy, scene }: Held): Promise<Decision | null> {
  const key = openSealKey(scene.env);
  if ('allow' in key) return { kind: 'deny', verdict: key };
  const { env, workspace, withDoor } = scene;
  const verdict = await withDoor(async (door, log) => {
    const { name: requester } = await requesterOf(env, workspace.stateDir, (cast) => door.cast(cast));
    const { verdict } = await useApproval(
      { door, log },
      id,
      argv,
      { cwd, env, policy, key, requester, log: logIdentity(workspace.stateDir) },
      { by: await scene.by(), dry: true },
    );
    return verdict;
  });
  return verdict.allow ? null : { kind: 'deny', verdict };
}

/** Seals the command, and says how it can run once a person has agreed. */
async function asked(line: string, why: string, { cwd, policy, ground, scene }: Held): Promise<Verdict> {
  const { env, workspace, withDoor, now } = scene;
  const key = openSealKey(env);
  if ('allow' in key) return key;
  return withDoor(async (door) => {
    const { name: requester, from } = await requesterOf(env, workspace.stateDir, (id) => door.cast(id));
    const request = { operation: 'a command that was held back', exact_content: line, rationale: why };
    const log = logIdentity(workspace.stateDir);
    const sealed = sealRequest(request, { requester, cwd, env, policy, key, now: now(), ground, log });
    const verdict = await door.submit({ kind: 'approval.request', sealed, from }, await scene.by());
    if (!verdict.allow) return verdict;
    const { approval, status } = verdict.details;
    const id = String(approval);
    const run = `${isOurs('baton', cwd, scene) ? 'baton' : shellLine([scene.program])} exec --approval ${id} -- ${shellLine(argvOf(line))}`;
    const how =
      status === 'approved'
        ? `It is approved as ${id}: run exactly \`${run}\``
        : `It waits for a person as ${id}. Report APPROVAL_REQUEST with approval_request.approval_id "${id}", and end your turn; once it is approved, run exactly \`${run}\``;
    return deny('APPROVAL_NEEDED', `${why}. ${how}`, { approval: id, status: String(status), run });
  });
}
