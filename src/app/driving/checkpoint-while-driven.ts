// While a cast is driven the log is signed from time to time, as `checkpointEvery` of the configuration says. That it could
// not be signed is told once, and changes nothing about the cast.
import { existsSync } from 'node:fs';
import { checkpointAside, EVERY_DEFAULT, type Every, PeriodicCheckpoint } from '../../audit/periodic-checkpoint.ts';
import { isObject, type Json } from '../../kernel/json.ts';
import { logFileIn } from '../../log/sqlite/log.ts';
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
