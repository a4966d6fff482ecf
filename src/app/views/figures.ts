// Figures as people say them: how long, how long ago, how many tokens, for how much.

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** `<0.1 s`, `0.3 s`, `4 s`, `1 min 18 s`, `2 h 5 min`, `3 days 4 h`. */
export function durationText(ms: number): string {
  if (ms < 50) return '<0.1 s';
  if (ms < 950) return `${(ms / SECOND).toFixed(1)} s`;
  const seconds = Math.round(ms / SECOND);
  if (seconds < 60) return `${seconds} s`;
  if (ms < HOUR - SECOND / 2) return both(Math.floor(seconds / 60), 'min', seconds % 60, 's');
  const minutes = Math.round(ms / MINUTE);
  if (minutes < 24 * 60) return both(Math.floor(minutes / 60), 'h', minutes % 60, 'min');
  const hours = Math.round(ms / HOUR);
  const days = Math.floor(hours / 24);
  return both(days, days === 1 ? 'day' : 'days', hours % 24, 'h');
}

function both(large: number, unit: string, small: number, smaller: string): string {
  return small === 0 ? `${large} ${unit}` : `${large} ${unit} ${small} ${smaller}`;
}

/** `just now`, `4 s ago`, `3 min ago`, `2 days ago`; a moment to come is `in 3 min`. */
export function agoText(then: number, now: number): string {
  const ms = Math.abs(now - then);
  if (ms < SECOND) return 'just now';
  return then > now ? `in ${roundText(ms)}` : `${roundText(ms)} ago`;
}

/** One unit is enough for an age. */
function roundText(ms: number): string {
  const seconds = Math.round(ms / SECOND);
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} days`;
}

/** `950 tokens`, `11.4k tokens`, `1.25M tokens`. */
export function tokensText(tokens: number): string {
  if (tokens < 1_000) return tokens === 1 ? '1 token' : `${tokens} tokens`;
  if (tokens < 999_950) return `${shortened(tokens / 1_000, 1)}k tokens`;
  return `${shortened(tokens / 1_000_000, 2)}M tokens`;
}

function shortened(value: number, digits: number): string {
  return String(Number(value.toFixed(digits)));
}

/** `11,390`. */
export function wholeNumber(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

type Cost = { readonly cost: number; readonly estimated?: true };

/** Agents and price tables give dollars. A cost that was worked out from a table of prices has a mark in front. */
export function costText({ cost, estimated }: Cost): string {
  const digits = cost >= 1 || cost <= 0 ? 2 : Math.min(6, Math.max(2, 1 - Math.floor(Math.log10(cost))));
  const [whole, part = ''] = cost.toFixed(digits).split('.');
  return `${estimated ? '~' : ''}$${whole}.${part.slice(0, 2)}${part.slice(2).replace(/0+$/, '')}`;
}
