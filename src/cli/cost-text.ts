// A cost as people read it; what was worked out from a table of prices, and not told by the agent, has a mark in front.
import { counted } from '../kernel/counted.ts';

export function costText({ cost, estimated }: { readonly cost: number; readonly estimated?: true }): string {
  return `${estimated ? '~' : ''}${cost.toFixed(4)}`;
}

type Spent = {
  readonly tokens: number;
  readonly cost: number;
  readonly estimated?: true;
  readonly unpricedTokens?: number;
};

/** What is known of the cost of so many tokens, to stand behind them; a price that nobody told is not nothing. */
export function spentText({ tokens, unpricedTokens = 0, ...spent }: Spent): string {
  if (tokens === 0 || (spent.cost === 0 && unpricedTokens === 0)) return '';
  if (spent.cost === 0) return ', cost unknown';
  const without = unpricedTokens > 0 ? ` (without ${counted(unpricedTokens, 'token')} of unknown cost)` : '';
  return ` for ${costText(spent)}${without}`;
}
