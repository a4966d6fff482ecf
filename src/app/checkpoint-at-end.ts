// The log is signed whenever a cast stands still, so that whatever is done to it afterwards is found out. That it could not
// be signed is told, and changes nothing about how the cast ended.
import { logFileIn, SqliteLog } from '../log/sqlite/log.ts';
import type { Workspace } from './workspace.ts';

export async function checkpointAtEnd(
  workspace: Pick<Workspace, 'dir' | 'stateDir' | 'configFile' | 'env' | 'program'>,
  note: (line: string) => void,
): Promise<void> {
  try {
    const { makeCheckpoint } = await import('../audit/make-checkpoint.ts');
    const log = new SqliteLog(logFileIn(workspace.stateDir));
    const verdict = await makeCheckpoint(workspace, log, workspace.env).finally(() => log.close());
    if (verdict.allow) return;
    const wayOut = `\`${workspace.program} explain ${verdict.code}\` says what to do`;
    note(`The log was not signed (${verdict.code}): ${verdict.reason}; ${wayOut}`);
  } catch (error) {
    note(`The log was not signed: ${(error as Error).message}`);
  }
}
