// The verbs that carry a standing cast on, and which of them fits the state it is in.
import type { Door } from '../engine/door.ts';
import { type CastSummary, summaries } from '../engine/summary.ts';
import type { Verdict } from '../kernel/verdict.ts';
import { hasLog } from '../log/sqlite.ts';
import { type Call, EXIT, flag, note, outJson, UsageError } from './command.ts';
import { driveAndShow, exitOf, loadView, withDriver } from './driving.ts';
import { nameCast, person, workspaceOf } from './session.ts';

export type Verb = 'resume' | 'recast' | 'revive' | 'continue';

export async function goOn(call: Call, verb: Verb): Promise<number> {
  const workspace = workspaceOf(call);
  if (!hasLog(workspace.stateDir))
    throw new UsageError(`no cast was ever run in ${workspace.dir}; start one with \`baton cast\``);
  return withDriver(workspace, async (door) => {
    const cast = await choose(door, call.words[0], verb);
    const fitting = verb === 'continue' ? obvious(cast) : verb;
    if (
      fitting === 'resume' &&
      (cast.status === 'completed' || cast.status === 'failed' || cast.status === 'aborted')
    ) {
      return nothingToDo(call, door, cast);
    }
    if (cast.status === 'waiting') return nothingToDo(call, door, cast);
    return driveAndShow(call, workspace, door, cast.cast, async () => {
      const verdict = await steer(door, cast.cast, fitting);
      if (!verdict.allow) throw new Refused(verdict);
    }).catch((error) => {
      if (!(error instanceof Refused)) throw error;
      note(`baton: ${error.verdict.reason}`);
      if (call.json) outJson(error.verdict);
      return EXIT.denied;
    });
  });
}

class Refused extends Error {
  readonly verdict: Verdict;
  constructor(verdict: Verdict) {
    super(verdict.reason);
    this.verdict = verdict;
  }
}

function steer(door: Door, cast: string, verb: Verb): Promise<Verdict> {
  if (verb === 'recast') return door.submit({ kind: 'cast.recast', cast }, person());
  if (verb === 'revive') return door.submit({ kind: 'cast.revive', cast }, person());
  return door.submit({ kind: 'cast.resume', cast, reason: 'resumed' }, person());
}

function obvious({ status }: CastSummary): Verb {
  return status === 'failed' || status === 'aborted' ? 'recast' : 'resume';
}

/** Without a name: the newest cast the verb can do something for, else the newest of all. */
async function choose(door: Door, word: string | undefined, verb: Verb): Promise<CastSummary> {
  if (word !== undefined) return nameCast(door, word);
  const fits: Record<Verb, readonly string[]> = {
    resume: ['running', 'paused'],
    recast: ['failed', 'aborted'],
    revive: ['failed'],
    continue: ['running', 'paused', 'waiting', 'failed', 'aborted'],
  };
  const fitting = (await summaries(door)).filter(({ status }) => fits[verb].includes(status));
  if (fitting.length > 1)
    note(`${fitting.length} casts could be carried on; this is the newest. \`baton casts\` lists them.`);
  return fitting.at(-1) ?? nameCast(door, 'latest');
}

async function nothingToDo(call: Call, door: Door, { cast, status, reason }: CastSummary): Promise<number> {
  note(
    status === 'waiting'
      ? `Cast ${cast} waits for a person: ${reason}`
      : `There is nothing to resume: cast ${cast} is ${status}.`,
  );
  const view = await loadView(door, cast, flag(call.values, 'turns'));
  if (call.json) outJson(view);
  return exitOf(view.status);
}
