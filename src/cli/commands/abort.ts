// `baton abort`: stops a cast. Its driver sees it and ends the running agents; where there is none, nothing runs.
import { summaries } from '../../engine/summary.ts';
import { isOver } from '../../kernel/state.ts';
import { allow, deny, type Verdict } from '../../kernel/verdict.ts';
import { type Call, EXIT, flag, note, out, outJson, text } from '../command.ts';
import { nameCast, person, withDoor } from '../session.ts';

export async function run(call: Call): Promise<number> {
  const reason = text(call.values, 'reason') ?? 'aborted by a person';
  const verdict = await withDoor(call, async (door): Promise<Verdict> => {
    const open = flag(call.values, 'all')
      ? (await summaries(door)).filter(({ status }) => !isOver(status))
      : [await nameCast(door, call.words[0])];
    const verdicts = [];
    for (const { cast } of open) verdicts.push(await door.submit({ kind: 'cast.abort', cast, reason }, person()));
    const refused = verdicts.find((one) => !one.allow);
    const casts = open.map(({ cast }) => cast);
    if (refused) return deny(refused.allow ? 'INTERNAL' : refused.code, refused.reason, { casts });
    return allow(casts.length === 0 ? 'nothing runs or waits' : `aborted: ${casts.join(', ')}`, { casts });
  });
  if (call.json) outJson(verdict);
  else if (verdict.allow) out(verdict.reason);
  else note(`baton: ${verdict.reason}`);
  return verdict.allow ? EXIT.ok : EXIT.denied;
}
