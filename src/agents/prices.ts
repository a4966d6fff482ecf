// What models cost, for agents that tell their tokens and no price. A table like this is never quite right: what is worked
// out from it is marked as an estimate, and what people write down in their configuration counts before it.
import type { Usage } from '../kernel/cast/state.ts';
import type { Price } from '../kernel/graph/config.ts';

/** When the table was last compared with what the providers publish. */
export const PRICES_CHECKED = '2026-11-16';

const price = (input: number, output: number, cached: number): Price => ({ input, output, cached });

/** Dollars for a million tokens, by the beginning of a model's name. The longest beginning that fits counts. */
export const PRICES: Readonly<Record<string, Price>> = {
  'claude-fable-5': price(10, 50, 1),
  'claude-fable-5-1': price(10, 50, 0.25),
  'claude-opus-4': price(15, 75, 1.5),
  'claude-opus-4-5': price(5, 25, 0.5),
  'claude-opus-4-6': price(5, 25, 0.5),
  'claude-opus-4-7': price(5, 25, 0.5),
  'claude-opus-4-8': price(5, 25, 0.5),
  'claude-opus-5': price(5, 25, 0.5),
  'claude-opus-5-5': price(4, 20, 0.2),
  'claude-sonnet-4': price(3, 15, 0.3),
  'claude-sonnet-5': price(2, 10, 0.2),
  'claude-haiku-4': price(1, 5, 0.1),
  'claude-3-5-haiku': price(0.8, 4, 0.08),
  'gpt-4.1': price(2, 8, 0.5),
  'gpt-4.1-mini': price(0.4, 1.6, 0.1),
  'gpt-4.1-nano': price(0.1, 0.4, 0.025),
  'gpt-4o': price(2.5, 10, 1.25),
  'gpt-4o-mini': price(0.15, 0.6, 0.075),
  'gpt-5': price(1.25, 10, 0.125),
  'gpt-5-mini': price(0.25, 2, 0.025),
  'gpt-5-nano': price(0.05, 0.4, 0.005),
  'gpt-5-pro': price(15, 120, 15),
  'gpt-5.1': price(1.25, 10, 0.125),
  'gpt-5.2': price(1.75, 14, 0.175),
  'gpt-5.2-pro': price(21, 168, 21),
  'gpt-5.3': price(1.75, 14, 0.175),
  'gpt-5.4': price(2.5, 15, 0.25),
  'gpt-5.4-mini': price(0.75, 4.5, 0.075),
  'gpt-5.4-nano': price(0.2, 1.25, 0.02),
  'gpt-5.4-pro': price(30, 180, 30),
  'gpt-5.5': price(5, 30, 0.5),
  'gpt-5.5-pro': price(30, 180, 30),
  'gpt-5.6-luna': price(0.2, 1.2, 0.02),
  'gpt-5.6-sol': price(4, 20, 0.4),
  'gpt-5.6-terra': price(2, 12, 0.2),
  'gpt-6-astra': price(10, 50, 1),
  'gpt-6-luna': price(0.1, 0.5, 0.01),
  'gpt-6-sol': price(2, 10, 0.2),
  o3: price(2, 8, 0.5),
  'o3-mini': price(1.1, 4.4, 0.55),
  'o3-pro': price(20, 80, 20),
  'o4-mini': price(1.1, 4.4, 0.275),
  'gemini-2.5-flash': price(0.3, 2.5, 0.03),
  'gemini-2.5-flash-lite': price(0.1, 0.4, 0.01),
  'gemini-2.5-pro': price(1.25, 10, 0.125),
  'gemini-3.1-pro': price(2, 12, 0.2),
  'gemini-3.1-flash-lite': price(0.25, 1.5, 0.025),
  'gemini-3.5-flash': price(1.5, 9, 0.15),
  'gemini-3.5-flash-lite': price(0.3, 2.5, 0.03),
};

type Prices = Readonly<Record<string, Price>>;

/** The price of a model, or null where none is known. A provider in front of the name (`openai/gpt-5`) is passed over. */
export function priceOf(model: string | null, own: Prices = {}): Price | null {
  if (model === null) return null;
  const names = [model, model.slice(model.lastIndexOf('/') + 1)];
  return longest(own, names) ?? longest(PRICES, names);
}

/** What was used, with what it probably cost. What has a cost, or a model without a price, stays as it is. */
export function estimated(usage: Usage, model: string | null, own?: Prices): Usage {
  if (usage.cost > 0 || usage.input + usage.output === 0) return usage;
  const found = priceOf(model, own);
  return found === null ? usage : { ...usage, cost: costOf(usage, found), estimated: true };
}

function costOf(
  { input, output, cached = 0 }: Usage,
  { input: perInput, output: perOutput, cached: perCached = perInput }: Price,
): number {
  const read = Math.min(cached, input);
  return ((input - read) * perInput + read * perCached + output * perOutput) / 1_000_000;
}

function longest(prices: Prices, names: readonly string[]): Price | null {
  let found = '';
  for (const start of Object.keys(prices)) {
    if (start.length > found.length && names.some((name) => isOfFamily(name, start))) found = start;
  }
  return found === '' ? null : (prices[found] ?? null);
}

/** A family ends where its name does or where a new part begins: `o3` is no part of `o30`, nor `gpt-5` of `gpt-5.9`. */
function isOfFamily(model: string, start: string): boolean {
  return model.startsWith(start) && /^(?:$|[-:@])/.test(model.slice(start.length));
}
