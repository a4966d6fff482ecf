// The conversation in a turn that takes more than one report: what the agent said last, and what it was told since. Bounded,
// because a person may answer any number of times.
import type { Line } from '../state.ts';
import { cut } from './cut.ts';

const LINES_MAX = 8;
const LINE_CHARS_MAX = 4_000;

export function withSaid(exchange: readonly Line[], { from, text }: Line): readonly Line[] {
  return [...exchange, { from, text: cut(text, LINE_CHARS_MAX) }].slice(-LINES_MAX);
}

const SAID_BY: Readonly<Record<Line['from'], string>> = {
  agent: 'You reported',
  person: 'A person answered',
  runtime: 'You are told',
};

/** The conversation as the agent is shown it; where it remembers its own part, only what is new. */
export function renderExchange(exchange: readonly Line[], remembers: boolean): string {
  const last = exchange.findLastIndex(({ from }) => from === 'agent');
  const shown = remembers ? exchange.slice(last + 1) : exchange;
  return shown.map(({ from, text }) => `${SAID_BY[from]}: ${text}`).join('\n');
}
