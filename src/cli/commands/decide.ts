// `baton decide`: a person's answer for one attempt whose outcome is unknown; then the cast is carried on.

import type { Verdict } from '../../kernel/verdict.ts';
import { readText } from '../../workspace/load-config.ts';
import { type Call, EXIT, note, outJson, text, UsageError } from '../command.ts';
import { driveAndShow, withDriver } from '../driving.ts';
import { nameCast, person, workspaceOf } from '../session.ts';

const CHOICES = ['rerun', 'accept', 'fail'] as const;

export async function run(call: Call): Promise<number> {
  const [turnName = '', word = ''] = call.words;
  const choice = CHOICES.find((known) => known === word);
  const [, castWord, number] = /^(.+):(\d+)$/.exec(turnName) ?? [];
  if (!choice || castWord === undefined || number === undefined)
    throw new UsageError('say: baton decide CAST:NUMBER rerun|accept|fail');
  const file = text(call.values, 'output');
  const reason = text(call.values, 'reason');
  const output = file === undefined ? {} : { output: readText(file) };
  const workspace = workspaceOf(call);
  return withDriver(workspace, async (door) => {
    const { cast } = await nameCast(door, castWord);
    let refusal: Verdict | null = null;
    const code = await driveAndShow(call, workspace, door, cast, async () => {
      const input = {
        kind: 'turn.decide',
        cast,
        turn: Number(number),
        choice,
        ...output,
        ...(reason === undefined ? {} : { reason }),
      } as const;
      const verdict = await door.submit(input, person());
      if (!verdict.allow && (verdict.code === 'NOT_ALLOWED_NOW' || verdict.code === 'UNKNOWN_TURN')) {
        refusal = verdict;
        throw new UsageError(verdict.reason);
      }
    }).catch((error) => {
      if (refusal === null) throw error;
      note(`baton: ${refusal.reason}`);
      if (call.json) outJson(refusal);
      return EXIT.denied;
    });
    return code;
  });
}
