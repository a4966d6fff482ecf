// `baton install`: shows what would change, asks, and then writes.
import type { JsonObject } from '../../kernel/json.ts';
import type { Verdict } from '../../kernel/verdict.ts';
import { again, type Call, EXIT_CODE, flag, note, out, outJson, Refused, UsageError } from '../command.ts';
import type { Giving } from '../operation-command.ts';
import { confirm } from '../read-input.ts';
import { ended, showOperation } from '../show-operation.ts';

export async function run(call: Call, giving: Giving): Promise<number> {
  const given = await giving();
  if (flag(call.values, 'verify')) {
    if (given.agent !== 'claude') throw new UsageError('--verify is for claude');
    return showOperation(call, 'hooks.verify', {});
  }
  const planned = await ended(call, 'install', { ...given, yes: false });
  const { diff } = planned.details;
  if (!Array.isArray(diff)) return shown(call, planned);
  for (const line of diff) (call.json ? note : out)(String(line));
  const isAgreed = given.yes === true || (await confirm('Write this?'));
  return shown(call, isAgreed ? await ended(call, 'install', { ...given, yes: true }) : planned);
}

function shown(call: Call, verdict: Verdict): number {
  const { diff: _diff, host, notes, warnings, ...rest } = verdict.details as JsonObject;
  // Refused before there was anything to write.
  if (rest.written === undefined && !verdict.allow) throw new Refused(verdict);
  if (call.json) outJson({ ...rest, warnings });
  for (const warning of [warnings ?? []].flat()) note(`Warning: ${warning}`);
  if (!verdict.allow) {
    note(verdict.reason);
    return EXIT_CODE.usage;
  }
  if (call.json) return EXIT_CODE.ok;
  const isNew = rest.written === true && rest.undo === false;
  out(isNew ? `${verdict.reason} Take it back with: ${again(call)} install ${host} --undo` : verdict.reason);
  if (isNew) for (const line of [notes ?? []].flat()) out(String(line));
  return EXIT_CODE.ok;
}
