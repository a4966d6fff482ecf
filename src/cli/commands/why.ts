// `baton why`: in plain sentences what a cast waits for or failed on, and the commands that carry it on.
import type { Why } from '../../app/views/why/why.ts';
import { again, type Call, EXIT, out, outJson } from '../command.ts';
import { resultLines } from '../result-lines.ts';
import { allowed } from '../show-operation.ts';

export async function run(call: Call): Promise<number> {
  const [cast] = call.words;
  const why = (await allowed(call, 'cast.why', { cast })) as unknown as Why;
  if (call.json) outJson(why);
  else for (const line of lines(why, again(call))) out(line);
  return EXIT.ok;
}

function lines(why: Why, baton: string): readonly string[] {
  const { sentences, commands } = why;
  const results = resultLines(why, baton, false);
  return [
    ...sentences,
    ...(results.length > 0 ? ['', ...results] : []),
    ...commands.flatMap(({ does, command }) => ['', `To ${does}:`, `  ${command}`]),
  ];
}
