// `baton decide`: a person's answer for one attempt whose outcome is unknown; then the cast is carried on.
import { resolve } from 'node:path';
import { hasLog } from '../../app/state-folder.ts';
import { deny } from '../../kernel/verdict.ts';
import { readText } from '../../workspace/load-config.ts';
import { again, type Call, Refused, text, UsageError } from '../command.ts';
import { driveAndShow, withDriver } from '../driving.ts';
import { workspaceOf } from '../find-workspace.ts';
import { nameCast, noCastYet } from '../looking.ts';
import { requirePerson } from '../refuse-agents.ts';
import { isNotTaken, sayingTo } from '../say-to-cast.ts';
import { person } from '../session.ts';

const CHOICES = ['rerun', 'accept', 'fail'] as const;

export async function run(call: Call): Promise<number> {
  const [turnName = '', word = ''] = call.words;
  const choice = CHOICES.find((known) => known === word);
  const [, castWord, number] = /^(.+):(\d+)$/.exec(turnName) ?? [];
  if (!choice || castWord === undefined || number === undefined)
    throw new UsageError(`say: baton decide CAST:NUMBER rerun|accept|fail; \`${again(call)} status\` names the turn`);
  const file = text(call.values, 'output');
  const reason = text(call.values, 'reason');
  if (file !== undefined && choice !== 'accept') throw new UsageError('--output goes with accept only');
  const said = {
    ...(file === undefined ? {} : { output: readText(resolve(call.cwd, file)) }),
    ...(reason === undefined ? {} : { reason }),
  };
  const workspace = workspaceOf(call);
  if (!hasLog(workspace)) throw noCastYet(workspace);
  return withDriver(workspace, async (door) => {
    const { cast, status } = await nameCast(door, castWord);
    requirePerson(call, cast);
    // Driving a cast that does not wait would start what it is owed before anybody looked at the answer.
    if (status !== 'waiting')
      throw new Refused(deny('NOT_ALLOWED_NOW', `cast ${cast} is ${status}; no turn of it waits`));
    const saying = sayingTo(door, cast, isNotTaken);
    const begin = async () => {
      const decision = { kind: 'turn.decide', cast, turn: Number(number), choice, ...said } as const;
      await saying.say(() => door.submit(decision, person()));
    };
    return driveAndShow(call, workspace, door, cast, { begin, refused: saying.refused });
  });
}
