// Whether a tool call may run without an approval: a shell command by what it does, a tool that writes files by where it
// writes. Harmless calls pass at once. The rest needs more code, which is loaded then.
import { hash } from 'node:crypto';
import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { classify, readPolicy } from '../approvals/risk.ts';
import type { ApprovalPolicy } from '../kernel/approval/request.ts';
import { deny } from '../kernel/verdict.ts';
import { projectAreaAt } from '../shell/dangerous.ts';
import { workRoot } from '../workspace/worktree/record.ts';
import type { GuardContext } from './held-command.ts';
import type { HookDecision } from './protocol.ts';

/** Null if the command may run. */
export async function decisionOnCommand(
  line: string,
  cwd: string,
  context: GuardContext,
): Promise<HookDecision | null> {
  const policy = readPolicy(context.workspace);
  if ('allow' in policy) return { kind: 'deny', verdict: policy };
  const area = projectAreaAt(workRoot(cwd, context.workspace), cwd, context.env.HOME);
  const classified = classify(line, policy, area);
  if (classified.tier !== 'T3' || isOff(policy, context)) return null;
  const { requireApproval } = await import('./held-command.ts');
  return requireApproval(line, classified, { cwd, policy, area, context });
}

/** A tool may not write a file outside the agent's area either, because that file may run as code later. */
export async function decisionOnFiles(
  paths: readonly string[],
  cwd: string,
  context: GuardContext,
): Promise<HookDecision | null> {
  if (paths.length === 0) return null;
  const policy = readPolicy(context.workspace);
  if ('allow' in policy) return { kind: 'deny', verdict: policy };
  if (isOff(policy, context)) return null;
  const area = projectAreaAt(workRoot(cwd, context.workspace), cwd, context.env.HOME);
  const foreign = paths.find((path) => !area.isOwn(path));
  if (foreign === undefined) return null;
  const { modeFor } = await import('./held-command.ts');
  const mode = await modeFor(policy, context);
  if (mode === 'off') return null;
  const reason = `${foreign} is outside the work folder, or governs the work; a person writes there, or approves a shell command that does`;
  return { kind: mode === 'ask' ? 'ask' : 'deny', verdict: deny('SCOPE_VIOLATION', reason, { path: foreign }) };
}

/** Outside a cast, hooks may serve locks alone. So approvals are off there unless the policy says otherwise. */
function isOff({ hook }: ApprovalPolicy, { env }: GuardContext): boolean {
  return hook === 'off' || (hook === null && (env.BATON_CAST ?? '') === '');
}

// Commands that the hook let through in an attempt, by digest, in the attempt's folder. They differ from those that ran without
// asking. An agent could write there too, but would only hide a remark about itself.
const LET_THROUGH_FILE = 'let-through';

/** Does nothing outside an attempt. If the file cannot be written, the command counts as not asked. */
export async function noteLetThrough(command: string, env: NodeJS.ProcessEnv, stateDir: string): Promise<void> {
  const { attemptIn } = await import('../access/attempt.ts');
  const attempt = attemptIn(env, stateDir);
  if (!attempt) return;
  try {
    const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants;
    const file = openSync(join(attempt.dir, LET_THROUGH_FILE), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
    try {
      writeSync(file, `${hash('sha256', command)}\n`);
    } finally {
      closeSync(file);
    }
  } catch {
    // The folder is gone, or a sandbox forbids writing.
  }
}

/** Whether the hook of this attempt was asked about a command and let it through. */
export function letThroughIn(attemptDir: string): (command: string) => boolean {
  const digests = new Set(textOf(join(attemptDir, LET_THROUGH_FILE)).split('\n'));
  return (command) => digests.has(hash('sha256', command));
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
