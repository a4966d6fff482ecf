// How answers about casts are shown.
import type { JsonObject } from '../../kernel/json.ts';
import { again } from '../command.ts';
import type { Forms } from './form.ts';

export const forms: Forms = {
  'cast.abort': { refusal: 'fault', lines: (_details, _call, _given, { reason }) => [reason] },
  'cast.budget': {
    refusal: 'fault',
    value: ({ cast, budget, usage }) => (budget === undefined ? undefined : { cast, budget, usage }),
    lines: (details, call, { cast }, { reason }) => {
      if (details.budget !== undefined) return budgetLines(details);
      return [`${reason}; \`${again(call)} continue ${String(cast ?? 'latest')}\` carries a stopped cast on`];
    },
  },
};

function budgetLines({ cast, budget, usage, elapsedMs }: JsonObject): string[] {
  const { maxTokens, maxCost, maxDurationMs } = budget as Record<string, number | null>;
  const { input = 0, output = 0, cost = 0 } = usage as Record<string, number>;
  const of = (limit: number | null | undefined) => (limit === null || limit === undefined ? 'no limit' : `of ${limit}`);
  const minutes = (ms: number) => Math.round(ms / 6_000) / 10;
  return [
    `cast     ${String(cast)}`,
    `tokens   ${input + output}  ${of(maxTokens)}`,
    `cost     ${cost}  ${of(maxCost)}`,
    `minutes  ${minutes(Number(elapsedMs))}  ${of(typeof maxDurationMs === 'number' ? minutes(maxDurationMs) : null)}`,
  ];
}
