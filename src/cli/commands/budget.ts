// `baton budget`: what a cast may use, and more of it.
import { type Call, EXIT, note, out, outJson, text, UsageError } from '../command.ts';
import { nameCast, person, withDoor } from '../session.ts';

export async function run(call: Call): Promise<number> {
  const tokens = amount(call, 'tokens');
  const cost = amount(call, 'cost');
  const minutes = amount(call, 'minutes');
  return withDoor(call, async (door) => {
    const { cast } = await nameCast(door, call.words[0]);
    if (tokens === undefined && cost === undefined && minutes === undefined) {
      const state = await door.cast(cast);
      const shown = { cast, budget: state?.budget ?? null, usage: state?.usage ?? null };
      if (call.json) outJson(shown);
      else out(JSON.stringify(shown, null, 2));
      return EXIT.ok;
    }
    const verdict = await door.submit(
      {
        kind: 'budget.change',
        cast,
        ...(tokens === undefined ? {} : { maxTokens: tokens }),
        ...(cost === undefined ? {} : { maxCost: cost }),
        ...(minutes === undefined ? {} : { maxDurationMs: Math.round(minutes * 60_000) }),
      },
      person(),
    );
    if (call.json) outJson(verdict);
    else if (verdict.allow) out(`${verdict.reason}; \`baton continue ${cast}\` carries a stopped cast on`);
    else note(`baton: ${verdict.reason}`);
    return verdict.allow ? EXIT.ok : EXIT.denied;
  });
}

function amount(call: Call, name: string): number | undefined {
  const given = text(call.values, name);
  if (given === undefined) return undefined;
  const value = Number(given);
  if (given.trim() === '' || !Number.isFinite(value) || value < 0)
    throw new UsageError(`--${name} must be a number, not ${given}`);
  return value;
}
