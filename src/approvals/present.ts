// A command that is about to be run under an approval, looked at once more in the same way as when it was sealed.
import { realpathSync } from 'node:fs';
import { nearestCommand } from '../kernel/approval/difference.ts';
import type { ApprovalPolicy } from '../kernel/approval/policy.ts';
import type { Presented } from '../kernel/approval/request.ts';
import type { Approval } from '../kernel/approval/state.ts';
import { marksOf, type Variables } from './bound-variables.ts';
import { digestsFor, placesFor, programsFor } from './look.ts';
import { versionOf } from './policy.ts';
import { sealedGrant } from './seal-decision.ts';
import type { SealKey } from './seal-key.ts';
import { clearArgv, marksOfArgv, sealOfCommand } from './seal-request.ts';

export type ExecScene = {
  readonly cwd: string;
  readonly env: Variables;
  readonly policy: ApprovalPolicy;
  readonly key: SealKey;
  readonly requester: string;
  /** Tells the log that is asked apart from every copy of it. */
  readonly log: string;
};

export function presentedAs(approval: Approval, argv: readonly string[], scene: ExecScene): Presented {
  const { sealed } = approval;
  const { env, policy, key, requester } = scene;
  const cwd = realFolder(scene.cwd);
  const marks = marksOfArgv(argv, key);
  const command = sealed.commands[nearestCommand(sealed, { marks })];
  // Found as it would be found now; run is what was approved, with the search path that was approved.
  const programs = programsFor(Object.keys(command?.programs ?? {}), cwd, env.PATH ?? '');
  const places = placesFor(Object.keys(command?.places ?? {}));
  const files = digestsFor(Object.keys(command?.files ?? {}));
  const envMarks = marksOf(Object.keys(sealed.envMarks), env, key);
  const log = key.mark('log', scene.log);
  const version = versionOf(policy);
  const bound = {
    id: sealed.id,
    cwd,
    envMarks,
    ...(sealed.plainEnv ? { plainEnv: sealed.plainEnv } : {}),
    path: sealed.path,
    policy: version,
    requester,
    expiresAt: sealed.expiresAt,
    log,
  };
  return {
    argv: clearArgv(argv),
    marks,
    seal: sealOfCommand({ argv, programs, places, files }, bound, key),
    cwd,
    programs,
    places,
    files,
    envMarks,
    policy: version,
    log,
    keyId: key.id,
    decision: sealedGrant(approval, key),
  };
}

function realFolder(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
