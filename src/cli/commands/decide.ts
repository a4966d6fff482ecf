// `baton decide`: what a turn answered is read from a file.
import { resolve } from 'node:path';
import { readText } from '../../workspace/load-config.ts';
import { again, type Call, text, UsageError } from '../command.ts';
import { drive } from '../drive-operation.ts';
import type { Giving } from '../operation-command.ts';

export async function run(call: Call, giving: Giving): Promise<number> {
  const [turn = '', choice = ''] = call.words;
  if (!/^.+:\d+$/.test(turn) || !['rerun', 'accept', 'fail'].includes(choice))
    throw new UsageError(`say: baton decide CAST:NUMBER rerun|accept|fail; \`${again(call)} status\` names the turn`);
  const file = text(call.values, 'output');
  if (file !== undefined && choice !== 'accept') throw new UsageError('--output goes with accept only');
  const given = await giving();
  const output = file === undefined ? {} : { output: readText(resolve(call.cwd, file)) };
  return drive(call, 'cast.decide', { ...given, ...output });
}
