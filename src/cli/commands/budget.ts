// `baton budget`: what a cast may use, and more of it.
import type { Cast } from '../../kernel/state.ts';
import { again, type Call, EXIT, out, outJson, Refused, text, UsageError } from '../command.ts';
import { nameCast, withDoor } from '../looking.ts';
import { requirePerson } from '../refuse-agents.ts';
import { person } from '../session.ts';

export async function run(call: Call): Promise<number> {
  const tokens = amount(call, 'tokens');
  if (tokens !== undefined && !Number.isSafeInteger(tokens))
    throw new UsageError(`--tokens must be a whole number, not ${tokens}`);
  const cost = amount(call, 'cost');
  const minutes = amount(call, 'minutes');
  return withDoor(call, async (door) => {
    const { cast } = await nameCast(door, call.words[0]);
    if (tokens === undefined && cost === undefined && minutes === undefined) {
      const state = await door.cast(cast);
      if (!state) throw new UsageError(`there is no cast ${cast}`, 'UNKNOWN_CAST');
      if (call.json) outJson({ cast, budget: state.budget, usage: state.usage });
      else for (const line of lines(state)) out(line);
      return EXIT.ok;
    }
    requirePerson(call, cast);
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
    if (!verdict.allow) throw new Refused(verdict);
    if (call.json) outJson(verdict);
    else out(`${verdict.reason}; \`${again(call)} continue ${cast}\` carries a stopped cast on`);
    return EXIT.ok;
  });
}

function lines({ id, budget, usage, clock }: Cast): string[] {
  const of = (limit: number | null) => (limit === null ? 'no limit' : `of ${limit}`);
  const minutes = (ms: number) => Math.round(ms / 6_000) / 10;
  return [
    `cast     ${id}`,
    `tokens   ${usage.input + usage.output}  ${of(budget.maxTokens)}`,
    `cost     ${usage.cost}  ${of(budget.maxCost)}`,
    `minutes  ${minutes(clock.elapsedMs)}  ${of(budget.maxDurationMs === null ? null : minutes(budget.maxDurationMs))}`,
  ];
}

function amount(call: Call, name: string): number | undefined {
  const given = text(call.values, name);
  if (given === undefined) return undefined;
  const value = Number(given);
  if (given.trim() === '' || !Number.isFinite(value) || value < 0)
    throw new UsageError(`--${name} must be a number, 0 or above, not ${given}`);
  return value;
}
