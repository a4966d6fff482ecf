// The checkpoints and keys that an auditor of this workspace goes by: those of the user, and those that were named.
import { resolve } from 'node:path';
import { knownCheckpoints } from '../audit/checkpoints.ts';
import { readKeyLine } from '../audit/note.ts';
import { UsageError } from '../workspace/locate.ts';
import type { Workspace } from './workspace.ts';

type Named = { readonly checkpoint?: string | undefined; readonly key?: string | undefined };

export function knownHere(workspace: Workspace, { checkpoint, key }: Named): ReturnType<typeof knownCheckpoints> {
  if (key !== undefined && !readKeyLine(key))
    throw new UsageError(`--key must be a line as \`${workspace.program} audit key\` prints it`);
  const files = checkpoint === undefined ? [] : [resolve(workspace.cwd, checkpoint)];
  try {
    return knownCheckpoints(workspace, workspace.env, files, key === undefined ? [] : [key]);
  } catch (error) {
    throw new UsageError(`the checkpoint cannot be read: ${(error as Error).message}`);
  }
}
