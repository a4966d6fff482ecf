// Commands that show files before they write them: `baton new` and `baton import`. A person sees the diff and says yes.
import type { OperationName } from '../../app/operations/table.ts';
import type { Given } from '../../app/perform.ts';
import { isObject, type JsonObject } from '../../kernel/json.ts';
import type { Verdict } from '../../kernel/verdict.ts';
import { again, type Call, EXIT_CODE, flag, note, out, outJson, Refused, text, UsageError } from '../command.ts';
import type { Giving } from '../operation-command.ts';
import { confirm, readInput } from '../read-input.ts';
import { rowsIn } from '../show/form.ts';
import { allowed, ended } from '../show-operation.ts';

export async function newCommand(call: Call, giving: Giving): Promise<number> {
  const file = text(call.values, 'apply');
  const sentence = call.words.join(' ').trim();
  if ((file === undefined) === (sentence === ''))
    throw new UsageError(
      `say what the team is for, or --apply FILE: ${again(call)} new "review a change for security"`,
    );
  const agreed = { yes: flag(call.values, 'yes'), replace: flag(call.values, 'replace') };
  if (file !== undefined) return proposed(call, 'loadout.apply', { draft: await readInput(call, file), ...agreed });
  const { sentence: _word, ...given } = await giving();
  const drafted = await allowed(call, 'loadout.draft', { ...given, sentence });
  if (call.json && !agreed.yes) {
    outJson(drafted);
    return EXIT_CODE.ok;
  }
  const code = await proposed(call, 'loadout.apply', { draft: drafted.draft ?? null, ...agreed });
  if (code === EXIT_CODE.usage)
    note(
      `To look at a draft before you write it: ${again(call)} new --json … > draft.json, then new --apply draft.json`,
    );
  return code;
}

export async function importCommand(call: Call, giving: Giving): Promise<number> {
  return proposed(call, 'import.materia', await giving());
}

/** Shows what would be written, asks, and writes it. */
export async function proposed(call: Call, name: OperationName, given: Given): Promise<number> {
  const planned = await ended(call, name, { ...given, yes: false });
  const { diff } = planned.details;
  if (!Array.isArray(diff)) return shown(call, planned);
  for (const line of diff) (call.json ? note : out)(String(line));
  tell(planned);
  const isAgreed = given.yes === true || (await confirm('Write this?'));
  return shown(call, isAgreed ? await ended(call, name, { ...given, yes: true }) : planned);
}

function tell({ details }: Verdict): void {
  const { issues, report } = details as JsonObject;
  for (const { code, path, message } of rowsIn(issues)) note(`warning ${code} ${path}: ${message}`);
  for (const { kind, path, reason, fix } of rowsIn(report)) note(`${kind}: ${path}: ${reason}. ${fix}.`);
}

function shown(call: Call, verdict: Verdict): number {
  const { diff: _diff, ...rest } = verdict.details as JsonObject;
  // Refused before there was anything to write.
  if (!verdict.allow && rest.written === undefined) throw new Refused(verdict);
  if (call.json) outJson(rest);
  if (!verdict.allow) {
    note(verdict.reason);
    return EXIT_CODE.usage;
  }
  if (call.json) return EXIT_CODE.ok;
  for (const file of [rest.files ?? []].flat()) out(`wrote ${file}`);
  if (rest.written !== true) out(verdict.reason);
  const name = isObject(rest.loadout) ? undefined : rest.loadout;
  if (typeof name === 'string')
    out(`Draw it: ${again(call)} graph ${name}. Cast it: ${again(call)} cast -l ${name} "…"`);
  return EXIT_CODE.ok;
}
