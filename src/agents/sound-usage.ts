// What a provider or a program says that it used, taken at its word only where it can be true: no fraction of a token, nothing
// below nothing, and nothing beyond all bounds. One figure that cannot be believed counts as nothing and is told; the others
// count.
import type { Usage } from '../kernel/cast/state.ts';
import { ofWhichCached } from './report.ts';

/** More tokens, or a higher price, than any attempt can use. */
const TOKENS_MAX = 1e12;
const COST_MAX = 1e9;

export function soundUsage(usage: Usage | null): { readonly usage: Usage | null; readonly doubts: readonly string[] } {
  if (usage === null) return { usage, doubts: [] };
  const doubts: string[] = [];
  const sound = (what: string, value: number, isSound: boolean) => {
    if (isSound) return value;
    // What is no amount at all has lost its words by now.
    const said = Number.isNaN(value) ? `what is no amount of ${what}` : `${value} ${what}`;
    doubts.push(`it says that it used ${said}, which cannot be; counted as 0`);
    return 0;
  };
  const tokens = (what: string, value: number) =>
    sound(what, value, Number.isSafeInteger(value) && value >= 0 && value <= TOKENS_MAX);
  const { cached = 0, cost, estimated } = usage;
  const figures = {
    input: tokens('input tokens', usage.input),
    output: tokens('output tokens', usage.output),
    cost: sound('USD', cost, cost >= 0 && cost <= COST_MAX),
    ...ofWhichCached(tokens('cached tokens', cached)),
  };
  return { usage: { ...figures, ...(estimated === undefined ? {} : { estimated }) }, doubts };
}
