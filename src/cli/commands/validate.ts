// `baton validate`: one payload from a file or standard input; with --jsonl a stream of them, line by line.
import type { Json } from '../../kernel/json.ts';
import { type Call, EXIT_CODE, flag, UsageError } from '../command.ts';
import type { Giving } from '../operation-command.ts';
import { type InputLine, linesIn } from '../read-input.ts';
import { performing, showOperation } from '../show-operation.ts';

const LINE_BYTES_MAX = 16 * 1024 * 1024;

export async function run(call: Call, given: Giving): Promise<number> {
  if (!flag(call.values, 'jsonl')) return showOperation(call, 'validate', await given());
  if (call.words.length > 1) throw new UsageError('--jsonl reads standard input; leave the file out');
  return lines(call, given);
}

/** Every line is answered, in order, as soon as it is there. */
function lines(call: Call, given: Giving): Promise<number> {
  return performing(call, 'validate', async (perform) => {
    const all = await given({ isStream: true });
    // What is wrong with the options is told before a line is waited for.
    await perform({ ...all, lines: [] });
    for await (const line of linesIn(process.stdin, LINE_BYTES_MAX)) {
      if ('text' in line && line.text.trim() === '') continue;
      await perform({ ...all, lines: [toldOf(line)] });
    }
    return EXIT_CODE.ok;
  });
}

function toldOf(line: InputLine): Json {
  if ('text' in line) return line.text;
  if ('bytes' in line) return { base64: line.bytes.toString('base64') };
  return { fault: `it is larger than ${LINE_BYTES_MAX} bytes` };
}
