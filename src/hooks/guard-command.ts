// Whether a shell command may run without anybody's approval. What only reads, checks or simulates is seen at once; for the
// rest more is looked up.
import { groundAt, rootFor } from '../approvals/ground.ts';
import { readPolicy } from '../approvals/policy-file.ts';
import { classify } from '../approvals/tier.ts';
import type { Decision } from './decision.ts';
import type { CommandScene } from './held-command.ts';

/** Null where nothing stands in the way. */
export async function decisionOn(line: string, cwd: string, scene: CommandScene): Promise<Decision | null> {
  const { dir, stateDir, configFile } = scene.workspace;
  const policy = readPolicy(configFile);
  if ('allow' in policy) return { kind: 'deny', verdict: policy };
  const ground = groundAt(rootFor(cwd, dir, stateDir), cwd, scene.env.HOME);
  const classified = classify(line, policy, ground);
  // Who uses hooks for locks alone is not asked for approvals; within a turn that can ask for them they are asked for.
  const isOff = policy.hook === 'off' || (policy.hook === null && (scene.env.BATON_CAST ?? '') === '');
  if (classified.tier !== 'T3' || isOff) return null;
  const { holdBack } = await import('./held-command.ts');
  return holdBack(line, classified, { cwd, policy, ground, scene });
}
