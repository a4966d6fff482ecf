// Signs the log while a cast is driven, as `checkpointEvery` of the configuration says, and at its end. A log that cannot be
// signed is reported once, and the cast goes on.
import { existsSync } from 'node:fs';
import { checkpointAside, EVERY_DEFAULT, type Every, PeriodicCheckpoint } from '../../audit/periodic-checkpoint.ts';
import { isObject, type Json } from '../../kernel/json.ts';
import { logFileIn, SqliteLog } from '../../log/sqlite/log.ts';
import { readJsonFile } from '../../workspace/load-config.ts';
import type { Workspace } from '../workspace.ts';

export function checkpointWhileDriven(workspace: Workspace, say: (line: string) => void): PeriodicCheckpoint {
  let isTold = false;
  const tell = (why: string) => {
    if (!isTold) say(`The log was not signed (${why}); the cast goes on, and it is tried again.`);
    isTold = true;
  };
  return new PeriodicCheckpoint(everyIn(workspace), async () => {
    try {
      const verdict = await checkpointAside(workspace, logFileIn(workspace.stateDir), workspace.env);
      if (!verdict.allow) tell(`${verdict.code}: ${verdict.reason}`);
    } catch (error) {
      tell((error as Error).message);
    }
  });
}

/** A configuration that cannot be read now keeps no cast from being carried on: then the usual times hold. */
function everyIn({ configFile }: Workspace): Every {
  try {
    const config = existsSync(configFile) ? readJsonFile(configFile) : null;
    return everyOf(isObject(config) ? config.checkpointEvery : undefined);
  } catch {
    return EVERY_DEFAULT;
  }
}

export function everyOf(written: Json | undefined): Every {
  const { minutes, facts } = isObject(written) ? written : {};
  const isCount = (value: Json | undefined): value is number => typeof value === 'number' && value > 0;
  return {
    minutes: isCount(minutes) ? minutes : EVERY_DEFAULT.minutes,
    facts: isCount(facts) ? facts : EVERY_DEFAULT.facts,
  };
}

export async function checkpointAtEnd(
  workspace: Pick<Workspace, 'dir' | 'stateDir' | 'configFile' | 'env' | 'program'>,
  note: (line: string) => void,
): Promise<void> {
  try {
    const { makeCheckpoint } = await import('../../audit/make-checkpoint.ts');
    const log = new SqliteLog(logFileIn(workspace.stateDir));
    const verdict = await makeCheckpoint(workspace, log, workspace.env).finally(() => log.close());
    if (verdict.allow) return;
    const wayOut = `\`${workspace.program} explain ${verdict.code}\` says what to do`;
    note(`The log was not signed (${verdict.code}): ${verdict.reason}; ${wayOut}`);
  } catch (error) {
    note(`The log was not signed: ${(error as Error).message}`);
  }
}
