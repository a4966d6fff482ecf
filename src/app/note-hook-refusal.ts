// Notes what a hook would have refused, for a team that only looks.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type HookDecision, reportDenial } from '../hooks/protocol.ts';
import type { LocatedWorkspace } from '../workspace/locate.ts';
import { makeStateFolder } from './state-folder.ts';

export function noteHookRefusal(
  workspace: LocatedWorkspace,
  event: string,
  decision: Exclude<HookDecision, { kind: 'allow' }>,
): void {
  if (!existsSync(join(workspace.dir, '.baton'))) return;
  makeStateFolder(workspace);
  reportDenial(workspace.stateDir, event, decision, new Date());
}
