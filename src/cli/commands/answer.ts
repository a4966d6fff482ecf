// `baton answer`: the answer comes as words, from a file or from standard input, once it is clear that one is wanted.
import type { Given } from '../../app/perform.ts';
import { isString } from '../../kernel/json.ts';
import { type Call, note, text, UsageError } from '../command.ts';
import { drive } from '../drive-operation.ts';
import type { Giving } from '../operation-command.ts';
import { readInput } from '../read-input.ts';
import { safe } from '../safe-text.ts';
import { allowed } from '../show-operation.ts';

export async function run(call: Call, giving: Giving): Promise<number> {
  const [, ...words] = call.words;
  const file = text(call.values, 'file');
  if (file !== undefined && words.length > 0) throw new UsageError('give the answer as words or with --file, not both');
  const number = text(call.values, 'turn');
  if (number !== undefined && !/^[1-9]\d{0,9}$/.test(number))
    throw new UsageError(`--turn must be the number of a turn, not ${number}`);
  const { answer: _word, ...given } = await giving();
  const answer = words.length > 0 ? words.join(' ') : await written(call, file, given);
  return drive(call, 'cast.answer', { ...given, answer });
}

async function written(call: Call, file: string | undefined, given: Given): Promise<string> {
  const { brief, asks } = await allowed(call, 'cast.answer', given);
  if (file !== undefined) return readInput(call, file);
  const asked = isString(asks) ? safe(asks) : isString(brief) ? brief : '';
  if (process.stdin.isTTY) note(`${asked}\n\nYour answer, ended with Ctrl-D on a line of its own:`);
  return readInput(call, '-');
}
