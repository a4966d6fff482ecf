// Whether a tool call may go on without anybody's approval: a shell command by what it does, a tool that writes files by where
// it writes. What only reads, checks or simulates is seen at once; for the rest more is looked up.

import { readPolicy } from '../approvals/policy.ts';
import { classify } from '../approvals/risk.ts';
import type { ApprovalPolicy } from '../kernel/approval/policy.ts';
import { deny } from '../kernel/verdict.ts';
import { projectAreaAt } from '../shell/project-area.ts';
import { workRoot } from '../workspace/worktree/record.ts';
import type { Decision } from './decision.ts';
import type { CommandScene } from './held-command.ts';

/** Null where nothing stands in the way. */
export async function decisionOn(line: string, cwd: string, scene: CommandScene): Promise<Decision | null> {
  const { configFile } = scene.workspace;
  const policy = readPolicy(configFile);
  if ('allow' in policy) return { kind: 'deny', verdict: policy };
  const area = projectAreaAt(workRoot(cwd, scene.workspace), cwd, scene.env.HOME);
  const classified = classify(line, policy, area);
  if (classified.tier !== 'T3' || isOff(policy, scene)) return null;
  const { holdBack } = await import('./held-command.ts');
  return holdBack(line, classified, { cwd, policy, area, scene });
}

/** A file that is not the agent's own to write is not written by a tool either: what lies there may run as code later. */
export async function decisionOnFiles(
  paths: readonly string[],
  cwd: string,
  scene: CommandScene,
): Promise<Decision | null> {
  if (paths.length === 0) return null;
  const { configFile } = scene.workspace;
  const policy = readPolicy(configFile);
  if ('allow' in policy) return { kind: 'deny', verdict: policy };
  if (isOff(policy, scene)) return null;
  const area = projectAreaAt(workRoot(cwd, scene.workspace), cwd, scene.env.HOME);
  const foreign = paths.find((path) => !area.isOwn(path));
  if (foreign === undefined) return null;
  const { modeFor } = await import('./held-command.ts');
  const mode = await modeFor(policy, scene);
  if (mode === 'off') return null;
  const reason = `${foreign} is not in the folder of the work, or belongs to what governs it; a person writes there, or agrees to a shell command that does`;
  return { kind: mode === 'ask' ? 'ask' : 'deny', verdict: deny('SCOPE_VIOLATION', reason, { path: foreign }) };
}

/** Who uses hooks for locks alone is not asked for approvals; within a turn that can ask for them they are asked for. */
function isOff({ hook }: ApprovalPolicy, { env }: CommandScene): boolean {
  return hook === 'off' || (hook === null && (env.BATON_CAST ?? '') === '');
}
